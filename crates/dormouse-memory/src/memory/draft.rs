//! The copy of the entities on which a change is tried before it is on disk.

use dormouse_entities::Entities;

/// The working copy of the thread that holds the lock of all changes.
pub(crate) struct Draft {
    /// The people and things, as they will be if the change commits. Readers never see it.
    pub(super) entities: Entities,
    /// Whether it may differ from what is in the store: a write that reported a failure may have been committed all the same.
    pub(super) is_uncertain: bool,
    /// How many times the store had been closed by a failure when the entities were those of the store.
    pub(super) closed: u64,
}

impl Draft {
    pub(crate) fn of(entities: &Entities, closed: u64) -> Self {
        Self {
            entities: entities.clone(),
            is_uncertain: false,
            closed,
        }
    }
}
