//! The state as rows, for whoever keeps it.

use std::collections::BTreeSet;

use dormouse_contracts::EntityId;
use serde::{Deserialize, Serialize};

use super::{Entities, Removal, Removed, names::Names};
use crate::{
    conversation::{Archive, Conversation},
    profile::Profile,
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
    /// What was put away by deleting and merging.
    pub removed: Vec<Removed>,
}

/// Rows that cannot be those of one state. They come from a damaged or mixed store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowsError {
    /// Two rows of the same kind have the same id.
    #[error("there are two rows for {entity}")]
    Twice {
        /// Which id.
        entity: EntityId,
    },
    /// An id is known and put away at the same time.
    #[error("{entity} is both known and removed")]
    KnownAndRemoved {
        /// Which id.
        entity: EntityId,
    },
    /// A conversation belongs to nobody.
    #[error("there is a conversation with {entity}, but no profile")]
    NoProfile {
        /// Which id.
        entity: EntityId,
    },
    /// An id was merged into one that is neither known nor put away, or merges lead in a circle.
    #[error("{entity} was merged into nobody")]
    MergedIntoNobody {
        /// Which id.
        entity: EntityId,
    },
}

impl Entities {
    /// Puts a state together from its rows.
    ///
    /// # Errors
    ///
    /// [`RowsError`] names the first row that does not fit; nothing is guessed. A store rebuilds from its log then.
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
        let mut names = Names::default();
        entities.profiles.values().for_each(|p| names.add(p));
        entities.names = names;
        Ok(entities)
    }

    /// Every merge leads to somebody who is known or deleted.
    fn check_merges(&self) -> Result<(), RowsError> {
        for start in self.removed.keys() {
            let mut seen = BTreeSet::new();
            let mut id = start;
            while let Some(Removal::Merged { into, .. }) = self.removed.get(id).map(|r| &r.how) {
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

    /// All rows, by id; what [`from_rows`](Self::from_rows) takes.
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

    /// What was put away of exactly this id.
    #[must_use]
    pub fn removed_row(&self, entity: &EntityId) -> Option<&Removed> {
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
