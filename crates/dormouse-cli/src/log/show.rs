//! Printing events.

use std::io::{BufWriter, Write};

use dormouse_contracts::{AssistantId, Seq, StoredEvent, each_event};
use dormouse_store::LogView;
use serde_json::Value;

use crate::{
    command::{CommandError, Printing, block_on, remark, stdout},
    describe,
    exit::Exit,
    item::{EventLine, Item},
};

/// The first and the last event to print.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) from: u64,
    pub(super) to: Option<u64>,
}

/// How they are printed.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) printing: Printing,
    /// Without what they say.
    pub(super) kinds: bool,
}

/// Prints the events in the range, oldest first.
pub(super) fn run(
    log: &LogView,
    key: &AssistantId,
    range: Range,
    How { printing, kinds }: How,
) -> Result<Exit, CommandError> {
    let mut out = BufWriter::new(stdout());
    let events = Seq(range.from)..=Seq(range.to.unwrap_or(u64::MAX));
    let mut printed = 0_u64;
    let print = |event: &StoredEvent| {
        printed += 1;
        printing.write(&mut out, &as_item(event), || match kinds {
            true => format!("{:>6}  {}  {}", event.seq.0, event.at, event.kind),
            false => describe::event(event),
        })
    };
    block_on(each_event(log, key, events, print))??;
    out.flush()?;
    if printed == 0 {
        say_nothing_there(log, key, range)?;
    }
    Ok(Exit::Success)
}

/// Explains an empty output to a user who expected events.
fn say_nothing_there(log: &LogView, key: &AssistantId, range: Range) -> Result<(), CommandError> {
    let known = log.assistants()?.into_iter();
    let end = known.filter(|(who, _)| who == key).map(|(_, end)| end);
    let end = end.max().unwrap_or(Seq::ZERO);
    let asked = match range.to {
        Some(to) => format!("from {} to {to}", range.from),
        None => format!("from {} on", range.from),
    };
    remark(&format!(
        "there are no events {asked}; the log ends at event {end}"
    ));
    Ok(())
}

/// The event as `play --json` prints it. A payload that is not JSON becomes a string.
fn as_item(event: &StoredEvent) -> Item {
    let data = serde_json::from_slice(&event.payload)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&event.payload).into_owned()));
    Item::Event(EventLine {
        seq: event.seq.0,
        at: event.at.to_string(),
        kind: event.kind.clone(),
        data,
    })
}
