//! Which ids belong to the same entity.

use std::collections::BTreeMap;

use dormouse_contracts::EntityId;
use serde::{Deserialize, Serialize};

use crate::change::EntityChange;

/// Which ids were merged into which others: a fold over the changes of a log, for a reader that keeps no profiles.
///
/// After the same accepted changes it gives the same answers as [`Entities`](crate::Entities), with one exception:
/// after a purge, the ids of the purged entity still belong together here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MergedIds {
    into: BTreeMap<EntityId, EntityId>,
}

impl MergedIds {
    /// Applies a change. Only merges, and what reverts them, have an effect.
    pub fn apply(&mut self, change: &EntityChange) {
        match change {
            EntityChange::Merged { from, into } => {
                let (from, into) = (self.survivor(from).clone(), self.survivor(into).clone());
                if from != into {
                    self.into.insert(from, into);
                }
            }
            EntityChange::Unmerged { entity } => {
                self.into.remove(entity);
            }
            _ => {}
        }
    }

    /// The id that represents the entity with this one, with merges followed to the end.
    #[must_use]
    pub fn survivor<'a>(&'a self, id: &'a EntityId) -> &'a EntityId {
        let mut survivor = id;
        // `apply` makes no cycle, but a damaged snapshot may hold one.
        for _ in 0..self.into.len() {
            match self.into.get(survivor) {
                Some(into) => survivor = into,
                None => break,
            }
        }
        survivor
    }

    /// The ids that were merged into others, in order.
    pub fn ids(&self) -> impl Iterator<Item = &EntityId> {
        self.into.keys()
    }

    /// Whether no id was merged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.into.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Entities, testkit};

    #[test]
    fn a_damaged_table_with_a_cycle_still_gives_an_answer() {
        let ids: MergedIds = serde_json::from_str(r##"{"#1": "#2", "#2": "#1"}"##).unwrap();
        let one = EntityId::try_new("#1").unwrap();
        assert!(["#1", "#2"].contains(&ids.survivor(&one).as_str()));
    }

    proptest! {
        #[test]
        fn until_a_purge_an_id_belongs_to_the_same_entity_as_in_the_profiles(
            changes in testkit::changes(80),
            ends in prop::collection::vec(testkit::ends(), 0..40),
        ) {
            let (mut entities, mut ids) = (Entities::new(), MergedIds::default());
            let is_purge = |change: &&EntityChange| matches!(change, EntityChange::Purged { .. });
            for change in changes.iter().chain(&ends).filter(|change| !is_purge(change)) {
                if entities.apply(change, testkit::at(0)).is_ok() {
                    ids.apply(change);
                }
                for one in ["#1", "#2", "#3", "#4"].map(testkit::id) {
                    prop_assert_eq!(ids.survivor(&one), entities.survivor(&one));
                }
            }
        }
    }
}
