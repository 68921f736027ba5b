//! The handle to a memory: changing it.

mod commit;
mod draft;
pub(crate) mod reading;

use std::{
    fmt,
    sync::{
        Arc, Mutex, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use dormouse_contracts::{AssistantId, Clock, Timestamp, TokenCounter};
use dormouse_entities::Entities;
use tokio::sync::watch;

use crate::{
    change::{ChangeSeq, MemoryChange},
    index_copy::IndexCopy,
    note::Note,
    ops::{self, Added, ChangeError, Done, Step},
    projection::LazyProjection,
    record::{LinkKind, RecordId},
    store::{Abort, Fault, Store, StoreError, WriteError, Writing},
    vectors::Vectors,
};
pub(crate) use commit::UNSAVED;
pub(crate) use draft::Draft;

/// An assistant's long-term memory: records that can be recalled as soon as they are written.
///
/// A clone is another handle to the same memory. Everything acknowledged is on disk, except for what a log has; a search uses an
/// index in RAM.
/// Blocking work runs on the blocking threads of tokio, so a tokio runtime is needed. Dropping the future of a change
/// does not take the change back: it may or may not be made.
#[derive(Clone)]
pub struct Memory {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    /// The id of the file: the copy of the search index and the collections of vectors carry it.
    pub(crate) file_id: String,
    /// The copy of the projection; `None` for a memory without a file.
    pub(crate) copy: Option<IndexCopy>,
    pub(crate) projection: LazyProjection,
    pub(crate) entities: RwLock<Entities>,
    /// Held from a commit until the projection has its changes, so that both happen in the same order.
    pub(crate) order: Mutex<Draft>,
    /// The last change that is in the copy of the projection.
    pub(crate) saved: AtomicU64,
    /// The last event of the log that is taken in on disk, and the last that is taken in at all. Those between are taken in in
    /// memory; the log has them.
    pub(crate) log_on_disk: AtomicU64,
    pub(crate) log_taken_in: AtomicU64,
    /// How many events of the log are taken in in memory, at most, before the file is written.
    pub(crate) behind: u64,
    /// Whether the file need not get what is only in memory when it is closed.
    pub(crate) is_left_behind: AtomicBool,
    /// Held while the copy of the projection is written or removed. It is never taken while `order` is held.
    pub(crate) saving: Mutex<()>,
    pub(crate) assistant: AssistantId,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) vectors: Option<Vectors>,
    /// Declared last, so that it is dropped when the file is closed.
    pub(crate) open: watch::Sender<()>,
}

/// A failure of a memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The file failed. What was acknowledged before is safe.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The change does not fit the records. Nothing was changed.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The runtime is shutting down; the change may or may not have been made.
    #[error("the runtime is shutting down")]
    Stopped,
}

impl From<WriteError<ChangeError>> for MemoryError {
    fn from(error: WriteError<ChangeError>) -> Self {
        match error {
            WriteError::Store(error) => Self::Store(error),
            WriteError::Refused(error) => Self::Change(error),
        }
    }
}

impl Memory {
    /// The assistant whose memory it is.
    #[must_use]
    pub fn assistant(&self) -> &AssistantId {
        &self.inner.assistant
    }

    /// From now on only its log changes this memory, by [`Memory::take_log`]: another change would be lost when the memory is
    /// made again, so it is refused. This holds for every handle to it, until it is opened again.
    pub fn follow_log(&self) {
        self.inner.store.follow_log();
    }

    /// Stores a note. When this returns, the record is on disk and can be recalled. Secrets in its text (keys, tokens,
    /// passwords) are masked. `reason` is kept with it.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Note`] if it is not valid, [`ChangeError::Unknown`] if one of its sources does not exist.
    pub async fn add(&self, note: Note, reason: &str) -> Result<Added, MemoryError> {
        let added = self.add_all(vec![note], reason).await?;
        added.into_iter().next().ok_or(MemoryError::Stopped)
    }

