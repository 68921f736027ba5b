//! The people in a log, by id and by name.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{
    AssistantId, Attribution, EntityId, FORGOTTEN, ReadEvents, Sender, StoredEvent, each_event,
};
use dormouse_entities::{EntityChange, MergedIds};
use dormouse_memory::MemoryChange;
use dormouse_text::{NameSkeleton, unescape_id};
use dormouse_tools::closest;
use serde::Deserialize;

use crate::{
    event::{EntityChanged, Event},
    replay::ReplayError,
};

/// How many similar names are named in an error.
const NEAREST: usize = 5;

/// Everybody who was heard or noted in a log, with all names, and which ids are one person.
#[derive(Clone, Debug, Default)]
pub struct KnownPeople {
    names: BTreeMap<EntityId, BTreeSet<String>>,
    merged: MergedIds,
    /// How many lines have this name and no id.
    lines: BTreeMap<String, u64>,
}

/// One person, and the lines that have only a name, so that no world attests whose they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Person {
    /// All ids. A person of whom only a name is known has none.
    pub ids: BTreeSet<EntityId>,
    /// Names of lines without an id, and how many lines have them. Nobody else has these names or similar ones, so the
    /// lines count as the person's.
    pub named: BTreeMap<String, u64>,
    /// The same for names that others also have. These lines count as nobody's.
    pub unclear: BTreeMap<String, u64>,
}

impl Person {
    /// A person with these ids.
    #[must_use]
    pub fn of_ids(ids: BTreeSet<EntityId>) -> Self {
        Self {
            ids,
            ..Self::default()
        }
    }

    /// Counts lines whose name others also have as this person's, too.
    #[must_use]
    pub fn with_unclear(mut self) -> Self {
        self.named.append(&mut self.unclear);
        self
    }

