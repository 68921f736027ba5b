//! The effect of a change, computed before it is applied, so that a refused change has no effect.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::EntityId;

use super::Entities;
use crate::{
    change::Touched,
    conversation::{Archive, Conversation},
    profile::Profile,
    removal::RemovedEntity,
};

/// New rows by id; `None` for a row to be removed.
type NewRows<T> = BTreeMap<EntityId, Option<T>>;

#[derive(Debug, Default)]
pub(super) struct ChangePlan {
    pub(super) profiles: NewRows<Profile>,
    pub(super) conversations: NewRows<Conversation>,
    pub(super) archives: NewRows<Archive>,
    pub(super) removed: NewRows<RemovedEntity>,
}

impl ChangePlan {
    pub(super) fn of_profile(profile: Profile) -> Self {
        let mut plan = Self::default();
        let id = profile.entity_id.clone();
        plan.profiles.insert(id, Some(profile));
        plan
    }

    pub(super) fn of_conversation(entity: &EntityId, conversation: Conversation) -> Self {
        let mut plan = Self::default();
        plan.conversations
            .insert(entity.clone(), Some(conversation));
        plan
    }
}

impl Entities {
    pub(super) fn carry_out(&mut self, plan: ChangePlan) -> Touched {
        for (id, new) in &plan.profiles {
            let old = self.profiles.get(id);
            if let (Some(old), Some(new)) = (old, new)
                && old.names().eq(new.names())
            {
                continue;
            }
            if let Some(old) = old {
                self.names.remove(old);
            }
            if let Some(new) = new {
                self.names.add(new);
            }
        }
        Touched {
            profiles: replace(&mut self.profiles, plan.profiles),
            conversations: replace(&mut self.conversations, plan.conversations),
            archives: replace(&mut self.archives, plan.archives),
            removed: replace(&mut self.removed, plan.removed),
        }
    }
}

/// Stores new rows, and returns the ids of rows that differ from the old ones.
fn replace<T: PartialEq>(rows: &mut BTreeMap<EntityId, T>, new: NewRows<T>) -> BTreeSet<EntityId> {
    let mut touched = BTreeSet::new();
    for (id, new) in new {
        if rows.get(&id) == new.as_ref() {
            continue;
        }
        match new {
            Some(new) => rows.insert(id.clone(), new),
            None => rows.remove(&id),
        };
        touched.insert(id);
    }
    touched
}
