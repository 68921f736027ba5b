//! The copy of the entities on which a change is tried before it is on disk.

use dormouse_entities::Entities;

/// The working copy of the thread that holds the lock of all changes.
pub(crate) struct Draft {
    /// The people and things, as they will be if the change commits. Readers never see it.
    pub(super) entities: Entities,
    /// Whether it may differ from what is on disk: a write that reported a failure may have been committed all the same.
    pub(super) is_uncertain: bool,
}

impl Draft {
    pub(crate) fn of(entities: &Entities) -> Self {
        Self {
            entities: entities.clone(),
            is_uncertain: false,
        }
    }
}
