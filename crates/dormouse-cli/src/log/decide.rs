//! `dormouse log replay --decide`: makes each decision again, and compares it with the log.

use dormouse_contracts::{AssistantId, Seq};
use dormouse_engine::{
    ConfiguredModel, DecideAgainError, DecidedInstead, FirstDifference, decide_again,
};
use dormouse_providers::token_counter_for;
use dormouse_store::LogView;
use serde::Serialize;
use serde_json::Value;

use super::{
    difference::{Difference, difference},
    replay::ReplayFailure,
};
use crate::{
    command::{CommandError, CommandFailure, Printing, block_on, say},
    exit::Exit,
    grammar::counted,
};

/// The decisions could not be made again, or one of them differs.
#[derive(Debug, thiserror::Error)]
enum DecideFailure {
    /// The log could not be read.
    #[error(transparent)]
    Log(DecideAgainError),
    /// A decision differs.
    #[error("event {seq} ({kind}) is decided differently now: {what}. {cause}")]
    Different {
        /// Its place.
        seq: Seq,
        /// Its kind.
        kind: &'static str,
        /// What differs.
        what: String,
        /// The probable cause.
        cause: String,
        /// Whether another program decided the life.
        is_other_program: bool,
    },
}

impl CommandFailure for DecideFailure {
    fn exit(&self) -> Exit {
        match self {
            // Nothing is damaged: another version of the program may decide differently.
            Self::Different {
                is_other_program: true,
                ..
            } => Exit::Failure,
            Self::Log(_) | Self::Different { .. } => Exit::Damaged,
        }
    }
}

/// What was compared, as JSON.
#[derive(Serialize)]
#[serde(tag = "type", rename = "decided_again")]
struct DecidedAgainLine<'a> {
    assistant: &'a AssistantId,
    events: u64,
    /// How many of them were not compared, because their words or words of their turn were forgotten.
    forgotten: u64,
    /// How many more were not compared, because they were decided before these words were forgotten.
    read_forgotten: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<DifferenceLine<'a>>,
}

/// The first difference, as JSON.
#[derive(Serialize)]
struct DifferenceLine<'a> {
    seq: u64,
    kind: &'static str,
    what: &'a str,
    cause: &'a str,
    recorded: Value,
    decided: Option<Value>,
}

/// Decides the life again through `at`, or to the end, and prints whether every decision is the same.
pub(super) fn run(
    log: &LogView,
    key: &AssistantId,
    at: Option<Seq>,
    printing: Printing,
) -> Result<Exit, CommandError> {
    let counter_for = |model: &ConfiguredModel| token_counter_for(&model.provider, &model.name);
    let again = decide_again(log, key, at.unwrap_or(Seq(u64::MAX)), counter_for);
    let difference = match block_on(again)? {
        Ok(again) => {
            if let Some(asked) = at
                && asked.0 > again.events
            {
                let end = Seq(again.events);
                return Err(ReplayFailure::NoSuchEvent { asked, end }.into());
            }
            let line = DecidedAgainLine {
                assistant: key,
                events: again.events,
                forgotten: again.forgotten,
                read_forgotten: again.read_forgotten,
                difference: None,
            };
            let events = counted(again.events, "event", "events");
            printing.print(&line, || match again.forgotten + again.read_forgotten {
                0 => format!("{key}: {events}, every decision is the same"),
                _ => format!(
                    "{key}: {events}, every decision that can be compared is the same; {} not compared, because their words or \
                     words of their turn were forgotten, and {} decided before these words were forgotten",
                    again.forgotten, again.read_forgotten
                ),
            })?;
            return Ok(Exit::Success);
        }
        Err(DecideAgainError::Different(difference)) => difference,
        Err(error) => return Err(DecideFailure::Log(error).into()),
    };
    let recorded = difference.recorded.to_json()?;
    let decided = match &difference.decided {
        DecidedInstead::Event(event, _) => Some(event.to_json()?),
        _ => None,
    };
    let (what, cause) = (
        what(&difference, &recorded, decided.as_ref()),
        cause(&difference),
    );
    let (seq, kind) = (difference.seq, difference.recorded.kind());
    let line = DecidedAgainLine {
        assistant: key,
        events: seq.0.saturating_sub(1),
        forgotten: 0,
        read_forgotten: 0,
        difference: Some(DifferenceLine {
            seq: seq.0,
            kind,
            what: &what,
            cause: &cause,
            recorded,
            decided,
        }),
    };
    if printing == Printing::Json {
        printing.print(&line, String::new)?;
    } else {
        let events = counted(seq.0.saturating_sub(1), "event", "events");
        say(&format!(
            "{key}: {events}, every decision is the same up to there"
        ))?;
    }
    Err(DecideFailure::Different {
        seq,
        kind,
        what,
        cause,
        is_other_program: difference.is_other_program(),
    }
    .into())
}

/// What differs, in words.
fn what(found: &FirstDifference, recorded: &Value, decided: Option<&Value>) -> String {
    match (&found.decided, decided) {
        (DecidedInstead::Event(event, _), Some(decided))
            if event.kind() == found.recorded.kind() =>
        {
            match difference(recorded, decided) {
                Some(Difference { field, left, right }) => {
                    format!("the log has {left} in the field `{field}`, and {right} is decided now")
                }
                None => "it is written in another way, or at another time".to_owned(),
            }
        }
        (instead, _) => format!("decided now is {instead}"),
    }
}

fn cause(found: &FirstDifference) -> String {
    let by = &found.decided_by;
    if by.is_empty() {
        "No earlier event says which configuration the assistant had".to_owned()
    } else if found.is_other_program() {
        format!("The decisions were made by {by}, and this is another version")
    } else {
        "The log was changed afterwards, or the decisions were made by a program that was built from other sources"
            .to_owned()
    }
}
