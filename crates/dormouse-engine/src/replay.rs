//! Folding a log into a state.

mod decide_again;

use std::sync::Arc;

use dormouse_contracts::{
    AssistantId, LoadSnapshot, ReadError, ReadEvents, Seq, Snapshot, each_event,
};

use crate::{
    event::{DecodeError, Event},
    state::State,
};

pub use decide_again::{
    DecideAgainError, DecidedAgain, DecidedInstead, FirstDifference, decide_again,
};

/// The version of a state's JSON. A snapshot of another version is ignored, and the whole log is folded. Hashes of states of
/// different versions cannot be compared.
pub const STATE_SCHEMA: u16 = 12;

/// A log could not be folded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The log could not be read.
    #[error("the log could not be read")]
    Read(#[from] ReadError),
    /// The log holds an event that this program cannot read.
    #[error("the log cannot be understood")]
    Decode(#[from] DecodeError),
}

/// Folds the log of one assistant from its first event up to and including `up_to`, without a snapshot.
///
/// Takes one page of events into memory at a time. The future can be dropped at any moment.
///
/// # Errors
///
/// [`ReplayError`], which names the first event that could not be read.
pub async fn replay<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    up_to: Seq,
) -> Result<State, ReplayError> {
    fold(log, key, State::default(), up_to).await
}

/// Folds the log of one assistant to its end, starting from its newest snapshot if there is one.
///
/// # Errors
///
/// [`ReplayError`], which names the first event that could not be read.
pub async fn restore<L: ReadEvents + LoadSnapshot + ?Sized>(
    log: &L,
    key: &AssistantId,
) -> Result<State, ReplayError> {
    Ok(restore_counted(log, key).await?.state)
}

/// A state folded from a log.
pub(crate) struct Restored {
    pub(crate) state: State,
    /// How many events were folded after the snapshot.
    pub(crate) folded: u64,
}

/// Like [`restore`], and also says how much of the log was folded.
pub(crate) async fn restore_counted<L: ReadEvents + LoadSnapshot + ?Sized>(
    log: &L,
    key: &AssistantId,
) -> Result<Restored, ReplayError> {
    let snapshot = log.load_snapshot(key, Seq(u64::MAX)).await?;
    let from = snapshot
        .as_ref()
        .and_then(decode_snapshot)
        .unwrap_or_default();
    let saved = from.seq;
    let state = fold(log, key, from, Seq(u64::MAX)).await?;
    let folded = state.seq.0.saturating_sub(saved.0);
    Ok(Restored { state, folded })
}

/// Folds what is new in the log into a state. A state that others look at, too, is copied before it changes.
pub(crate) async fn fold_newer<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    state: &mut Arc<State>,
) -> Result<(), ReplayError> {
    each_event(log, key, state.seq.next().., |stored| {
        let event = Event::decode(stored)?;
        Arc::make_mut(state).apply(stored.seq, stored.at, &event);
        Ok::<_, ReplayError>(())
    })
    .await
}

async fn fold<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    mut state: State,
    up_to: Seq,
) -> Result<State, ReplayError> {
    each_event(log, key, state.seq.next()..=up_to, |stored| {
        state.apply(stored.seq, stored.at, &Event::decode(stored)?);
        Ok::<_, ReplayError>(())
    })
    .await?;
    Ok(state)
}

/// The event at this place; `None` if the log has none there.
pub(crate) async fn event<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    seq: Seq,
) -> Result<Option<Event>, ReplayError> {
    let Some(before) = seq.0.checked_sub(1) else {
        return Ok(None);
    };
    let found = log.read(key, Seq(before), 1).await?;
    let stored = found.first().filter(|stored| stored.seq == seq);
    Ok(stored.map(Event::decode).transpose()?)
}

/// A state as a snapshot.
///
/// # Errors
///
/// An error of serde_json, which only a broken implementation of a type in the state can cause.
pub fn encode_snapshot(state: &State) -> Result<Snapshot, serde_json::Error> {
    Ok(Snapshot {
        seq: state.seq,
        schema: STATE_SCHEMA,
        payload: serde_json::to_vec(state)?,
    })
}

fn decode_snapshot(snapshot: &Snapshot) -> Option<State> {
    if snapshot.schema != STATE_SCHEMA {
        return None;
    }
    let state: State = serde_json::from_slice(&snapshot.payload).ok()?;
    (state.seq == snapshot.seq).then_some(state)
}