    /// Stores notes in one write: all of them, or none if one is not valid.
    ///
    /// # Errors
    ///
    /// As [`Memory::add`].
    pub async fn add_all(&self, notes: Vec<Note>, reason: &str) -> Result<Vec<Added>, MemoryError> {
        let reason = reason.to_owned();
        let inner = Arc::clone(&self.inner);
        // Looking for secrets takes a while in long texts, so it happens before the lock of all changes is taken.
        let mask = move || Ok(notes.into_iter().map(Note::masked).collect::<Vec<_>>());
        let notes = blocking(mask).await?;
        let work = move |writing: &mut Writing<'_>, now| {
            let mut done = Done::default();
            let mut added = Vec::with_capacity(notes.len());
            for note in notes {
                let (one, more) = ops::add(writing, now, &reason, None, note)?;
                added.push(one);
                done.extend(more);
            }
            Ok((added, done))
        };
        blocking(move || inner.change(work)).await
    }

    /// Ends the validity of `old` at `until`, or leaves an earlier end as it is. `by` is the record that replaces it, if there
    /// is one. `old` is kept, and is recalled for times at which it was valid.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] if the record does not exist, is not in use, or began after `until`.
    pub async fn supersede(
        &self,
        old: RecordId,
        by: Option<RecordId>,
        until: Timestamp,
        reason: &str,
    ) -> Result<ChangeSeq, MemoryError> {
        self.step(reason, move |writing, now, reason| {
            ops::supersede(writing, now, reason, old, by, until)
        })
        .await
    }

    /// Makes `records` part of `into`, which says the same: they are no longer recalled by themselves.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] if one of them does not exist, is not in use, or is `into` itself.
    pub async fn fold(
        &self,
        records: Vec<RecordId>,
        into: RecordId,
        reason: &str,
    ) -> Result<ChangeSeq, MemoryError> {
        self.step(reason, move |writing, now, reason| {
            ops::fold(writing, now, reason, &records, into)
        })
        .await
    }

    /// Takes a record out of recall. [`Memory::revert`] puts it back.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] if it does not exist or is not in use.
    pub async fn withdraw(&self, id: RecordId, reason: &str) -> Result<ChangeSeq, MemoryError> {
        self.step(reason, move |writing, now, reason| {
            ops::withdraw(writing, now, reason, id)
        })
        .await
    }

    /// Makes a record public knowledge, so that it may be recalled for any listeners. [`Memory::revert`] takes that back.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] if it does not exist or is not in use.
    pub async fn publish(&self, id: RecordId, reason: &str) -> Result<ChangeSeq, MemoryError> {
        self.step(reason, move |writing, now, reason| {
            ops::publish(writing, now, reason, id)
        })
        .await
    }

    /// Removes a record's text, speaker, tags and vectors for good. Its id, its key, its thread and the fact that it
    /// was erased stay. Notes that were ignored because it says the same are erased with it.
    ///
    /// Free pages of the file may hold the old bytes until they are used again. The next [`Memory::index_pending`] removes the
    /// point from the vector index. Other records and the reasons of changes are not searched for the same text.
    ///
    /// The copy of the search index is written again.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Unknown`] if it does not exist.
    pub async fn erase(&self, id: RecordId, reason: &str) -> Result<ChangeSeq, MemoryError> {
        let reason = reason.to_owned();
        let inner = Arc::clone(&self.inner);
        blocking(move || inner.erase(id, &reason)).await
    }

    /// Links two records in both directions, with a weight in `0.0..=1.0`.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] if one of them does not exist or is not in use, or the weight is out of bounds.
    pub async fn link(
        &self,
        a: RecordId,
        b: RecordId,
        kind: LinkKind,
        weight: f32,
        reason: &str,
    ) -> Result<ChangeSeq, MemoryError> {
        self.step(reason, move |writing, now, reason| {
            ops::link(writing, now, reason, (a, b), kind, weight)
        })
        .await
    }

    /// Records that a note was not kept because `like` already says it. Taking this back adds the note.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Note`] if the note is not valid, [`ChangeError::Unknown`] if a record it names does not exist.
    pub async fn ignore(
        &self,
        note: Note,
        like: Option<RecordId>,
        reason: &str,
    ) -> Result<ChangeSeq, MemoryError> {
        self.step(reason, move |writing, now, reason| {
            let note = note.masked();
            ops::ignore(writing, now, reason, note, like)
        })
        .await
    }

    /// Takes a change back. A record that was superseded, folded or withdrawn is as before; an ignored note is added;
    /// an added record is withdrawn; a link is removed. The change stays in the history. Reverting the revert makes the
    /// change again.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] if the change does not exist, was already taken back, or cannot be taken back, or if its records have
    /// changed since.
    pub async fn revert(&self, seq: ChangeSeq, reason: &str) -> Result<ChangeSeq, MemoryError> {
        self.step(reason, move |writing, now, reason| {
            ops::revert(writing, now, reason, seq)
        })
        .await
    }

    /// Makes a change that is given as data, in a memory that follows no log. Returns which notes it added or already
    /// has.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] if the change does not fit the records.
    pub async fn make(
        &self,
        change: MemoryChange,
        reason: &str,
    ) -> Result<Vec<Added>, MemoryError> {
        let reason = reason.to_owned();
        let inner = Arc::clone(&self.inner);
        blocking(move || inner.make(change.masked(), &reason)).await
    }

    /// Changes what is known about a person or thing.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Entity`] if the change does not fit what is known.
    pub async fn change_entity(
        &self,
        change: dormouse_entities::EntityChange,
        reason: &str,
    ) -> Result<ChangeSeq, MemoryError> {
        let reason = reason.to_owned();
        let inner = Arc::clone(&self.inner);
        blocking(move || inner.change_entity(change, &reason)).await
    }

    /// Writes the copy of the search index, so that the next start need not read the changes since the last copy. A memory
    /// does this when it is dropped, after 1,000 changes.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the disk fails; nothing is lost.
    pub async fn checkpoint(&self) -> Result<(), MemoryError> {
        let inner = Arc::clone(&self.inner);
        blocking(move || inner.checkpoint().map_err(MemoryError::from)).await
    }

    async fn step(
        &self,
        reason: &str,
        work: impl FnOnce(&mut Writing<'_>, Timestamp, &str) -> Step<Done> + Send + 'static,
    ) -> Result<ChangeSeq, MemoryError> {
        let reason = reason.to_owned();
        self.change(move |writing, now| {
            let done = work(writing, now, &reason)?;
            let seq = done.changes.last().map_or(0, |change| change.seq);
            Ok((seq, done))
        })
        .await
    }

    /// Makes a change on a blocking thread.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Writing<'_>, Timestamp) -> Step<(T, Done)> + Send + 'static,
    ) -> Result<T, MemoryError> {
        let inner = Arc::clone(&self.inner);
        blocking(move || inner.change(work)).await
    }

    /// Gives up this handle, and waits until the file is closed: until every other handle is dropped, and what they were
    /// doing has ended. The file can be opened again then.
    pub async fn close(self) {
        let mut open = self.inner.open.subscribe();
        drop(self);
        // Nothing is ever sent; the channel ends with the file.
        while open.changed().await.is_ok() {}
    }

    /// Gives up this handle as [`close`](Self::close) does, and leaves the file as it is if at most `events` events of its log
    /// were taken in since it was written. The next opening takes them in again, which is faster than writing and syncing the
    /// file each time.
    pub async fn close_behind(self, events: u64) {
        let taken_in = self.inner.log_taken_in.load(Ordering::Relaxed);
        let on_disk = self.inner.log_on_disk.load(Ordering::Relaxed);
        if taken_in.saturating_sub(on_disk) <= events {
            self.inner.is_left_behind.store(true, Ordering::Relaxed);
        }
        self.close().await;
    }

    /// Writes state that is not a change of the memory's content, such as a checkpoint.
    pub(crate) async fn keep<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Writing<'_>, Timestamp) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, MemoryError> {
        let inner = Arc::clone(&self.inner);
        blocking(move || {
            let now = inner.clock.now();
            let kept = inner
                .store
                .write(|writing| work(writing, now).map_err(Abort::<ChangeError>::Fault));
            Ok(kept?)
        })
        .await
    }
}

/// Runs `work` where it may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, MemoryError> + Send + 'static,
) -> Result<T, MemoryError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_stopped| MemoryError::Stopped)?
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("assistant", &self.inner.assistant)
            .field("path", &self.inner.store.path())
            .finish_non_exhaustive()
    }
}
