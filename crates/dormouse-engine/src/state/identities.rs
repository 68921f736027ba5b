//! Which ids belong to one person, and which to the assistant itself.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{Attested, Audience, EntityId, Sender, SourceKind};
use dormouse_entities::EntityChange;
use serde::{Deserialize, Serialize};

use crate::event::Event;

/// Which ids belong to one person, and which to the assistant itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identities {
    /// Ids that the operator merged, each with the id that represents it.
    merged: BTreeMap<EntityId, EntityId>,
    /// The ids of the assistant in its worlds, as far as they are known.
    own: BTreeSet<EntityId>,
}

impl Identities {
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::Perceived(perceived) => {
                self.own.extend(listener(&perceived.perception.attested))
            }
            Event::EntityChanged(changed) => self.change(&changed.change),
            _ => {}
        }
    }

    fn change(&mut self, change: &EntityChange) {
        match change {
            EntityChange::Merged { from, into } => {
                let (from, into) = (self.id_of(from).clone(), self.id_of(into).clone());
                // Otherwise following merged ids would loop for ever.
                if from != into {
                    self.merged.insert(from, into);
                }
            }
            EntityChange::Unmerged { entity } => {
                self.merged.remove(entity);
            }
            _ => {}
        }
    }

    /// The ids of the assistant in its worlds, as far as they are known.
    pub(crate) fn own(&self) -> impl Iterator<Item = &EntityId> {
        self.own.iter()
    }

    /// Whether anybody has more than one id.
    pub(crate) fn has_merged(&self) -> bool {
        !self.merged.is_empty()
    }

    /// The same audience with all ids of each person in it.
    pub(crate) fn all_of(&self, audience: &Audience) -> Audience {
        let known = self.merged.keys().chain(self.merged.values());
        let known: BTreeSet<_> = known.collect();
        let of_them = known
            .into_iter()
            .filter(|id| audience.includes(self.id_of(id)) == Some(true));
        of_them.fold(audience.clone(), |all, id| all.with(id.clone()))
    }

    /// Who sent a message: the id that represents them, or a name if the world gives no id.
    pub(crate) fn person<'a>(&'a self, sender: &'a Sender) -> &'a str {
        let id = sender.id().map(|id| self.id_of(id));
        id.map_or(sender.name(), EntityId::as_str)
    }

    /// The id that represents somebody.
    pub(crate) fn id_of<'a>(&'a self, entity: &'a EntityId) -> &'a EntityId {
        let mut id = entity;
        while let Some(into) = self.merged.get(id) {
            id = into;
        }
        id
    }
}

/// The entity that is whispered to or paged: the assistant itself, if the world lists nobody but it and the speaker.
fn listener(attested: &Attested) -> Option<EntityId> {
    let is_for_one = matches!(attested.source, SourceKind::Whisper | SourceKind::Page);
    let (true, Some(Audience::Entities(both)), Some(speaker)) =
        (is_for_one, &attested.audience, attested.sender.id())
    else {
        return None;
    };
    let mut others = both.iter().filter(|id| *id != speaker);
    let listener = others.next().filter(|_| both.contains(speaker));
    listener.filter(|_| others.next().is_none()).cloned()
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::Author;
    use dormouse_testing::Perceive;
    use proptest::prelude::*;

    use super::*;
    use crate::event::EntityChanged;

    fn id(number: u8) -> EntityId {
        EntityId::try_new(format!("#{number}")).unwrap()
    }

    fn changed(change: EntityChange) -> Event {
        Event::EntityChanged(EntityChanged {
            change,
            author: Author::Operator("florian".to_owned()),
            reason: "one person".to_owned(),
        })
    }

    #[test]
    fn the_assistant_learns_its_id_from_what_is_said_to_it_alone() {
        let all = |names: &[&str]| -> Audience {
            let ids = names.iter().map(|name| EntityId::try_new(*name).unwrap());
            ids.collect()
        };
        let me = EntityId::try_new("npc:me").unwrap();
        for (audience, listens) in [
            (Some(all(&["player:Alice", "npc:me"])), Some(me)),
            (Some(all(&["player:Alice", "npc:me", "player:Bob"])), None),
            (Some(all(&["player:Bob", "npc:me"])), None),
            (Some(all(&["player:Alice"])), None),
            (Some(Audience::Public), None),
            (None, None),
        ] {
            let mut attested = Perceive::whisper("Alice", "hello").build().attested;
            attested.audience = audience;
            assert_eq!(listener(&attested), listens, "{attested:?}");
            attested.source = SourceKind::Say;
            assert_eq!(listener(&attested), None);
        }
    }

    proptest! {
        #[test]
        fn merged_ids_are_one_until_they_are_unmerged(steps in prop::collection::vec((0_u8..6, prop::option::of(0_u8..6)), 0..30)) {
            let mut merged = Identities::default();
            for (entity, into) in steps {
                let entity = id(entity);
                merged.apply(&changed(match into {
                    Some(into) => EntityChange::Merged { from: entity.clone(), into: id(into) },
                    None => EntityChange::Unmerged { entity: entity.clone() },
                }));
                match into {
                    Some(into) => {
                        let into = id(into);
                        prop_assert_eq!(merged.id_of(&entity), merged.id_of(&into));
                    }
                    None => prop_assert_eq!(merged.id_of(&entity), &entity),
                }
            }
        }
    }
}
