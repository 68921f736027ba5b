//! The handle by which a memory is used.

mod reading;

pub use reading::{Stats, Why};

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use dormouse_contracts::{AssistantId, Clock, Timestamp, TokenCounter};
use dormouse_entities::Entities;
use dormouse_vectors::Exact;

use crate::{
    builder::{MemoryBuilder, OpenError, Progress},
    change::{Change, ChangeSeq},
    feed::Vectors,
    note::Note,
    ops::{self, Added, ChangeError, Done, Step},
    people,
    projection::{self, Projection},
    record::{LinkKind, RecordId},
    secrets,
    store::{Abort, Fault, Store, StoreError, WriteError, Writing},
};

/// How many records are read at a time while the projection is made.
const PAGE: usize = 1_000;
/// From how many changes on the copy of the projection is saved by itself.
const UNSAVED: u64 = 1_000;

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
    /// The file's own id, which its copies are bound to.
    file_id: String,
    pub(crate) projection: RwLock<Projection>,
    pub(crate) entities: RwLock<Entities>,
    /// Held over a commit and the taking in of what it wrote, so that both happen in one order.
    order: Mutex<()>,
    /// The last change that is in the copy of the projection.
    saved: AtomicU64,
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

    pub(crate) fn open_now(builder: MemoryBuilder, path: &Path) -> Result<Self, OpenError> {
        let id = format!("{}-{}", builder.assistant, builder.clock.now().as_micros());
        let store = Store::open(path, &id)?;
        Self::over(builder, store)
    }

    pub(crate) fn ephemeral_now(builder: MemoryBuilder) -> Result<Self, OpenError> {
        let store = Store::ephemeral("ephemeral")?;
        Self::over(builder, store)
    }

    fn over(builder: MemoryBuilder, store: Store) -> Result<Self, OpenError> {
        let file_id = store.read(|reading| reading.file_id())?;
        let (projection, saved) = projected(&builder, &store, &file_id)?;
        let rows = store.read(|reading| reading.entities())?;
        let entities = people::load(rows).map_err(|source| OpenError::Entities {
            path: store.path().map(Path::to_owned).unwrap_or_default(),
            source,
        })?;
        Ok(Self {
            inner: Arc::new(Inner {
                store,
                file_id,
                projection: RwLock::new(projection),
                entities: RwLock::new(entities),
                order: Mutex::new(()),
                saved: AtomicU64::new(saved),
                assistant: builder.assistant,
                clock: builder.clock,
                counter: builder.counter,
                vectors: builder.encoder.map(|encoder| {
                    let index = builder.vectors.unwrap_or_else(|| Arc::new(Exact::new()));
                    Vectors::new(encoder, index)
                }),
            }),
        })
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
        self.change(move |writing, now| {
            let mut done = Done::default();
            let mut added = Vec::with_capacity(notes.len());
            for note in notes {
                let note = secrets::masked(note);
                let (one, more) = ops::add(writing, now, &reason, note)?;
                added.push(one);
                done.extend(more);
            }
            Ok((added, done))
        })
        .await
    }

    /// Ends the validity of what `old` says, as of `until`; `by` took its place, if anything did. It is kept, and
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

    /// Removes a record's text, speaker, tags and vectors for good. Only its number and that it was erased stay. The
    /// file's free pages may hold the old bytes until they are used again.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Unknown`] if it is not there.
    pub async fn erase(&self, id: RecordId, reason: &str) -> Result<ChangeSeq, MemoryError> {
        let spaces = self.inner.space_numbers()?;
        self.step(reason, move |writing, now, reason| {
            ops::erase(writing, now, reason, id, &spaces)
        })
        .await
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
    /// [`ChangeError::Note`] if the note does not fit.
    pub async fn ignore(
        &self,
        note: Note,
        like: Option<RecordId>,
        reason: &str,
    ) -> Result<ChangeSeq, MemoryError> {
        let note = secrets::masked(note);
        self.step(reason, move |writing, now, reason| {
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
        change: dormouse_entities::Change,
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

impl Inner {
    /// Commits a change and takes it into the projection.
    pub(crate) fn change<T>(
        &self,
        work: impl FnOnce(&mut Writing<'_>, Timestamp) -> Step<(T, Done)>,
    ) -> Result<T, MemoryError> {
        let _order = self.ordered();
        let now = self.clock.now();
        let (value, done) = self.store.write(|writing| work(writing, now))?;
        self.take(&done);
        Ok(value)
    }

    /// Lets one change after the other through.
    pub(crate) fn ordered(&self) -> MutexGuard<'_, ()> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was committed into the projection. Only whoever holds the order may.
    pub(crate) fn take(&self, done: &Done) {
        let mut projection = self
            .projection
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        for record in &done.records {
            projection.take(record);
        }
        if let Some(last) = done.changes.last() {
            projection.through = last.seq;
        }
    }

    fn change_entity(
        &self,
        change: dormouse_entities::Change,
        reason: &str,
    ) -> Result<ChangeSeq, MemoryError> {
        let _order = self.ordered();
        let now = self.clock.now();
        let mut entities = self
            .entities
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let touched = entities.apply(&change, now).map_err(ChangeError::from)?;
        let rows = people::rows(&entities, &touched);
        let written = self.store.write(|writing| {
            for (key, row) in &rows? {
                writing.put_entity(key, row.as_deref())?;
            }
            let stored = Change::Entity {
                change: Box::new(change),
            };
            let stored = writing.append(now, reason, stored, &[])?;
            Ok::<_, Abort<ChangeError>>(stored.seq)
        });
        match written {
            Ok(seq) => {
                drop(entities);
                self.through(seq);
                Ok(seq)
            }
            Err(error) => {
                self.reload(&mut entities)?;
                Err(error.into())
            }
        }
    }

    /// After a failure: what is on disk is what is known.
    pub(crate) fn reload(&self, entities: &mut Entities) -> Result<(), StoreError> {
        let rows = self.store.read(|reading| reading.entities())?;
        if let Ok(known) = people::load(rows) {
            *entities = known;
        }
        Ok(())
    }

    fn through(&self, seq: ChangeSeq) {
        self.projection
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .through = seq;
    }

    /// The numbers of all embedding spaces.
    fn space_numbers(&self) -> Result<Vec<u32>, StoreError> {
        let spaces = self
            .store
            .read(|reading| reading.spaces::<serde_json::Value>())?;
        Ok(spaces.into_iter().map(|(number, _)| number).collect())
    }

    fn checkpoint(&self) -> Result<(), StoreError> {
        let Some(path) = self.store.path().map(copy_path) else {
            return Ok(());
        };
        let projection = self
            .projection
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        projection::save(&path, &self.file_id, &projection)
            .map_err(|error| StoreError::disk(&path, error))?;
        self.saved.store(projection.through, Ordering::Relaxed);
        Ok(())
    }
}

/// Where the copy of the projection lies.
fn copy_path(store: &Path) -> PathBuf {
    store.with_extension("index")
}

/// The projection of what is in the store, and the last change that was in the copy: the copy with what is newer, or all of it anew.
fn projected(
    builder: &MemoryBuilder,
    store: &Store,
    file_id: &str,
) -> Result<(Projection, ChangeSeq), StoreError> {
    let newest = store.read(|reading| reading.last_change())?;
    let copy = store.path().map(copy_path).filter(|_| !builder.rebuild);
    let copy = copy.and_then(|path| match projection::load(&path, file_id, builder.retrieval.clone()) {
        Ok(copy) => copy,
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "the copy of the search index is made anew");
            None
        }
    });
    match copy.filter(|copy| copy.through <= newest) {
        Some(copy) if newest - copy.through <= newest / 2 => {
            let saved = copy.through;
            Ok((caught_up(builder, store, copy, newest)?, saved))
        }
        Some(_) | None => Ok((from_records(builder, store, newest)?, 0)),
    }
}

fn tell(builder: &MemoryBuilder, done: u64, of: u64) {
    if let Some(tell) = &builder.progress {
        tell(Progress {
            what: "reading records",
            done,
            of,
        });
    }
}

fn from_records(
    builder: &MemoryBuilder,
    store: &Store,
    newest: ChangeSeq,
) -> Result<Projection, StoreError> {
    let mut projection = Projection::new(builder.retrieval.clone());
    let of = store.read(|reading| reading.state(crate::store::tables::NEXT_RECORD))?;
    let mut after = None;
    loop {
        let page = store.read(|reading| reading.page(after, PAGE))?;
        let Some(last) = page.last().map(|record| record.id) else {
            break;
        };
        for record in &page {
            projection.take(record);
        }
        after = Some(last);
        tell(builder, last.0, of);
    }
    projection.through = newest;
    Ok(projection)
}

fn caught_up(
    builder: &MemoryBuilder,
    store: &Store,
    mut projection: Projection,
    newest: ChangeSeq,
) -> Result<Projection, StoreError> {
    let of = newest - projection.through;
    let mut done = 0;
    while projection.through < newest {
        let through = projection.through;
        let (changes, records) = store.read(|reading| {
            let changes = reading.changes(through, PAGE)?;
            let ids: Vec<RecordId> = changes
                .iter()
                .flat_map(|stored| stored.change.records())
                .collect();
            Ok((changes, reading.records(&ids)?))
        })?;
        let Some(last) = changes.last().map(|change| change.seq) else {
            break;
        };
        for record in records.iter().flatten() {
            projection.take(record);
        }
        done += last - through;
        projection.through = last;
        tell(builder, done, of);
    }
    Ok(projection)
}

impl Drop for Inner {
    /// Saves the copy of the search index if reading what is newer than it would be noticed at the next start.
    fn drop(&mut self) {
        let unsaved = self.saved.load(Ordering::Relaxed);
        let through = self
            .projection
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .through;
        if through.saturating_sub(unsaved) >= UNSAVED
            && let Err(error) = self.checkpoint()
        {
            tracing::warn!(%error, "the copy of the search index could not be saved");
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("assistant", &self.inner.assistant)
            .field("path", &self.inner.store.path())
            .finish_non_exhaustive()
    }
}
