//! Who is known in a log, by id and by name.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{AssistantId, EntityId, ReadEvents, Sender, Seq, StoredEvent};
use dormouse_entities::EntityChange;
use dormouse_text::NameSkeleton;
use serde::Deserialize;

use crate::{
    event::{EntityChanged, Event},
    replay::{PAGE, ReplayError},
};

/// How many similar names are named in an error.
const NEAREST: usize = 5;

/// Everybody who was heard or noted in a log, with all names, and which ids are one person.
#[derive(Clone, Debug, Default)]
pub struct KnownPeople {
    names: BTreeMap<EntityId, BTreeSet<String>>,
    merged: BTreeMap<EntityId, EntityId>,
}

/// A text does not name exactly one person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WhoError {
    /// Nobody has this id or name.
    #[error("nobody has the id or name {who:?}{}", similar(nearest))]
    Unknown {
        /// The text.
        who: String,
        /// Names and ids that are similar, the most similar first.
        nearest: Vec<String>,
    },
    /// Several people have this name.
    #[error(
        "several people have the name {who:?}; give one of their ids: {}",
        ids(known)
    )]
    Several {
        /// The text.
        who: String,
        /// An id of each.
        known: Vec<EntityId>,
    },
}

fn similar(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        nearest => format!("; there is: {}", nearest.join(", ")),
    }
}

fn ids(known: &[EntityId]) -> String {
    let ids: Vec<_> = known.iter().map(EntityId::as_str).collect();
    ids.join(", ")
}

/// The part of a `perceived` event that names its sender.
#[derive(Deserialize)]
struct HeardFrom {
    perception: PerceptionFrom,
}

#[derive(Deserialize)]
struct PerceptionFrom {
    attested: AttestedFrom,
}

#[derive(Deserialize)]
struct AttestedFrom {
    sender: Sender,
}

