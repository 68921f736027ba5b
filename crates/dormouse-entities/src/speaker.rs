//! Whom a message comes from, and what follows from it for what is known.

use dormouse_contracts::{Attested, EntityId, Sender, Trust};

use crate::{
    change::Change,
    entities::Entities,
    profile::{EntityType, Name},
};

/// The entity that a message comes from, as its world attests it. Never read from the text.
#[must_use]
pub fn speaker_of(attested: &Attested) -> Option<&EntityId> {
    attested.sender.id()
}

impl Entities {
    /// The changes that follow from having heard a message, attested as far as `trust`: a profile for somebody new, a new
    /// name, and the interaction. Pure; nothing is changed yet. Empty where nobody is named, and where the profile was
    /// deleted: who was forgotten on purpose stays so.
    #[must_use]
    pub fn heard(&self, attested: &Attested, trust: Trust) -> Vec<Change> {
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
                changes.push(Change::Created {
                    entity: entity.clone(),
                    entity_type: match attested.sender {
                        Sender::Assistant { .. } => EntityType::Npc,
                        _ => EntityType::Player,
                    },
                    name,
                });
            }
        }
        changes.push(Change::Interacted {
            entity: entity.clone(),
            trust,
        });
        changes
    }

    /// Somebody heard under a new name is renamed; one that was merged into another is known by it, too.
    fn new_name<'a>(
        &self,
        entity: &EntityId,
        mut known: impl Iterator<Item = &'a Name>,
        name: Option<Name>,
    ) -> Option<Change> {
        let name = name?;
        let is_merged = self.resolve(entity) != Some(entity);
        let entity = entity.clone();
        if is_merged {
            let is_known = known.any(|known| *known == name);
            return (!is_known).then_some(Change::AliasAdded {
                entity,
                alias: name,
            });
        }
        let goes_by = known.next();
        (goes_by != Some(&name)).then_some(Change::Renamed { entity, name })
    }
}
