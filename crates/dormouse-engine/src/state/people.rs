//! The people who were heard, with their names, so that nobody passes for somebody else by a name that looks alike.

use std::collections::VecDeque;

use dormouse_contracts::{Attested, Attribution, EntityId, WorldId};
use dormouse_text::{NameFlaw, NameSkeleton};
use serde::{Deserialize, Serialize};

use crate::event::{Event, NameDoubt};

/// How many people a state knows by name. It first forgets those who have been silent for longest.
const PEOPLE_KEPT: usize = 500;

/// The people that were heard lately, most recently heard last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct People(VecDeque<Person>);

/// Somebody who was heard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Person {
    world: WorldId,
    id: EntityId,
    name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    doubts: Vec<NameDoubt>,
}

impl Person {
    fn is(&self, attested: &Attested) -> bool {
        attested.sender.id() == Some(&self.id) && self.world == attested.delivery.world
    }
}

impl People {
    pub(crate) fn apply(&mut self, event: &Event) {
        if let Event::Perceived(perceived) = event {
            self.meet(&perceived.perception.attested, &perceived.doubts);
        }
    }

    /// Whether somebody was heard before, under the name they have now.
    pub(crate) fn knows(&self, attested: &Attested) -> bool {
        self.find(attested).is_some()
    }

    /// Whom a text means: the one with this id, or the only one with this name. If nobody or more than one has the name,
    /// only the name is known.
    pub(crate) fn attribution(&self, who: &str) -> Attribution {
        let by_id = self.0.iter().find(|person| person.id.as_str() == who);
        let lower = who.to_lowercase();
        let mut named = self
            .0
            .iter()
            .filter(|person| person.name.to_lowercase() == lower);
        let only = named.next().filter(|_| named.next().is_none());
        match by_id.or(only) {
            Some(person) => Attribution::entity(person.id.clone(), &*person.name),
            None => Attribution::Named(who.to_owned()),
        }
    }

    fn find(&self, attested: &Attested) -> Option<&Person> {
        let name = attested.sender.name();
        (self.0.iter()).find(|person| person.is(attested) && person.name == name)
    }

    /// What makes the name of a sender suspicious. `own` are the names of the assistant.
    ///
    /// A person keeps the doubts under which their name was first heard. So an imitator does not make the first bearer
    /// of a name suspicious.
    pub(crate) fn doubts<'a>(
        &self,
        attested: &Attested,
        own: impl IntoIterator<Item = &'a str>,
    ) -> Vec<NameDoubt> {
        let Some(id) = attested.sender.id() else {
            return Vec::new();
        };
        if let Some(known) = self.find(attested) {
            return known.doubts.clone();
        }
        let name = attested.sender.name();
        let skeleton = NameSkeleton::of(name);
        let mut doubts: Vec<_> = NameFlaw::of(name)
            .map(NameDoubt::from)
            .into_iter()
            .collect();
        if own
            .into_iter()
            .any(|own| NameSkeleton::of(own).is_confusable_with(&skeleton))
        {
            doubts.push(NameDoubt::LooksLikeYou);
        }
        let world = &attested.delivery.world;
        let mut others = (self.0.iter()).filter(|other| other.id != *id && other.world == *world);
        let alike =
            others.find(|other| NameSkeleton::of(&other.name).is_confusable_with(&skeleton));
        doubts.extend(alike.map(|other| NameDoubt::LooksLike(other.id.clone())));
        doubts
    }

    /// Records that somebody was heard.
    pub(crate) fn meet(&mut self, attested: &Attested, doubts: &[NameDoubt]) {
        let Some(id) = attested.sender.id() else {
            return;
        };
        self.0.retain(|person| !person.is(attested));
        self.0.push_back(Person {
            world: attested.delivery.world.clone(),
            id: id.clone(),
            name: attested.sender.name().to_owned(),
            doubts: doubts.to_vec(),
        });
        let surplus = self.0.len().saturating_sub(PEOPLE_KEPT);
        self.0.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use dormouse_testing::Perceive;
    use proptest::prelude::*;

    use super::*;

    fn heard(name: &str) -> Attested {
        Perceive::say(name, "hello").build().attested
    }

    fn meet(people: &mut People, name: &str) -> Vec<NameDoubt> {
        let attested = heard(name);
        let doubts = people.doubts(&attested, ["dormouse"]);
        people.meet(&attested, &doubts);
        doubts
    }

    #[test]
    fn whoever_comes_second_with_a_name_of_the_same_look_is_doubted_and_stays_so() {
        let mut people = People::default();
        let alice = heard("Alice").sender.id().unwrap().clone();
        for _ in 0..2 {
            assert_eq!(meet(&mut people, "Alice"), []);
            assert_eq!(
                meet(&mut people, "AIice"),
                [NameDoubt::LooksLike(alice.clone())]
            );
        }
        assert_eq!(meet(&mut people, "Dorrnouse"), [NameDoubt::LooksLikeYou]);
        assert_eq!(meet(&mut people, "Bоb"), [NameDoubt::MixedScripts]);
    }

    #[test]
    fn ever_so_many_people_take_bounded_room() {
        let mut people = People::default();
        for number in 0..PEOPLE_KEPT + 50 {
            people.meet(&heard(&format!("guest {number}")), &[]);
        }
        assert_eq!(people.0.len(), PEOPLE_KEPT);
        assert!(people.knows(&heard("guest 60")) && !people.knows(&heard("guest 10")));
    }

    proptest! {
        #[test]
        fn two_who_look_alike_are_never_both_without_doubt(
            names in prop::collection::vec("[AaIil1]{1,3}\u{200d}?", 1..12),
        ) {
            let mut people = People::default();
            let doubts: Vec<_> = names.iter().map(|name| meet(&mut people, name)).collect();
            for (one, doubted) in names.iter().zip(&doubts) {
                for (other, also_doubted) in names.iter().zip(&doubts) {
                    let alike = NameSkeleton::of(one).is_confusable_with(&NameSkeleton::of(other));
                    let neither = doubted.is_empty() && also_doubted.is_empty();
                    prop_assert!(one == other || !alike || !neither, "{one:?} {other:?}");
                }
            }
        }
    }
}
