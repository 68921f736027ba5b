//! Opening a memory: its file, and the projection of its records.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, RwLock,
        atomic::{AtomicBool, AtomicU64},
    },
};

use dormouse_contracts::{Timestamp, invariant};
use dormouse_vectors::Exact;
use tokio::sync::watch;

use crate::{
    builder::{MemoryBuilder, MemoryOpenError, Progress},
    change::ChangeSeq,
    index_copy::{IndexCopy, Loaded},
    memory::{Draft, Inner, Memory},
    people,
    projection::{LazyProjection, Projection, ProjectionSource, ReadingTime},
    record::RecordId,
    store::{
        Store, StoreError,
        tables::{LOG_THROUGH, RECORD_COUNT},
    },
    vectors::Vectors,
};

/// How many records are read at a time while the projection is built.
const PAGE: usize = 1_000;

impl Memory {
    pub(crate) fn open_now(builder: MemoryBuilder, path: &Path) -> Result<Self, MemoryOpenError> {
        let store = Store::open(path, &builder.assistant)?;
        Self::over(builder, store, Some(IndexCopy::next_to(path)))
    }

    pub(crate) fn open_existing_now(
        builder: MemoryBuilder,
        path: &Path,
    ) -> Result<Self, MemoryOpenError> {
        let store = Store::open_existing(path)?;
        Self::over(builder, store, Some(IndexCopy::next_to(path)))
    }

    pub(crate) fn open_view_now(
        builder: MemoryBuilder,
        path: &Path,
    ) -> Result<Self, MemoryOpenError> {
        let store = Store::open_view(path)?;
        Self::over(builder, store, Some(IndexCopy::next_to(path)))
    }

    pub(crate) fn ephemeral_now(builder: MemoryBuilder) -> Result<Self, MemoryOpenError> {
        let store = Store::ephemeral(&builder.assistant)?;
        Self::over(builder, store, None)
    }

    fn over(
        builder: MemoryBuilder,
        store: Store,
        copy: Option<IndexCopy>,
    ) -> Result<Self, MemoryOpenError> {
        check_owner(&builder, &store)?;
        let file_id = store.read(|reading| reading.file_id())?;
        if let Some(copy) = copy.as_ref().filter(|_| store.view().is_none()) {
            copy.remove_unfinished();
        }
        let newest = store.read(|reading| reading.last_change())?;
        let head = copy.as_ref().and_then(|copy| copy.look(&file_id));
        let (time, copied) = match head {
            _ if builder.rebuild => (ReadingTime::Now, 0),
            None => (ReadingTime::of(newest, 0, 0), 0),
            Some(head) if is_of_this_file(&store, head.through, head.changed_at)? => (
                ReadingTime::of(newest, head.through, head.bytes),
                head.through,
            ),
            // The file was set back. It must not grow to the length of the copy before that is noticed.
            Some(_) => (ReadingTime::Now, 0),
        };
        let source = ProjectionSource {
            retrieval: builder.retrieval,
            progress: builder.progress,
            rebuild: builder.rebuild,
        };
        let (rows, log_through) = store.read(|reading| {
            let log_through = reading.state(LOG_THROUGH)?;
            Ok((reading.entities()?, log_through))
        })?;
        let entities = people::load(rows).map_err(|source| MemoryOpenError::Entities {
            path: file_of(&store),
            source,
        })?;
        let memory = Self {
            inner: Arc::new(Inner {
                open: watch::Sender::default(),
                store,
                file_id,
                copy,
                projection: LazyProjection::unread(source, newest),
                order: Mutex::new(Draft::of(&entities, 0)),
                entities: RwLock::new(entities),
                saved: AtomicU64::new(copied),
                log_on_disk: AtomicU64::new(log_through),
                log_taken_in: AtomicU64::new(log_through),
                behind: builder.behind,
                is_left_behind: AtomicBool::new(false),
                saving: Mutex::new(()),
                assistant: builder.assistant,
                clock: builder.clock,
                counter: builder.counter,
                vectors: builder.encoder.map(|encoder| {
                    let index = builder.vectors.unwrap_or_else(|| Arc::new(Exact::new()));
                    Vectors::new(encoder, index)
                }),
            }),
        };
        match time {
            ReadingTime::Now => memory.inner.read_projection()?,
            ReadingTime::Soon => memory.read_ahead(),
            ReadingTime::Later => {}
        }
        Ok(memory)
    }

