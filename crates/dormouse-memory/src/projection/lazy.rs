//! The projection, which is read when it is needed first: a memory that nobody asks opens as fast as an empty one.

use std::{
    ops::Deref,
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic::Ordering},
};

use dormouse_retrieval::Config;

use super::Projection;
use crate::{
    builder::Progress,
    change::ChangeSeq,
    memory::{Inner, UNSAVED},
    opening,
    ops::Done,
    store::StoreError,
};

/// If the copy of a projection is longer than this, reading it takes long, so it begins when the memory is opened.
const LONG_BYTES: u64 = 64 << 20;

/// The projection of a memory, or how to read it.
pub(crate) struct LazyProjection {
    held: RwLock<Held>,
    source: ProjectionSource,
}

/// How a projection is read.
pub(crate) struct ProjectionSource {
    pub(crate) retrieval: Config,
    pub(crate) progress: Option<Box<dyn Fn(Progress) + Send + Sync>>,
    /// Whether the copy is ignored.
    pub(crate) rebuild: bool,
}

struct Held {
    /// Empty until it is read, except for its last change: reading it applies everything through that one.
    projection: Projection,
    is_read: bool,
}

/// When a projection is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadingTime {
    /// At once: so many changes are newer than the copy that reading takes long, and a new copy is worth it.
    Now,
    /// In the background, beginning at once.
    Soon,
    /// When it is needed.
    Later,
}

impl ReadingTime {
    /// When to read the projection of a store with this newest change, if its copy has the changes through `copied`.
    pub(crate) fn of(newest: ChangeSeq, copied: ChangeSeq, copy_bytes: u64) -> Self {
        if newest.saturating_sub(copied) >= UNSAVED {
            Self::Now
        } else if copy_bytes > LONG_BYTES {
            Self::Soon
        } else {
            Self::Later
        }
    }
}

/// The projection of all changes that are committed, while somebody looks at it.
pub(crate) struct ReadProjection<'a>(RwLockReadGuard<'a, Held>);

impl Deref for ReadProjection<'_> {
    type Target = Projection;

    fn deref(&self) -> &Projection {
        &self.0.projection
    }
}

impl LazyProjection {
    /// The projection of a store with this newest change. It is not read yet.
    pub(crate) fn unread(source: ProjectionSource, newest: ChangeSeq) -> Self {
        let mut projection = Projection::new(source.retrieval.clone());
        projection.through = newest;
        let is_read = false;
        Self {
            held: RwLock::new(Held {
                projection,
                is_read,
            }),
            source,
        }
    }

    /// The last change that the projection contains, or will contain when it is read.
    pub(crate) fn through(&self) -> ChangeSeq {
        self.held().projection.through
    }

    /// Forgets everything: this is the newest change of the store now. It is read again when it is needed.
    pub(crate) fn set_back(&self, newest: ChangeSeq) {
        let mut held = self.held_to_change();
        held.projection = Projection::new(self.source.retrieval.clone());
        held.projection.through = newest;
        held.is_read = false;
    }

    fn held(&self) -> RwLockReadGuard<'_, Held> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn held_to_change(&self) -> RwLockWriteGuard<'_, Held> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The projection. Blocks while it is read, the first time.
    pub(crate) fn projection(&self) -> Result<ReadProjection<'_>, StoreError> {
        let held = self.projection.held();
        if held.is_read {
            return Ok(ReadProjection(held));
        }
        drop(held);
        self.read_projection()?;
        Ok(ReadProjection(self.projection.held()))
    }

    /// Reads the projection, unless it was read before.
    pub(crate) fn read_projection(&self) -> Result<(), StoreError> {
        // A commit waits for this lock before its change is applied here. If reading has found that change in the
        // store already, applying it once more changes nothing.
        let mut held = self.projection.held_to_change();
        if !held.is_read {
            let (store, copy) = (&self.store, self.copy.as_ref());
            let source = &self.projection.source;
            let (projection, saved) = opening::projected(source, store, copy, &self.file_id)?;
            held.projection = projection;
            held.is_read = true;
            self.saved.store(saved, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Applies committed changes of records. The caller holds `order`.
    pub(crate) fn apply_to_projection(&self, done: &Done) {
        let through = {
            let mut held = self.projection.held_to_change();
            if held.is_read {
                for record in &done.records {
                    held.projection.apply(record);
                }
            }
            if let Some(last) = done.changes.last() {
                // Reading may have found later changes than these.
                held.projection.through = held.projection.through.max(last.seq);
            }
            if held.is_read {
                return;
            }
            held.projection.through
        };
        // Reads it now if many changes are newer than the copy. So the first question never waits for them.
        let copied = self.saved.load(Ordering::Relaxed);
        if ReadingTime::of(through, copied, 0) == ReadingTime::Now
            && let Err(error) = self.read_projection()
        {
            tracing::warn!(%error, "the search index could not be read; the next change tries again");
        }
    }

    /// Whether the projection has changes that would slow down the next start because its copy does not have them.
    pub(crate) fn is_worth_saving(&self) -> bool {
        let held = self.projection.held();
        let unsaved = self.saved.load(Ordering::Relaxed);
        held.is_read && held.projection.through.saturating_sub(unsaved) >= UNSAVED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_to_read_is_not_left_for_the_first_question() {
        assert_eq!(ReadingTime::of(0, 0, 0), ReadingTime::Later);
        assert_eq!(ReadingTime::of(999, 0, 0), ReadingTime::Later);
        assert_eq!(ReadingTime::of(1_000, 0, 0), ReadingTime::Now);
        assert_eq!(
            ReadingTime::of(100_999, 100_000, 48 << 20),
            ReadingTime::Later
        );
        assert_eq!(
            ReadingTime::of(101_000, 100_000, 48 << 20),
            ReadingTime::Now
        );
        assert_eq!(
            ReadingTime::of(1_000_000, 999_999, 400 << 20),
            ReadingTime::Soon
        );
    }
}
