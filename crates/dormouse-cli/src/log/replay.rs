//! `dormouse log replay`: the state that the events lead to.

use std::io::{self, Write};

use dormouse_contracts::{AssistantId, Seq};
use dormouse_engine::{State, replay, restore};
use dormouse_store::LogView;
use serde::Serialize;

use crate::{
    command::{CommandError, CommandFailure, Printing, block_on, say},
    exit::Exit,
    neutralise::escape_json,
};

/// The log could not be replayed as asked, or not to the state that a start would have.
#[derive(Debug, thiserror::Error)]
enum ReplayFailure {
    /// The log is shorter.
    #[error("there is no event {asked}; the log ends at event {end}")]
    NoSuchEvent {
        /// Which was asked for.
        asked: Seq,
        /// The last in the log.
        end: Seq,
    },
    /// The newest snapshot leads to another state than the events.
    #[error(
        "the newest snapshot and the events after it give a state with hash {from_snapshot}; the whole log gives {from_log}"
    )]
    Diverged {
        /// The hash of snapshot and tail.
        from_snapshot: String,
        /// The hash of the whole log.
        from_log: String,
    },
}

impl CommandFailure for ReplayFailure {
    fn exit(&self) -> Exit {
        match self {
            Self::NoSuchEvent { .. } => Exit::Usage,
            Self::Diverged { .. } => Exit::Damaged,
        }
    }
}

/// A state and its hash, as JSON.
#[derive(Serialize)]
#[serde(tag = "type", rename = "state")]
struct Replayed<'a> {
    assistant: &'a AssistantId,
    seq: u64,
    hash: String,
    state: &'a State,
}

/// Replays through `at`, or to the end; prints the hash of the state and then the state. At the end, the newest snapshot
/// and the events after it must give the same state.
pub(super) fn run(
    log: &LogView,
    key: &AssistantId,
    at: Option<Seq>,
    printing: Printing,
) -> Result<Exit, CommandError> {
    let state = block_on(replay(log, key, at.unwrap_or(Seq(u64::MAX))))??;
    if let Some(asked) = at
        && state.seq != asked
    {
        let end = state.seq;
        return Err(ReplayFailure::NoSuchEvent { asked, end }.into());
    }
    let hash = state.hash()?;
    let compared = compare(log, key, &state, &hash);
    match printing {
        Printing::Json => printing.print(
            &Replayed {
                assistant: key,
                seq: state.seq.0,
                hash,
                state: &state,
            },
            String::new,
        )?,
        Printing::Text => {
            say(&format!(
                "{key}: state at event {}, SHA-256 {hash}",
                state.seq
            ))?;
            if matches!(compared, Ok(Compared::Same)) {
                say("the newest snapshot and the events after it give the same state")?;
            }
            print_state(&state)?;
        }
    }
    compared?;
    Ok(Exit::Success)
}

fn print_state(state: &State) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    // Pretty JSON has line feeds of its own, which escaping would take for those of a text.
    for line in serde_json::to_string_pretty(state)?.lines() {
        writeln!(out, "{}", escape_json(line))?;
    }
    Ok(out.flush()?)
}

/// Whether the state that a start would have was compared with the replayed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    Same,
    /// The replay ended before the log does.
    NotAtTheEnd,
}

fn compare(
    log: &LogView,
    key: &AssistantId,
    state: &State,
    hash: &str,
) -> Result<Compared, CommandError> {
    let restored = block_on(restore(log, key))??;
    if restored.seq != state.seq {
        return Ok(Compared::NotAtTheEnd);
    }
    let from_snapshot = restored.hash()?;
    if from_snapshot == hash {
        return Ok(Compared::Same);
    }
    let from_log = hash.to_owned();
    Err(ReplayFailure::Diverged {
        from_snapshot,
        from_log,
    }
    .into())
}
