//! The handle by which a memory is used.

mod inner;
mod opening;
mod reading;

use inner::Draft;
pub use reading::{Stats, Why};

use std::{
    fmt,
    sync::{Arc, Mutex, RwLock, atomic::AtomicU64},
};

use dormouse_contracts::{AssistantId, Clock, Timestamp, TokenCounter};
use dormouse_entities::Entities;

use crate::{
    builder::MemoryBuilder,
    change::ChangeSeq,
    feed::Vectors,
    note::Note,
    ops::{self, Added, ChangeError, Done, Step},
    projection::{IndexCopy, Projection},
    record::{LinkKind, RecordId},
    store::{Abort, Fault, Store, StoreError, WriteError, Writing},
};

/// An assistant's long-term memory: records that can be recalled as soon as they are written.
///
/// A clone is another handle to the same memory. Everything acknowledged is on disk; searching happens in memory.
/// Blocking work runs on tokio's blocking threads, so that a tokio runtime is needed. Dropping the future of a change
/// does not take the change back: it may or may not be made.
#[derive(Clone)]
pub struct Memory {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    /// The file's own id: its copies and its collections of vectors are bound to it.
    pub(crate) file_id: String,
    /// The copy of the projection; none for a memory without a file.
    copy: Option<IndexCopy>,
    pub(crate) projection: RwLock<Projection>,
    pub(crate) entities: RwLock<Entities>,
    /// Held over a commit and the taking in of what it wrote, so that both happen in one order.
    order: Mutex<Draft>,
    /// The last change that is in the copy of the projection.
    saved: AtomicU64,
    /// Held while the copy of the projection is written or removed. Whoever holds the order does not wait for it.
    saving: Mutex<()>,
    pub(crate) assistant: AssistantId,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) vectors: Option<Vectors>,
}

/// A failure of a memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The file failed. What was acknowledged before is safe.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The change does not fit what is there. Nothing was changed.
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
    /// Settings for a memory of this assistant's, with this clock. A function that answers the time is a clock.
    #[must_use]
    pub fn builder(assistant: AssistantId, clock: impl Clock + 'static) -> MemoryBuilder {
        MemoryBuilder::new(clock, assistant)
    }

    /// Whose memory it is.
    #[must_use]
    pub fn assistant(&self) -> &AssistantId {
        &self.inner.assistant
    }

    /// Stores a note. When this answers it is on disk, and recalled from now on. Secrets in its text (keys, tokens,
    /// passwords) are masked. `reason` is kept with it.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Note`] if it does not fit, [`ChangeError::Unknown`] if it is made of a record that is not there.
    pub async fn add(&self, note: Note, reason: &str) -> Result<Added, MemoryError> {
        let added = self.add_all(vec![note], reason).await?;
        added.into_iter().next().ok_or(MemoryError::Stopped)
    }

    /// Stores notes in one write: all of them, or none if one does not fit.
    ///
    /// # Errors
    ///
    /// As [`Memory::add`].
    pub async fn add_all(&self, notes: Vec<Note>, reason: &str) -> Result<Vec<Added>, MemoryError> {
        let reason = reason.to_owned();
        let inner = Arc::clone(&self.inner);
        // Looking for secrets takes a while in long texts: nobody else need wait for it.
        let mask = move || Ok(notes.into_iter().map(Note::masked).collect::<Vec<_>>());
        let notes = blocking(mask).await?;
        let work = move |writing: &mut Writing<'_>, now| {
            let mut done = Done::default();
            let mut added = Vec::with_capacity(notes.len());
            for note in notes {
                let (one, more) = ops::add(writing, now, &reason, note)?;
                added.push(one);
                done.extend(more);
            }
            Ok((added, done))
        };
        blocking(move || inner.change(work)).await
    }

    /// Ends the validity of what `old` says, as of `until` or when it ceased already, if that was earlier; `by` took its place, if anything did. It is kept, and
    /// recalled for the times at which it was so.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] if there is no such record, or it is not in use, or began after `until`.
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

    /// Makes `records` part of `into`, which says the same: they are not recalled by themselves any more.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] if one of them is not there, not in use, or `into` itself.
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
    /// [`ChangeError`] if it is not there or not in use.
    pub async fn withdraw(&self, id: RecordId, reason: &str) -> Result<ChangeSeq, MemoryError> {
        self.step(reason, move |writing, now, reason| {
            ops::withdraw(writing, now, reason, id)
        })
        .await
    }

    /// Removes a record's text, speaker, tags and vectors for good. Its number, its origin, its thread and that it was
    /// erased stay. Notes that were ignored because it says the same are erased with it. The file's free pages may hold the old bytes until they are used again; an index of vectors is told
    /// by the next [`Memory::tend`]; what other records and the reasons of changes say of it is left alone.
    ///
    /// The copy of the search index is written anew.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Unknown`] if it is not there.
    pub async fn erase(&self, id: RecordId, reason: &str) -> Result<ChangeSeq, MemoryError> {
        let reason = reason.to_owned();
        let inner = Arc::clone(&self.inner);
        blocking(move || inner.erase(id, &reason)).await
    }

    /// Links two records, both ways, with a weight in `0.0..=1.0`.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] if one of them is not there or not in use, or the weight is out of bounds.
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

    /// Writes down that a note was not kept, and that `like` says it already. Taking this back adds the note.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Note`] if the note does not fit, [`ChangeError::Unknown`] if a record it names is not there.
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

    /// Takes a change back: what was superseded, folded, withdrawn or ignored is as before, what was added is
    /// withdrawn, what was linked is not. The change stays in the history.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] if there is no such change, it was taken back already, its records have changed since, or it
    /// is one that cannot be taken back.
    pub async fn revert(&self, seq: ChangeSeq, reason: &str) -> Result<ChangeSeq, MemoryError> {
        self.step(reason, move |writing, now, reason| {
            ops::revert(writing, now, reason, seq)
        })
        .await
    }

    /// Changes what is known of a person or thing.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Entity`] if it does not fit what is known.
    pub async fn change_entity(
        &self,
        change: dormouse_entities::EntityChange,
        reason: &str,
    ) -> Result<ChangeSeq, MemoryError> {
        let reason = reason.to_owned();
        let inner = Arc::clone(&self.inner);
        blocking(move || inner.change_entity(change, &reason)).await
    }

    /// Writes the copy of the search index, so that the next start need not read what has changed since the last one.
    /// A memory does so by itself when it is dropped, if there is much to save.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the disk refuses; nothing is lost.
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

    /// Keeps something that is no change of what is remembered.
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

#[cfg(test)]
mod tests;
