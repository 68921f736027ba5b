//! The state as rows, for a store.

use std::collections::BTreeSet;

use dormouse_contracts::EntityId;
use serde::{Deserialize, Serialize};

use super::{Entities, names::NameIndex};
use crate::{
    conversation::{Archive, Conversation},
    profile::Profile,
    removal::{EntityRemoval, RemovedEntity},
};

/// All rows of [`Entities`], in any order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// The profiles.
    pub profiles: Vec<Profile>,
    /// The running conversations.
    pub conversations: Vec<(EntityId, Conversation)>,
    /// The former conversations.
    pub archives: Vec<(EntityId, Archive)>,
    /// The deleted and merged entities.
    pub removed: Vec<RemovedEntity>,
}

/// Rows that do not form a valid state, because the store is damaged or has rows of different states.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowsError {
    /// Two rows of a kind have the same id.
    #[error("there are two rows for {entity}")]
    Twice {
        /// The id.
        entity: EntityId,
    },
    /// An id is both known and removed.
    #[error("{entity} is both known and removed")]
    KnownAndRemoved {
        /// The id.
        entity: EntityId,
    },
    /// A conversation belongs to an unknown entity.
    #[error("there is a conversation with {entity}, but no profile")]
    NoProfile {
        /// The id.
        entity: EntityId,
    },
    /// An id was merged into one that is neither known nor removed, or the merges form a cycle.
    #[error("{entity} was merged into nobody")]
    MergedIntoNobody {
        /// The id.
        entity: EntityId,
    },
}

impl Entities {
    /// Restores a state from its rows.
    ///
    /// # Errors
    ///
    /// [`RowsError`] with the first invalid row. A store then rebuilds the state from its log.
    pub fn from_rows(rows: Rows) -> Result<Self, RowsError> {
        let mut entities = Self::new();
        for profile in rows.profiles {
            let id = profile.entity_id.clone();
            if let Some(twice) = entities.profiles.insert(id, profile) {
                return Err(RowsError::Twice {
                    entity: twice.entity_id,
                });
            }
        }
        for removed in rows.removed {
            let id = removed.kept.profile.entity_id.clone();
            if entities.profiles.contains_key(&id) {
                return Err(RowsError::KnownAndRemoved { entity: id });
            }
            if entities.removed.insert(id.clone(), removed).is_some() {
                return Err(RowsError::Twice { entity: id });
            }
        }
        for (id, conversation) in rows.conversations {
            if !entities.profiles.contains_key(&id) {
                return Err(RowsError::NoProfile { entity: id });
            }
            if entities
                .conversations
                .insert(id.clone(), conversation)
                .is_some()
            {
                return Err(RowsError::Twice { entity: id });
            }
        }
        for (id, archive) in rows.archives {
            if entities.archives.insert(id.clone(), archive).is_some() {
                return Err(RowsError::Twice { entity: id });
            }
        }
        entities.check_merges()?;
        let mut names = NameIndex::default();
        entities.profiles.values().for_each(|p| names.add(p));
        entities.names = names;
        Ok(entities)
    }

    /// Checks that every merge leads to a known or deleted entity.
    fn check_merges(&self) -> Result<(), RowsError> {
        for start in self.removed.keys() {
            let mut seen = BTreeSet::new();
            let mut id = start;
            while let Some(EntityRemoval::Merged { into, .. }) =
                self.removed.get(id).map(|r| &r.how)
            {
                let leads_somewhere =
                    self.profiles.contains_key(into) || self.removed.contains_key(into);
                if !seen.insert(id) || !leads_somewhere {
                    return Err(RowsError::MergedIntoNobody {
                        entity: start.clone(),
                    });
                }
                id = into;
            }
        }
        Ok(())
    }

    /// All rows, by id, for [`from_rows`](Self::from_rows).
    #[must_use]
    pub fn to_rows(&self) -> Rows {
        fn pairs<T: Clone>(rows: &std::collections::BTreeMap<EntityId, T>) -> Vec<(EntityId, T)> {
            let pairs = rows.iter();
            pairs.map(|(id, row)| (id.clone(), row.clone())).collect()
        }
        Rows {
            profiles: self.profiles.values().cloned().collect(),
            conversations: pairs(&self.conversations),
            archives: pairs(&self.archives),
            removed: self.removed.values().cloned().collect(),
        }
    }

    /// The profile of exactly this id, without following merges.
    #[must_use]
    pub fn profile_row(&self, entity: &EntityId) -> Option<&Profile> {
        self.profiles.get(entity)
    }

    /// The running conversation of exactly this id.
    #[must_use]
    pub fn conversation_row(&self, entity: &EntityId) -> Option<&Conversation> {
        self.conversations.get(entity)
    }

    /// The former conversations of exactly this id.
    #[must_use]
    pub fn archive_row(&self, entity: &EntityId) -> Option<&Archive> {
        self.archives.get(entity)
    }

    /// The removed state of exactly this id.
    #[must_use]
    pub fn removed_row(&self, entity: &EntityId) -> Option<&RemovedEntity> {
        self.removed.get(entity)
    }
}

impl TryFrom<Rows> for Entities {
    type Error = RowsError;
    fn try_from(rows: Rows) -> Result<Self, RowsError> {
        Self::from_rows(rows)
    }
}

impl From<Entities> for Rows {
    fn from(entities: Entities) -> Self {
        Self {
            profiles: entities.profiles.into_values().collect(),
            conversations: entities.conversations.into_iter().collect(),
            archives: entities.archives.into_iter().collect(),
            removed: entities.removed.into_values().collect(),
        }
    }
}
