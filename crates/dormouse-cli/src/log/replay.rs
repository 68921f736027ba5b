//! `dormouse log replay`: the state that the events lead to.

use std::io::{BufWriter, Write};

use dormouse_contracts::{AssistantId, LoadSnapshot, Seq, Snapshot};
use dormouse_engine::{State, encode_snapshot, replay};
use dormouse_store::LogView;
use serde::Serialize;

use super::difference::{Difference, difference};
use crate::{
    command::{CommandError, CommandFailure, Printing, block_on, say, stdout},
    exit::Exit,
    neutralise::escape_json,
};

/// The log could not be replayed as requested, or a start would get another state.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReplayFailure {
    /// The log is shorter.
    #[error("there is no event {asked}; the log ends at event {end}")]
    NoSuchEvent {
        /// The requested event.
        asked: Seq,
        /// The last in the log.
        end: Seq,
    },
    /// A snapshot differs from the state that the events up to its position give.
    #[error(
        "the snapshot at event {at} does not match the log: it holds {kept} in the field `{field}`, and the events up to \
         event {at} give {replayed}. The events are the truth: `dormouse log salvage` copies them into a log without snapshots"
    )]
    Diverged {
        /// The place of the snapshot.
        at: Seq,
        /// The first field that differs.
        field: String,
        /// Its value in the snapshot.
        kept: String,
        /// Its value according to the events.
        replayed: String,
    },
    /// The log lacks events that a snapshot contains.
    #[error(
        "the newest snapshot is at event {snapshot}, and the log ends at event {end}: events are missing at its end. \
         Restore a backup, or use `dormouse log salvage`"
    )]
    SnapshotAhead {
        /// The place of the snapshot.
        snapshot: Seq,
        /// The last event.
        end: Seq,
    },
}

impl CommandFailure for ReplayFailure {
    fn exit(&self) -> Exit {
        match self {
            Self::NoSuchEvent { .. } => Exit::Usage,
            Self::Diverged { .. } | Self::SnapshotAhead { .. } => Exit::Damaged,
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

/// What to replay and print.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// The last event; the last in the log if absent.
    pub(super) at: Option<Seq>,
    /// Whether people see the state itself.
    pub(super) state: bool,
}

/// Replays through an event, or to the end; prints the hash of the state, and the state if asked. The newest snapshot
/// up to there must contain the same state as the events up to its position.
pub(super) fn run(
    log: &LogView,
    key: &AssistantId,
    asked: Asked,
    printing: Printing,
) -> Result<Exit, CommandError> {
    let at = asked.at;
    let state = block_on(replay(log, key, at.unwrap_or(Seq(u64::MAX))))??;
    if let Some(asked) = at
        && state.seq != asked
    {
        let end = state.seq;
        return Err(ReplayFailure::NoSuchEvent { asked, end }.into());
    }
    let hash = state.hash()?;
    let compared = compare(log, key, at, &state);
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
            if let Ok(Compared::Same(snapshot)) = &compared {
                say(&format!(
                    "the snapshot at event {snapshot} and the events after it give the same state"
                ))?;
            }
            match asked.state {
                true => print_state(&state)?,
                false => say("`--state` prints it")?,
            }
        }
    }
    compared?;
    Ok(Exit::Success)
}

fn print_state(state: &State) -> Result<(), CommandError> {
    let mut out = BufWriter::new(stdout());
    // Pretty JSON has line feeds of its own; escaping the whole text would escape them too.
    for line in serde_json::to_string_pretty(state)?.lines() {
        writeln!(out, "{}", escape_json(line))?;
    }
    Ok(out.flush()?)
}

/// The result of comparing a snapshot with the events up to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    /// The snapshot at this event holds the same state.
    Same(Seq),
    /// There is no snapshot that a start would use.
    NoSnapshot,
}

fn compare(
    log: &LogView,
    key: &AssistantId,
    at: Option<Seq>,
    end: &State,
) -> Result<Compared, CommandError> {
    let loaded = block_on(log.load_snapshot(key, at.unwrap_or(Seq(u64::MAX))))??;
    let Some(snapshot) = loaded.filter(|it| is_current(it, end)) else {
        return Ok(Compared::NoSnapshot);
    };
    if snapshot.seq > end.seq {
        let (snapshot, end) = (snapshot.seq, end.seq);
        return Err(ReplayFailure::SnapshotAhead { snapshot, end }.into());
    }
    let Ok(kept) = serde_json::from_slice::<State>(&snapshot.payload) else {
        return Ok(Compared::NoSnapshot);
    };
    let replayed = block_on(replay(log, key, snapshot.seq))??;
    let (kept, replayed) = (serde_json::to_value(kept)?, serde_json::to_value(replayed)?);
    match difference(&kept, &replayed) {
        None => Ok(Compared::Same(snapshot.seq)),
        Some(Difference { field, left, right }) => Err(ReplayFailure::Diverged {
            at: snapshot.seq,
            field,
            kept: left,
            replayed: right,
        }
        .into()),
    }
}

/// Whether this version reads the snapshot. A start ignores any other.
fn is_current(snapshot: &Snapshot, state: &State) -> bool {
    encode_snapshot(state).is_ok_and(|current| current.schema == snapshot.schema)
}
