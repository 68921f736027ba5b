//! An index of entities by name.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::EntityId;

use crate::profile::Profile;

/// The ids behind each folded name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NameIndex(BTreeMap<String, BTreeSet<EntityId>>);

impl NameIndex {
    pub(super) fn add(&mut self, profile: &Profile) {
        for name in profile.names() {
            let ids = self.0.entry(fold(name.as_str())).or_default();
            ids.insert(profile.entity_id.clone());
        }
    }

    pub(super) fn remove(&mut self, profile: &Profile) {
        for name in profile.names() {
            let folded = fold(name.as_str());
            let Some(ids) = self.0.get_mut(&folded) else {
                continue;
            };
            ids.remove(&profile.entity_id);
            if ids.is_empty() {
                self.0.remove(&folded);
            }
        }
    }

    pub(super) fn known_as(&self, name: &str) -> Vec<&EntityId> {
        self.0.get(&fold(name)).into_iter().flatten().collect()
    }
}

/// The text in one case and with single spaces. Upper case comes first, so that "ß" and "SS" are equal.
pub(super) fn fold(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let folded = words.join(" ").to_lowercase();
    folded.to_uppercase().to_lowercase()
}
