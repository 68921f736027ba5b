//! What is known of an index without asking it: how far it is filled, and when it was last found complete.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::{change::ChangeSeq, record::Collection};

/// For how long an index that was complete counts as complete, unless a call shows otherwise.
const TRUSTED_FOR: Duration = Duration::from_secs(600);

/// How far an index is filled from an embedding space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexCheckpoint {
    /// The last change that is in the index.
    pub(crate) through: ChangeSeq,
    /// The collections that were made in the index. Only these are searched. If one of them is missing, the index lost it.
    pub(crate) made: BTreeSet<Collection>,
}

/// The result of the last count of a space's points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexCheck {
    /// All points were there.
    Complete(Instant),
    /// Some points are missing.
    Lost,
}

/// What is known of the index, by the number of the space.
#[derive(Debug, Default)]
pub(crate) struct IndexKnowledge(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// The checkpoints of an index that is empty after every start. Those of a lasting index are in the memory's file.
    volatile: BTreeMap<u32, IndexCheckpoint>,
    checks: BTreeMap<u32, IndexCheck>,
}

impl IndexKnowledge {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last check, unless it is too old to rely on.
    pub(crate) fn check(&self, space: u32) -> Option<IndexCheck> {
        let check = self.lock().checks.get(&space).copied();
        check.filter(|check| match check {
            IndexCheck::Complete(at) => at.elapsed() < TRUSTED_FOR,
            IndexCheck::Lost => true,
        })
    }

    pub(crate) fn set_check(&self, space: u32, check: IndexCheck) {
        self.lock().checks.insert(space, check);
    }

    /// Forgets that spaces were complete. After a failure a server may come back with other points, so they are counted
    /// again.
    pub(crate) fn doubt(&self) {
        let is_lost = |_: &u32, check: &mut IndexCheck| *check == IndexCheck::Lost;
        self.lock().checks.retain(is_lost);
    }

    /// The checkpoint of a volatile index; the start for a space that it holds nothing of.
    pub(crate) fn volatile_checkpoint(&self, space: u32) -> IndexCheckpoint {
        let known = self.lock();
        known.volatile.get(&space).cloned().unwrap_or_default()
    }

    pub(crate) fn set_volatile_checkpoint(&self, space: u32, checkpoint: IndexCheckpoint) {
        self.lock().volatile.insert(space, checkpoint);
    }

    pub(crate) fn forget(&self, space: u32) {
        let mut known = self.lock();
        known.volatile.remove(&space);
        known.checks.remove(&space);
    }
}
