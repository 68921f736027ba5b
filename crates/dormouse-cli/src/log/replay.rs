//! Folding the log from its first event.

use std::io::{self, Write};

use dormouse_contracts::{AssistantId, Seq};
use dormouse_engine::{State, replay, restore};
use dormouse_store::LogView;
use serde::Serialize;

use super::{LogError, block_on, print};
use crate::{exit::Exit, json, neutralise::escape_json};

/// A state and its hash, as JSON.
#[derive(Serialize)]
#[serde(tag = "type", rename = "state")]
struct Replayed<'a> {
    assistant: &'a AssistantId,
    seq: u64,
    hash: String,
    state: &'a State,
}

/// Folds up to `at`, or to the end; prints the hash of the state and then the state. At the end, the newest snapshot and
/// the events after it must give the same.
pub(super) fn run(
    log: &LogView,
    key: &AssistantId,
    at: Option<Seq>,
    json: bool,
) -> Result<Exit, LogError> {
    let state = block_on(replay(log, key, at.unwrap_or(Seq(u64::MAX))))??;
    if let Some(asked) = at
        && state.seq != asked
    {
        return Err(LogError::NoSuchEvent {
            asked,
            end: state.seq,
        });
    }
    let hash = state.hash()?;
    let compared = compare(log, key, &state, &hash);
    let mut out = io::stdout().lock();
    if json {
        let replayed = Replayed {
            assistant: key,
            seq: state.seq.0,
            hash: hash.clone(),
            state: &state,
        };
        out.write_all(json::line(&replayed)?.as_bytes())?;
    } else {
        print(
            &mut out,
            &format!("{key}: state at event {}, SHA-256 {hash}", state.seq),
        )?;
        if matches!(compared, Ok(Compared::Same)) {
            print(
                &mut out,
                "the newest snapshot and the events after it give the same state",
            )?;
        }
        // Pretty JSON has line feeds of its own, which escaping would take for somebody's text.
        for line in serde_json::to_string_pretty(&state)?.lines() {
            writeln!(out, "{}", escape_json(line))?;
        }
    }
    out.flush()?;
    compared?;
    Ok(Exit::Success)
}

/// Whether the way a start takes was compared with the whole fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    Same,
    /// The fold did not go to the end.
    NotAtTheEnd,
}

fn compare(
    log: &LogView,
    key: &AssistantId,
    state: &State,
    hash: &str,
) -> Result<Compared, LogError> {
    let restored = block_on(restore(log, key))??;
    if restored.seq != state.seq {
        return Ok(Compared::NotAtTheEnd);
    }
    let from_snapshot = restored.hash()?;
    if from_snapshot == hash {
        Ok(Compared::Same)
    } else {
        Err(LogError::Diverged {
            from_snapshot,
            from_log: hash.to_owned(),
        })
    }
}
