//! The ports to the event log: append, read, and keep snapshots.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{AssistantId, BoxFuture, PortError, Timestamp};

/// The place of an event in its assistant's log. The first event has 1; [`Seq::ZERO`] stands before it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// Before the first event.
    pub const ZERO: Self = Self(0);

    /// The place after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The place `count` further on.
    #[must_use]
    pub fn plus(self, count: u64) -> Self {
        Self(self.0.saturating_add(count))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An event to be appended. The log keeps it without knowing what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// When it happened, read from the clock that was passed in.
    pub at: Timestamp,
    /// The name of its kind, at most 64 bytes of ASCII.
    pub kind: &'static str,
    /// The version of its payload's shape.
    pub schema: u16,
    /// The payload; JSON, by everything in this workspace.
    pub payload: Vec<u8>,
}

/// An event as the log gives it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its place in the log.
    pub seq: Seq,
    /// When it happened.
    pub at: Timestamp,
    /// The name of its kind.
    pub kind: String,
    /// The version of its payload's shape.
    pub schema: u16,
    /// The payload.
    pub payload: Vec<u8>,
}

/// Events to append to one assistant's log, all or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendRequest {
    /// Whose log.
    pub assistant: AssistantId,
    /// The place of the last event the writer knows of. If it is not the last one, nothing is written.
    pub expected: Seq,
    /// The events, in order.
    pub events: Vec<NewEvent>,
}

/// Why nothing was appended, as far as a writer can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppendErrorKind {
    /// Somebody else has written since: read on from `expected`, then decide again.
    #[error("expected the log to end at event {expected}, but it ends at {actual}")]
    Conflict {
        /// What the writer expected.
        expected: Seq,
        /// Where the log really ends.
        actual: Seq,
    },
    /// An event is too large, or its kind is no short ASCII name. The same request never succeeds.
    #[error("the event is not acceptable to the log")]
    Unacceptable,
    /// The disk is full or failing. Nothing was written; the same request may succeed later.
    #[error("the log could not be written")]
    Storage,
    /// The log is closed or its writer has died.
    #[error("the log is closed")]
    Closed,
}

/// An append failed, and nothing was written.
pub type AppendError = PortError<AppendErrorKind>;

/// Why nothing was read, as far as a reader can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The event at this place does not match its checksum. Everything before it is intact.
    #[error("event {at} is damaged; the events before it are intact")]
    Corrupt {
        /// The first damaged place.
        at: Seq,
    },
    /// An event is not there although a later one is. Everything before it is intact.
    #[error("event {at} is missing; the events before it are intact")]
    Missing {
        /// The first missing place.
        at: Seq,
    },
    /// The event was written by a newer version of the program.
    #[error("event {at} was written in format {found}, and this version reads up to {known}")]
    Newer {
        /// The place of the event.
        at: Seq,
        /// Its format.
        found: u16,
        /// The newest format this program knows.
        known: u16,
    },
    /// The disk is failing.
    #[error("the log could not be read")]
    Storage,
    /// The log is closed.
    #[error("the log is closed")]
    Closed,
}

/// A read failed.
pub type ReadError = PortError<ReadErrorKind>;

/// A state as it was after one event, kept to make starting faster. It can always be thrown away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The last event that is folded into it.
    pub seq: Seq,
    /// The version of its payload's shape; a reader that does not know it ignores the snapshot.
    pub schema: u16,
    /// The payload.
    pub payload: Vec<u8>,
}

/// Appends events.
pub trait Append: Send + Sync {
    /// Appends the request's events after its expected place, all or none, and answers the place of the last one
    /// once it would survive a power failure. Dropping the future does not take the request back.
    ///
    /// # Errors
    ///
    /// [`AppendError`]; nothing was written.
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>>;
}

/// Reads events back.
pub trait ReadEvents: Send + Sync {
    /// Reads up to `limit` events of one assistant after the place `after`, in order. An empty answer means that
    /// the log ends there. An assistant nobody has written for has an empty log.
    ///
    /// # Errors
    ///
    /// [`ReadError`], whose kind names the first place that could not be read.
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>>;
}

/// Keeps snapshots.
pub trait SaveSnapshot: Send + Sync {
    /// Keeps `snapshot` in place of older ones. Losing it later is harmless.
    ///
    /// # Errors
    ///
    /// [`AppendError`]; the earlier snapshot, if any, is still there.
    fn save_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        snapshot: Snapshot,
    ) -> BoxFuture<'a, Result<(), AppendError>>;
}

/// Finds snapshots.
pub trait LoadSnapshot: Send + Sync {
    /// The newest intact snapshot that is not after `up_to`, if there is one. A damaged one counts as absent.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the storage failed.
    fn load_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        up_to: Seq,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, ReadError>>;
}

/// All an engine needs of a log; implemented by whatever implements the four ports.
pub trait EventLog: Append + ReadEvents + SaveSnapshot + LoadSnapshot {}

impl<T: Append + ReadEvents + SaveSnapshot + LoadSnapshot + ?Sized> EventLog for T {}