impl KnownPeople {
    /// Reads the log of one assistant to its end, one page at a time, and adds everybody in it.
    ///
    /// # Errors
    ///
    /// [`ReplayError`], which names the first event that could not be read.
    pub async fn read<L: ReadEvents + ?Sized>(
        &mut self,
        log: &L,
        key: &AssistantId,
    ) -> Result<(), ReplayError> {
        let mut through = Seq::ZERO;
        loop {
            let page = log.read(key, through, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            through = last.seq;
            for stored in &page {
                self.take_in(stored)?;
            }
        }
    }

    fn take_in(&mut self, stored: &StoredEvent) -> Result<(), ReplayError> {
        match stored.kind.as_str() {
            "perceived" => {
                let heard = serde_json::from_slice::<HeardFrom>(&stored.payload);
                if let Ok(heard) = heard
                    && let sender = heard.perception.attested.sender
                    && let Some(id) = sender.id()
                {
                    self.name(id, sender.name());
                }
            }
            "entity_changed" => {
                if let Event::EntityChanged(EntityChanged { change, .. }) = Event::decode(stored)? {
                    self.change(&change);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn name(&mut self, id: &EntityId, name: &str) {
        if !self.names.get(id).is_some_and(|names| names.contains(name)) {
            let names = self.names.entry(id.clone()).or_default();
            names.insert(name.to_owned());
        }
    }

    fn change(&mut self, change: &EntityChange) {
        match change {
            EntityChange::Created { entity, name, .. } | EntityChange::Renamed { entity, name } => {
                self.name(entity, name.as_str());
            }
            EntityChange::AliasAdded { entity, alias } => self.name(entity, alias.as_str()),
            EntityChange::Merged { from, into } => {
                let (from, into) = (self.survivor(from).clone(), self.survivor(into).clone());
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

    fn survivor<'a>(&'a self, id: &'a EntityId) -> &'a EntityId {
        let mut survivor = id;
        for _ in 0..self.merged.len() {
            match self.merged.get(survivor) {
                Some(into) => survivor = into,
                None => break,
            }
        }
        survivor
    }

    /// All ids of the person whom a text means: by one of the ids, or by a name that only this person has.
    ///
    /// # Errors
    ///
    /// [`WhoError`] if that is nobody, or not one person.
    pub fn find(&self, who: &str) -> Result<BTreeSet<EntityId>, WhoError> {
        let by_id = self.names.keys().find(|id| id.as_str() == who);
        let lower = who.to_lowercase();
        let named = self.names.iter().filter(|(_, names)| {
            let mut names = names.iter();
            names.any(|name| name.to_lowercase() == lower)
        });
        let people: BTreeSet<_> = match by_id {
            Some(id) => BTreeSet::from([self.survivor(id)]),
            None => named.map(|(id, _)| self.survivor(id)).collect(),
        };
        let mut people = people.into_iter();
        match (people.next(), people.len()) {
            (Some(only), 0) => Ok(self.ids_of(only)),
            (Some(first), _) => Err(WhoError::Several {
                who: who.to_owned(),
                known: [first].into_iter().chain(people).cloned().collect(),
            }),
            (None, _) => Err(WhoError::Unknown {
                who: who.to_owned(),
                nearest: self.nearest(&lower),
            }),
        }
    }

    fn ids_of(&self, person: &EntityId) -> BTreeSet<EntityId> {
        let known = self.names.keys().chain(self.merged.keys());
        let mut ids: BTreeSet<_> = known
            .filter(|id| self.survivor(id) == person)
            .cloned()
            .collect();
        ids.insert(person.clone());
        ids
    }

    /// All names that these ids had.
    #[must_use]
    pub fn names_of(&self, ids: &BTreeSet<EntityId>) -> BTreeSet<String> {
        let names = ids.iter().filter_map(|id| self.names.get(id));
        names.flatten().cloned().collect()
    }

    /// How many people there are.
    #[must_use]
    pub fn count(&self) -> usize {
        let people: BTreeSet<_> = self.names.keys().map(|id| self.survivor(id)).collect();
        people.len()
    }

    /// Names that look alike or share letters, the most similar first.
    fn nearest(&self, lower: &str) -> Vec<String> {
        let skeleton = NameSkeleton::of(lower);
        let all = self.names.iter();
        let all = all.flat_map(|(id, names)| names.iter().map(move |name| (id, name)));
        let mut near: Vec<_> = all
            .filter_map(|(id, name)| {
                let other = name.to_lowercase();
                let looks_alike = NameSkeleton::of(name).is_confusable_with(&skeleton);
                let distance = match looks_alike {
                    true => 0,
                    false => distance(lower, &other),
                };
                let is_part = other.contains(lower) || lower.contains(other.as_str());
                let is_near = is_part || distance <= 1 + lower.chars().count() / 3;
                is_near.then(|| (distance, format!("{name} ({id})")))
            })
            .collect();
        near.sort();
        near.dedup();
        near.into_iter()
            .take(NEAREST)
            .map(|(_, name)| name)
            .collect()
    }
}

/// How many characters have to be added, left out or replaced to get from one text to the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (number, c) in one.chars().enumerate() {
        let mut diagonal = number;
        let mut left = number + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (place, with) in other.iter().enumerate() {
            let Some(here) = row.get_mut(place + 1) else {
                break;
            };
            let replaced = diagonal + usize::from(c != *with);
            diagonal = *here;
            left = replaced.min(left + 1).min(diagonal + 1);
            *here = left;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> EntityId {
        EntityId::try_new(text).unwrap()
    }

    fn people() -> KnownPeople {
        let mut people = KnownPeople::default();
        for (number, name) in [
            ("#1", "Alice"),
            ("#2", "Bob"),
            ("#3", "alice"),
            ("#4", "Robert"),
        ] {
            people.name(&id(number), name);
        }
        let merged = EntityChange::Merged {
            from: id("#4"),
            into: id("#2"),
        };
        people.change(&merged);
        people
    }

    #[test]
    fn two_people_of_one_name_are_two_and_two_ids_of_one_person_are_one() {
        let people = people();
        let known = vec![id("#1"), id("#3")];
        let who = "ALICE".to_owned();
        assert_eq!(people.find("ALICE"), Err(WhoError::Several { who, known }));
        assert_eq!(people.find("#3"), Ok(BTreeSet::from([id("#3")])));
        let both = BTreeSet::from([id("#2"), id("#4")]);
        for who in ["Robert", "bob", "#4"] {
            assert_eq!(people.find(who).as_ref(), Ok(&both));
        }
    }

    #[test]
    fn a_name_that_nobody_has_is_answered_with_similar_ones() {
        let error = people().find("Alicia").unwrap_err().to_string();
        assert_eq!(
            error,
            "nobody has the id or name \"Alicia\"; there is: Alice (#1), alice (#3)"
        );
        let error = people().find("Zacharias").unwrap_err().to_string();
        assert_eq!(error, "nobody has the id or name \"Zacharias\"");
    }
}
