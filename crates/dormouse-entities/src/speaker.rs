//! The speaker of a message, and the changes that follow from it.

use dormouse_contracts::{Attested, EntityId, Sender, Trust};

use crate::{
    change::EntityChange,
    entities::Entities,
    profile::{EntityType, Name},
};

/// The entity that sent a message, as its world attests it. Never read from the text.
#[must_use]
pub fn speaker_of(attested: &Attested) -> Option<&EntityId> {
    attested.sender.id()
}

impl Entities {
    /// The changes that follow from a message with this attested trust: a profile for a new entity, a new name, and the
    /// interaction. Pure; nothing is applied yet. Empty without a named sender, and for a deleted profile: an entity
    /// that was deleted on purpose stays deleted.
    #[must_use]
    pub fn heard(&self, attested: &Attested, trust: Trust) -> Vec<EntityChange> {
        let Some(entity) = speaker_of(attested) else {
            return Vec::new();
        };
        let name = Name::shortened(attested.sender.name());
        let mut changes = Vec::new();
        match self.profile(entity) {
            Some(profile) => changes.extend(self.new_name(entity, profile.names(), name)),
            None if self.removed_row(entity).is_some() => return Vec::new(),
            None => {
                let Some(name) = name.or_else(|| Name::shortened(entity.as_str())) else {
                    return Vec::new();
                };
                changes.push(EntityChange::Created {
                    entity: entity.clone(),
                    entity_type: match attested.sender {
                        Sender::Assistant { .. } => EntityType::Npc,
                        _ => EntityType::Player,
                    },
                    name,
                });
            }
        }
        changes.push(EntityChange::Interacted {
            entity: entity.clone(),
            trust,
        });
        changes
    }

    /// An entity with a new name is renamed; a merged one gets the name as an alias.
    fn new_name<'a>(
        &self,
        entity: &EntityId,
        mut known: impl Iterator<Item = &'a Name>,
        name: Option<Name>,
    ) -> Option<EntityChange> {
        let name = name?;
        let is_merged = self.resolve(entity) != Some(entity);
        let entity = entity.clone();
        if is_merged {
            let is_known = known.any(|known| *known == name);
            return (!is_known).then_some(EntityChange::AliasAdded {
                entity,
                alias: name,
            });
        }
        let goes_by = known.next();
        (goes_by != Some(&name)).then_some(EntityChange::Renamed { entity, name })
    }
}
