//! Opening a memory: its file, and the projection of what is in it.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, RwLock, atomic::AtomicU64},
};

use dormouse_vectors::Exact;

use super::{Inner, Memory, inner::Draft};
use crate::{
    builder::{MemoryBuilder, OpenError, Progress},
    change::ChangeSeq,
    feed::Vectors,
    people,
    projection::{self, Projection},
    record::RecordId,
    store::{Store, StoreError, tables::NEXT_RECORD},
};

/// How many records are read at a time while the projection is made.
const PAGE: usize = 1_000;

impl Memory {
    pub(crate) fn open_now(builder: MemoryBuilder, path: &Path) -> Result<Self, OpenError> {
        let id = format!("{}-{}", builder.assistant, builder.clock.now().as_micros());
        let store = Store::open(path, &id)?;
        Self::over(builder, store)
    }

    pub(crate) fn open_existing_now(
        builder: MemoryBuilder,
        path: &Path,
    ) -> Result<Self, OpenError> {
        let store = Store::open_existing(path)?;
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
                order: Mutex::new(Draft::of(&entities)),
                entities: RwLock::new(entities),
                saved: AtomicU64::new(saved),
                saving: Mutex::new(()),
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
}

/// Where the copy of the projection lies.
pub(super) fn copy_path(store: &Path) -> PathBuf {
    // The whole name and more, so that it is no other file's, whatever the store is called.
    let mut name = store.as_os_str().to_owned();
    name.push(".index");
    name.into()
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
    if let Some(copy) = copy.as_ref().filter(|copy| copy.through > newest)
        && let Some(path) = store.path().map(copy_path)
    {
        // The file has been set back. Once as much is written anew, the copy would pass for one of it.
        tracing::warn!(
            through = copy.through,
            newest,
            "the copy of the search index is of a newer file"
        );
        projection::remove(&path).map_err(|error| StoreError::disk(&path, error))?;
    }
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
    let of = store.read(|reading| reading.state(NEXT_RECORD))?;
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
