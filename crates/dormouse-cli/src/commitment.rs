//! `dormouse commitment`: what the assistant means to do for people once something has happened, and how it ended.

use clap::Subcommand;
use dormouse_contracts::{EntityId, Seq};
use dormouse_engine::{BrokenCause, CommitmentOutcome, EndedPromise, Promise};
use dormouse_text::escape_id;
use serde::Serialize;

use crate::{
    command::{CommandError, JsonFlag, Places, Printing, Whose, remark, view_state},
    exit::Exit,
    grammar::counted,
};

/// Looking at what the assistant means to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Commitment {
    /// List what the assistant intends to do for people at a certain time, or when something happens. The nearest come
    /// first. `dormouse memory undo EVENT` withdraws one
    List {
        #[command(flatten)]
        of: Whose,
        /// Also list those that ended: kept, or broken and why
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        json: JsonFlag,
    },
}

/// A commitment as JSON.
#[derive(Serialize)]
struct CommitmentLine<'a> {
    r#type: &'static str,
    event: Seq,
    entity: &'a EntityId,
    description: &'a str,
    comes_up: String,
    status: &'static str,
    at: Option<String>,
    trust: f32,
}

/// Lists them.
pub(crate) fn run(places: &Places, command: Commitment) -> Result<Exit, CommandError> {
    let Commitment::List { of, all, json } = command;
    let data = crate::data::locate(places.data.as_deref())?;
    let printing = json.printing();
    let (_, state) = view_state(places, &data, of.assistant, printing)?;
    let ended = state.promises.ended().filter(|_| all);
    for EndedPromise {
        promise,
        outcome,
        at,
    } in ended
    {
        print(promise, status(*outcome), Some(at.to_string()), printing)?;
    }
    for promise in state.promises.under_way() {
        print(promise, "under way", None, printing)?;
    }
    for promise in state.promises.iter() {
        let met_at = promise.met.as_ref().map(|met| met.at.to_string());
        let status = match met_at {
            Some(_) => "due",
            None => "open",
        };
        print(promise, status, met_at, printing)?;
    }
    let shown = state.promises.under_way().count() + state.promises.iter().count();
    let ended = state.promises.ended().count();
    if shown == 0 && !(all && ended > 0) {
        let ended = counted(ended as u64, "ended one", "ended ones");
        remark(&match (all, state.promises.ended().next()) {
            (false, Some(_)) => format!("no open commitment; `--all` lists {ended} too"),
            _ => "no commitment".to_owned(),
        });
    }
    Ok(Exit::Success)
}

fn print(
    promise: &Promise,
    status: &'static str,
    at: Option<String>,
    printing: Printing,
) -> Result<(), CommandError> {
    let line = CommitmentLine {
        r#type: "commitment",
        event: promise.seq,
        entity: &promise.entity,
        description: &promise.description,
        comes_up: promise.condition(),
        status,
        at,
        trust: promise.trust.score(),
    };
    printing.print(&line, || {
        let since = line.at.as_ref().map(|at| format!(" since {at}"));
        format!(
            "{} {status}{}: {}, for {} (trust {:.2}): {}",
            promise.seq,
            since.unwrap_or_default(),
            line.comes_up,
            escape_id(promise.entity.as_str()),
            line.trust,
            promise.description,
        )
    })
}

/// How a commitment ended, in words.
pub(crate) fn status(outcome: CommitmentOutcome) -> &'static str {
    match outcome {
        CommitmentOutcome::Kept => "kept",
        CommitmentOutcome::Broken(BrokenCause::Expired) => "broken: too late",
        CommitmentOutcome::Broken(BrokenCause::GivenUp) => "broken: nothing was done",
        CommitmentOutcome::Broken(BrokenCause::Withdrawn) => "broken: withdrawn",
        _ => "over",
    }
}