    /// Reads the search index on another thread.
    fn read_ahead(&self) {
        let inner = Arc::clone(&self.inner);
        let read = move || {
            if let Err(error) = inner.read_projection() {
                tracing::warn!(%error, "the search index could not be read ahead");
            }
        };
        // Without a runtime it is read when it is needed.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(runtime.spawn_blocking(read));
        }
    }
}

/// The file of a store whose content was refused. A store without a file is new, so its content is never refused.
fn file_of(store: &Store) -> PathBuf {
    invariant!(store.path(), "a store without a file is new", Path::new("")).to_owned()
}

/// A memory belongs to one assistant.
fn check_owner(builder: &MemoryBuilder, store: &Store) -> Result<(), MemoryOpenError> {
    let owner = store.read(|reading| reading.assistant())?;
    if owner == builder.assistant.as_str() {
        return Ok(());
    }
    Err(MemoryOpenError::OtherAssistant {
        path: file_of(store),
        owner,
        asked: builder.assistant.clone(),
    })
}

/// The projection of the store, and the last change that was in the copy: the copy with the newer changes applied, or a new
/// projection of all records.
pub(crate) fn projected(
    source: &ProjectionSource,
    store: &Store,
    copy: Option<&IndexCopy>,
    file_id: &str,
) -> Result<(Projection, ChangeSeq), StoreError> {
    let newest = store.read(|reading| reading.last_change())?;
    let copy = copy.filter(|_| !source.rebuild);
    let loaded = copy.and_then(|copy| match copy.load(file_id, source.retrieval.clone()) {
        Ok(loaded) => loaded,
        Err(error) => {
            tracing::warn!(path = %copy.path().display(), %error, "the copy of the search index cannot be used and is made again");
            None
        }
    });
    match usable(store, copy, loaded)? {
        // Applying changes reads a record once for each of its changes. If more than half of all changes are newer than
        // the copy, reading every record once is faster.
        Some(copy) if newest - copy.through <= newest / 2 => {
            let saved = copy.through;
            Ok((caught_up(source, store, copy, newest)?, saved))
        }
        Some(_) | None => Ok((from_records(source, store, newest)?, 0)),
    }
}

/// The projection in the copy, if the store still holds the change up to which the copy was made.
fn usable(
    store: &Store,
    copy: Option<&IndexCopy>,
    loaded: Option<Loaded>,
) -> Result<Option<Projection>, StoreError> {
    let (Some(copy), Some(loaded)) = (copy, loaded) else {
        return Ok(None);
    };
    let Loaded {
        projection,
        changed_at,
    } = loaded;
    let through = projection.through;
    if is_of_this_file(store, through, changed_at)? {
        return Ok(Some(projection));
    }
    tracing::warn!(
        through,
        "the file was set back since the copy of the search index was made: the copy is made again"
    );
    // It would never be used, but it contains words that the file may no longer contain.
    if store.view().is_none()
        && let Err(error) = copy.remove()
    {
        tracing::warn!(%error, "the copy of the search index could not be removed");
    }
    Ok(None)
}

/// Whether the store has this change, made at this time.
fn is_of_this_file(
    store: &Store,
    through: ChangeSeq,
    changed_at: Timestamp,
) -> Result<bool, StoreError> {
    let known = store.read(|reading| reading.changed_at(through))?;
    Ok(through == 0 || known == Some(changed_at))
}

fn report(source: &ProjectionSource, done: u64, of: u64) {
    if let Some(report) = &source.progress {
        report(Progress {
            what: "reading records",
            done,
            of,
        });
    }
}

fn from_records(
    source: &ProjectionSource,
    store: &Store,
    newest: ChangeSeq,
) -> Result<Projection, StoreError> {
    let mut projection = Projection::new(source.retrieval.clone());
    let of = store.read(|reading| reading.state(RECORD_COUNT))?;
    let mut after = None;
    let mut done = 0;
    loop {
        let page = store.read(|reading| reading.page(after, PAGE))?;
        let Some(last) = page.last().map(|record| record.id) else {
            break;
        };
        for record in &page {
            projection.apply(record);
        }
        after = Some(last);
        done += page.len() as u64;
        report(source, done, of);
    }
    projection.through = newest;
    Ok(projection)
}

fn caught_up(
    source: &ProjectionSource,
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
            projection.apply(record);
        }
        done += last - through;
        projection.through = last;
        report(source, done, of);
    }
    Ok(projection)
}

#[cfg(test)]
mod tests;
