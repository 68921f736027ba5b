//! The people who were heard: their names, so that nobody can impersonate somebody else with a similar name; and what a
//! server attested about them before, which decides their trust.

use std::collections::{BTreeSet, VecDeque};

use dormouse_classify::SenderHistory;
use dormouse_contracts::{Attested, Attribution, EntityId, Timestamp, Trust, WorldId};
use dormouse_entities::{EntityChange, MergedIds, Metric, Relationship};
use dormouse_text::{NameFlaw, NameSkeleton};
use serde::{Deserialize, Serialize};

use crate::event::{Event, NameDoubt};

/// How many people a state knows by name. It first drops those who have been silent longest.
const PEOPLE_KEPT: usize = 500;

/// The people that were heard lately.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct People {
    /// Most recently heard last.
    heard: VecDeque<Person>,
    /// Ids that the operator merged into others, because one person has them all.
    #[serde(default, skip_serializing_if = "MergedIds::is_empty")]
    merged: MergedIds,
}

/// Somebody who was heard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Person {
    world: WorldId,
    id: EntityId,
    name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    doubts: Vec<NameDoubt>,
    /// Computed by the same rule as the relationship in the memory. The memory may lag behind the log, so the state
    /// keeps its own.
    relationship: Relationship,
}

impl Person {
    fn is(&self, attested: &Attested) -> bool {
        attested.sender.id() == Some(&self.id) && self.world == attested.delivery.world
    }
}

impl People {
    pub(crate) fn apply(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Perceived(perceived) => {
                let attested = &perceived.perception.attested;
                self.meet(attested, &perceived.doubts, perceived.source_trust(), at);
            }
            Event::EntityChanged(changed) => self.change(&changed.change, at),
            Event::Forgotten(forgotten) => {
                let ids: BTreeSet<_> = forgotten.selected.ids().collect();
                self.heard.retain(|person| !ids.contains(&person.id));
            }
            _ => {}
        }
    }

    /// Applies a change of merged ids or of somebody's trust. The assistant's own calls cannot make such a change.
    fn change(&mut self, change: &EntityChange, at: Timestamp) {
        self.merged.apply(change);
        match change {
            EntityChange::MetricSet {
                entity,
                metric: metric @ Metric::Trust(_),
            } => {
                let who = self.merged.survivor(entity);
                for person in &mut self.heard {
                    if self.merged.survivor(&person.id) == who {
                        person.relationship.set(*metric, at);
                    }
                }
            }
            EntityChange::Deleted { entity } => {
                let deleted = self.heard.iter_mut().filter(|person| person.id == *entity);
                deleted.for_each(|person| person.relationship = Relationship::default());
            }
            _ => {}
        }
    }

    /// The id that represents the person with this one.
    pub(crate) fn survivor<'a>(&'a self, id: &'a EntityId) -> &'a EntityId {
        self.merged.survivor(id)
    }

    /// What a server attested about the sender before. For a person with several ids, the lowest trust counts.
    pub(crate) fn history(&self, attested: &Attested) -> Option<SenderHistory> {
        let who = self.survivor(attested.sender.id()?);
        let same = self
            .heard
            .iter()
            .filter(|person| self.survivor(&person.id) == who);
        let histories = same.map(|person| SenderHistory {
            interactions: person.relationship.interaction_count(),
            trust: person.relationship.trust(),
        });
        histories.reduce(|one, other| SenderHistory {
            interactions: one.interactions.saturating_add(other.interactions),
            trust: one.trust.lowest(other.trust),
        })
    }

    /// Whether somebody was heard before, under the name they have now.
    pub(crate) fn knows(&self, attested: &Attested) -> bool {
        self.find(attested).is_some()
    }

    /// Whom a text means: the person with this id, or the only person with this name. If the name is unknown or
    /// ambiguous, the result is only a name.
    pub(crate) fn attribution(&self, who: &str) -> Attribution {
        let by_id = self.heard.iter().find(|person| person.id.as_str() == who);
        let lower = who.to_lowercase();
        let mut named = self
            .heard
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
        (self.heard.iter()).find(|person| person.is(attested) && person.name == name)
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
        let mut others =
            (self.heard.iter()).filter(|other| other.id != *id && other.world == *world);
        let alike =
            others.find(|other| NameSkeleton::of(&other.name).is_confusable_with(&skeleton));
        doubts.extend(alike.map(|other| NameDoubt::LooksLike(other.id.clone())));
        doubts
    }

    /// Records that somebody was heard, with this trust of the source.
    fn meet(&mut self, attested: &Attested, doubts: &[NameDoubt], trust: Trust, at: Timestamp) {
        let Some(id) = attested.sender.id() else {
            return;
        };
        let known = self.heard.iter().position(|person| person.is(attested));
        let known = known.and_then(|place| self.heard.remove(place));
        let mut relationship = known.map(|known| known.relationship).unwrap_or_default();
        relationship.interact(trust, at);
        self.heard.push_back(Person {
            world: attested.delivery.world.clone(),
            id: id.clone(),
            name: attested.sender.name().to_owned(),
            doubts: doubts.to_vec(),
            relationship,
        });
        let surplus = self.heard.len().saturating_sub(PEOPLE_KEPT);
        self.heard.drain(..surplus);
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
        people.meet(&attested, &doubts, Trust::FULL, Timestamp::EPOCH);
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
            let guest = heard(&format!("guest {number}"));
            people.meet(&guest, &[], Trust::FULL, Timestamp::EPOCH);
        }
        assert_eq!(people.heard.len(), PEOPLE_KEPT);
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