    /// Whether this comes from the person, or is about them.
    #[must_use]
    pub fn is(&self, who: &Attribution) -> bool {
        match who {
            Attribution::Entity { id, .. } => self.ids.contains(id),
            Attribution::Named(name) => self.named.contains_key(name),
            Attribution::Myself
            | Attribution::Surroundings
            | Attribution::Several
            | Attribution::Unknown => false,
        }
    }
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
        each_event(log, key, .., |stored| self.take_in(stored)).await
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
            "remembered" => {
                if let Event::Remembered(remembered) = Event::decode(stored)? {
                    self.line(&remembered.from);
                    remembered.about.iter().for_each(|about| self.line(about));
                }
            }
            "memory_changed" => {
                if let Event::MemoryChanged(changed) = Event::decode(stored)? {
                    match &changed.change {
                        MemoryChange::Added { notes } => {
                            notes.iter().for_each(|note| self.line(note.speaker()));
                        }
                        MemoryChange::Extracted { facts, .. } => {
                            facts.iter().for_each(|fact| self.line(fact.note.speaker()));
                        }
                        _ => {}
                    }
                }
            }
            "journal_changed" => {
                if let Event::JournalChanged(changed) = Event::decode(stored)? {
                    let entries = changed.entries();
                    entries.for_each(|entry| self.line(&entry.source_entity));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn line(&mut self, who: &Attribution) {
        if let Attribution::Named(name) = who
            && name != FORGOTTEN
        {
            *self.lines.entry(name.clone()).or_default() += 1;
        }
    }

    pub(super) fn name(&mut self, id: &EntityId, name: &str) {
        if !self.names.get(id).is_some_and(|names| names.contains(name)) {
            let names = self.names.entry(id.clone()).or_default();
            names.insert(name.to_owned());
        }
    }

    pub(super) fn change(&mut self, change: &EntityChange) {
        self.merged.apply(change);
        match change {
            EntityChange::Created { entity, name, .. } | EntityChange::Renamed { entity, name } => {
                self.name(entity, name.as_str());
            }
            EntityChange::AliasAdded { entity, alias } => self.name(entity, alias.as_str()),
            _ => {}
        }
    }

    /// The person whom a text means: by one of the ids, by a name that only this person has, or by a name that only lines
    /// without an id have.
    ///
    /// # Errors
    ///
    /// [`WhoError`] if that is nobody, or not one person.
    pub fn find(&self, who: &str) -> Result<Person, WhoError> {
        let by_id = self.names.keys().find(|id| id.as_str() == who);
        // The text may be an id in its printed form.
        let by_id = by_id.or_else(|| {
            let who = unescape_id(who);
            self.names.keys().find(|id| id.as_str() == who)
        });
        let people: BTreeSet<_> = match by_id {
            Some(id) => BTreeSet::from([self.merged.survivor(id)]),
            None => self.named(who),
        };
        let mut people = people.into_iter();
        match (people.next(), people.len()) {
            (Some(only), 0) => Ok(self.person(only)),
            (Some(first), _) => Err(WhoError::Several {
                who: who.to_owned(),
                known: [first].into_iter().chain(people).cloned().collect(),
            }),
            (None, _) => {
                let lines = self.lines_of(&[NameSkeleton::of(who)]);
                if lines.is_empty() {
                    return Err(WhoError::Unknown {
                        who: who.to_owned(),
                        nearest: self.nearest(who),
                    });
                }
                let lines = lines.into_iter();
                let (named, unclear) =
                    lines.partition(|(name, _)| self.looking_like(name).is_empty());
                Ok(Person {
                    ids: BTreeSet::new(),
                    named,
                    unclear,
                })
            }
        }
    }

    /// The person with this id.
    fn person(&self, id: &EntityId) -> Person {
        let ids = self.ids_of(id);
        let names = self.names_of(&ids);
        let names: Vec<_> = names.iter().map(|name| NameSkeleton::of(name)).collect();
        let is_only = |name: &String| {
            let mut looking_like = self.looking_like(name).into_iter();
            looking_like.all(|id| ids.contains(id))
        };
        let lines = self.lines_of(&names).into_iter();
        let (named, unclear) = lines.partition(|(name, _)| is_only(name));
        Person {
            ids,
            named,
            unclear,
        }
    }

    /// The lines with one of these names and no id.
    fn lines_of(&self, names: &[NameSkeleton]) -> BTreeMap<String, u64> {
        let lines = self.lines.iter().filter(|(name, _)| {
            let name = NameSkeleton::of(name);
            names.iter().any(|other| other.is_confusable_with(&name))
        });
        lines.map(|(name, count)| (name.clone(), *count)).collect()
    }

    /// Everybody who has a name that looks like this one.
    fn looking_like(&self, name: &str) -> BTreeSet<&EntityId> {
        let name = NameSkeleton::of(name);
        let people = self.names.iter().filter(|(_, names)| {
            let mut names = names.iter();
            names.any(|other| NameSkeleton::of(other).is_confusable_with(&name))
        });
        people.map(|(id, _)| self.merged.survivor(id)).collect()
    }

    fn ids_of(&self, person: &EntityId) -> BTreeSet<EntityId> {
        let known = self.names.keys().chain(self.merged.ids());
        let mut ids: BTreeSet<_> = known
            .filter(|id| self.merged.survivor(id) == person)
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

    /// Who has this name, each by one id.
    pub(super) fn named(&self, name: &str) -> BTreeSet<&EntityId> {
        let lower = name.to_lowercase();
        let named = self.names.iter().filter(|(_, names)| {
            let mut names = names.iter();
            names.any(|name| name.to_lowercase() == lower)
        });
        named.map(|(id, _)| self.merged.survivor(id)).collect()
    }

    /// How many people there are.
    #[must_use]
    pub fn count(&self) -> usize {
        let people: BTreeSet<_> = self
            .names
            .keys()
            .map(|id| self.merged.survivor(id))
            .collect();
        people.len()
    }

    /// Names that look alike or contain each other, then names that share most letters.
    fn nearest(&self, who: &str) -> Vec<String> {
        let (skeleton, lower) = (NameSkeleton::of(who), who.to_lowercase());
        let names: BTreeSet<_> = self.names.values().flatten().collect();
        let (alike, others): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| {
            let other = name.to_lowercase();
            let is_part = other.contains(&lower) || lower.contains(&other);
            is_part || NameSkeleton::of(name).is_confusable_with(&skeleton)
        });
        let near = alike.into_iter().chain(closest(who, others));
        let with_id = near.flat_map(|name| {
            let all = self.names.iter();
            let known = all.filter(move |(_, names)| names.contains(name));
            known.map(move |(id, _)| format!("{name} ({id})"))
        });
        with_id.take(NEAREST).collect()
    }
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
        let third = Person::of_ids(BTreeSet::from([id("#3")]));
        assert_eq!(people.find("#3"), Ok(third));
        let both = Person::of_ids(BTreeSet::from([id("#2"), id("#4")]));
        for who in ["Robert", "bob", "#4"] {
            assert_eq!(people.find(who).as_ref(), Ok(&both));
        }
    }

    #[test]
    fn a_line_with_only_a_name_is_of_the_one_person_who_has_it_or_one_that_looks_alike() {
        let mut people = people();
        // The first letter of the second is Cyrillic.
        for name in ["Bob", "\u{412}ob", "Robert", "Alice", "Mallory"] {
            people.line(&Attribution::Named(name.to_owned()));
        }
        let bob = people.find("bob").unwrap();
        assert_eq!(bob.ids.len(), 2);
        assert_eq!(
            bob.named.keys().collect::<Vec<_>>(),
            ["Bob", "Robert", "\u{412}ob"]
        );
        assert!(bob.unclear.is_empty());
        // Two people have this name.
        let alice = people.find("#1").unwrap();
        assert_eq!(
            (alice.named.len(), alice.unclear.get("Alice")),
            (0, Some(&1))
        );
        assert!(
            alice
                .with_unclear()
                .is(&Attribution::Named("Alice".to_owned()))
        );
        // Only a line has this name.
        let mallory = people.find("mallory").unwrap();
        assert!(mallory.ids.is_empty() && mallory.is(&Attribution::Named("Mallory".to_owned())));
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
