//! The ports to the event log: append, read, and keep snapshots.

use std::{
    fmt,
    ops::{Bound, RangeBounds},
};

use serde::{Deserialize, Serialize};

use crate::{future::BoxFuture, ids::AssistantId, port_error::PortError, time::Timestamp};

/// The sequence number of an event: its position in its assistant's log. The first event has 1; [`Seq::ZERO`] is before it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// Before the first event.
    pub const ZERO: Self = Self(0);

    /// The next number.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number `count` further on.
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

/// An event to append. The log does not know what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// When it happened, read from the clock that was passed in.
    pub at: Timestamp,
    /// The name of its kind, at most 64 bytes of ASCII.
    pub kind: &'static str,
    /// The version of the payload's schema.
    pub schema: u16,
    /// The payload. Everything in this workspace writes JSON.
    pub payload: Vec<u8>,
}

/// An event as read from the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its sequence number.
    pub seq: Seq,
    /// When it happened.
    pub at: Timestamp,
    /// The name of its kind.
    pub kind: String,
    /// The version of the payload's schema.
    pub schema: u16,
    /// The payload.
    pub payload: Vec<u8>,
}

/// Events to append to one assistant's log, all or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendRequest {
    /// The assistant.
    pub assistant: AssistantId,
    /// The last event that the writer knows. If the log ends at another one, nothing is written.
    pub expected: Seq,
    /// The events, in order.
    pub events: Vec<NewEvent>,
}

/// Why an append failed, as far as a writer can act on it. Nothing was written, except with [`Unknown`](Self::Unknown).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppendErrorKind {
    /// Another writer has appended since: read from `expected` on, and decide again.
    #[error("expected the log to end at event {expected}, but it ends at {actual}")]
    Conflict {
        /// What the writer expected.
        expected: Seq,
        /// Where the log really ends.
        actual: Seq,
    },
    /// An event is too large, or its kind is not a short ASCII name. The same request never succeeds.
    #[error("the event is not acceptable to the log")]
    Unacceptable,
    /// The disk is full or failing. Nothing was written; the same request may succeed later.
    #[error("the log could not be written")]
    Storage,
    /// It is not known whether the events are in the log, or will be. The same request finds out, also with more events at its
    /// end: it writes those that are missing, and none twice. Any other request may write them a second time.
    #[error("it is not known whether the log was written")]
    Unknown,
    /// The log is closed or its writer has died.
    #[error("the log is closed")]
    Closed,
}

/// An append failed.
pub type AppendError = PortError<AppendErrorKind>;

/// Why nothing was read, as far as a reader can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The event does not match its checksum. Everything before it is intact.
    #[error("event {at} is damaged; the events before it are intact")]
    Corrupt {
        /// The first damaged event.
        at: Seq,
    },
    /// An event is missing although a later one exists. Everything before it is intact.
    #[error("event {at} is missing; the events before it are intact")]
    Missing {
        /// The first missing event.
        at: Seq,
    },
    /// The event was written by a newer version of the program.
    #[error("event {at} was written in format {found}, and this version reads up to {known}")]
    Newer {
        /// The event.
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

/// An encoded state after one event, which makes starting faster. It can be deleted at any time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The last event that is folded into it.
    pub seq: Seq,
    /// The version of the payload's schema. A reader that does not know it ignores the snapshot.
    pub schema: u16,
    /// The payload.
    pub payload: Vec<u8>,
}

/// Appends events.
pub trait Append: Send + Sync {
    /// Appends the request's events, all or none, if the log ends where the request expects. Returns the sequence number
    /// of the last one as soon as it would survive a power failure. Dropping the future does not cancel the request.
    ///
    /// # Errors
    ///
    /// [`AppendError`]; nothing was written, except perhaps with [`AppendErrorKind::Unknown`].
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>>;
}

/// Reads events.
pub trait ReadEvents: Send + Sync {
    /// Reads up to `limit` events of one assistant after `after`, in order. An empty answer means that the log ends there.
    /// The log of an unknown assistant is empty.
    ///
    /// # Errors
    ///
    /// [`ReadError`], whose kind names the first event that could not be read.
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>>;
}

/// How many events [`each_event`] reads at a time.
const PAGE: usize = 512;

/// Passes the events of one assistant in this range to `take`, in order: `..` is the whole log. Reads one page at a time, so
/// a log of any length takes bounded memory. The future can be dropped between two pages.
///
/// # Errors
///
/// A [`ReadError`], or the first error of `take`; no later event is passed.
pub async fn each_event<L: ReadEvents + ?Sized, E: From<ReadError>>(
    log: &L,
    assistant: &AssistantId,
    range: impl RangeBounds<Seq>,
    mut take: impl FnMut(&StoredEvent) -> Result<(), E>,
) -> Result<(), E> {
    let mut read = match range.start_bound() {
        Bound::Included(first) => Seq(first.0.saturating_sub(1)),
        Bound::Excluded(before) => *before,
        Bound::Unbounded => Seq::ZERO,
    };
    // An event after the range is not read, if possible: it may be damaged.
    while range.contains(&read.next()) {
        let page = log.read(assistant, read, PAGE).await?;
        let Some(last) = page.last() else {
            break;
        };
        read = last.seq;
        let mut wanted = page.iter().take_while(|stored| range.contains(&stored.seq));
        wanted.try_for_each(&mut take)?;
    }
    Ok(())
}

/// Saves snapshots.
pub trait SaveSnapshot: Send + Sync {
    /// Saves `snapshot`, which may replace older ones. Losing it later is harmless.
    ///
    /// # Errors
    ///
    /// [`AppendError`]. An earlier snapshot may be lost, too.
    fn save_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        snapshot: Snapshot,
    ) -> BoxFuture<'a, Result<(), AppendError>>;
}

/// Loads snapshots.
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

/// All ports of a log. Implemented for every type that implements the four ports.
pub trait EventLog: Append + ReadEvents + SaveSnapshot + LoadSnapshot {}

impl<T: Append + ReadEvents + SaveSnapshot + LoadSnapshot + ?Sized> EventLog for T {}
