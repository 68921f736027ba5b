//! The turns in which a record was left out, because not everybody who heard the answer perceived it.

use dormouse_contracts::{Audience, ReadEvents, Seq, each_event};
use dormouse_engine::{Event, ReplayError};
use dormouse_memory::RecordId;
use dormouse_store::LogOpenError;
use serde::Serialize;

use crate::command::{CommandError, MemoryFile, open_view};

/// How many turns are printed for people, the last ones.
const PRINTED: usize = 10;

/// A turn in which a record was left out.
#[derive(Debug, Serialize)]
pub(super) struct WithheldTurn {
    /// The event that says so.
    event: Seq,
    at: String,
    /// The message that was answered.
    message: Seq,
    /// Who perceived the message, and therefore hears the answer.
    listeners: Audience,
    /// The audience of the record at that time.
    audience: Audience,
}

/// Reads the log of the memory for such turns, in their order. Without a log there are none.
pub(super) async fn turns(
    file: &MemoryFile,
    record: RecordId,
) -> Result<Vec<WithheldTurn>, CommandError> {
    let log = match open_view(&file.data().log()) {
        Err(LogOpenError::Absent { .. }) => return Ok(Vec::new()),
        opened => opened?,
    };
    let key = file.key();
    let (mut found, mut message) = (Vec::new(), None);
    each_event(&log, &key, .., |stored| -> Result<(), ReplayError> {
        // Most events of a log are of other kinds.
        if !matches!(stored.kind.as_str(), "tick_started" | "recollected") {
            return Ok(());
        }
        match Event::decode(stored)? {
            Event::TickStarted(started) => message = Some(started.trigger),
            Event::Recollected(recalled) => {
                let mut withheld = recalled.withheld.into_iter();
                let here = withheld.find(|one| one.record == record);
                found.extend(message.zip(here).map(|(message, here)| {
                    (stored.seq, stored.at.to_string(), message, here.audience)
                }));
            }
            _ => {}
        }
        Ok(())
    })
    .await?;
    let mut turns = Vec::new();
    for (event, at, message, audience) in found {
        let page = log.read(&key, Seq(message.0.saturating_sub(1)), 1).await?;
        let heard = page.first().map(Event::decode).transpose();
        let listeners = match heard.map_err(ReplayError::from)? {
            Some(Event::Perceived(heard)) => heard.known_to(),
            _ => Audience::nobody(),
        };
        turns.push(WithheldTurn {
            event,
            at,
            message,
            listeners,
            audience,
        });
    }
    Ok(turns)
}

/// The last of these turns, for people.
pub(super) fn lines(turns: &[WithheldTurn]) -> Vec<String> {
    let earlier = turns.len().saturating_sub(PRINTED);
    let mut lines = Vec::new();
    if earlier > 0 {
        lines.push(format!("left out of {earlier} earlier answers"));
    }
    lines.extend(turns.iter().skip(earlier).map(|turn| {
        format!(
            "left out of the answer to #{} at {} (event {}): the answer was heard by {}, and this record is known to {}",
            turn.message, turn.at, turn.event, turn.listeners, turn.audience
        )
    }));
    lines
}
