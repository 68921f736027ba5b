//! What is known about one entity.

use std::fmt;

use dormouse_contracts::{Audience, EntityId, FORGOTTEN, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    attributes::Attributes,
    line::TextLine,
    observation::{NewObservation, Observation, ObservationStage},
    relationship::Relationship,
};

/// A name of an entity.
pub type Name = TextLine<64>;

/// The kind of an entity.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntityType {
    /// A person's character.
    #[default]
    Player,
    /// A character of the world, or another assistant.
    Npc,
    /// A thing.
    Object,
}

impl fmt::Display for EntityType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Player => "Player",
            Self::Npc => "NPC",
            Self::Object => "Object",
        })
    }
}

/// What is known about one entity. Only [`Entities::apply`](crate::Entities::apply) changes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The id.
    pub entity_id: EntityId,
    /// The kind of entity.
    pub entity_type: EntityType,
    /// The name it goes by.
    pub name: Name,
    /// Other present or past names, oldest first; at most [`Profile::MOST_ALIASES`].
    #[serde(default)]
    pub aliases: Vec<Name>,
    /// The stable attributes.
    #[serde(default)]
    pub attributes: Attributes,
    /// The observations, in order; at most [`Profile::MOST_OBSERVATIONS`].
    #[serde(default)]
    pub observations: Vec<Observation>,
    /// The assistant's relationship with the entity.
    #[serde(default)]
    pub relationship: Relationship,
    /// When the profile was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The number of the last observation.
    #[serde(default)]
    pub(crate) last_number: u64,
}

impl Profile {
    /// The most aliases. A new one replaces the oldest.
    pub const MOST_ALIASES: usize = 16;
    /// The most observations. A new one replaces the oldest consolidated one, or the oldest one if none is
    /// consolidated.
    pub const MOST_OBSERVATIONS: usize = 100;

    pub(crate) fn new(id: EntityId, entity_type: EntityType, name: Name, at: Timestamp) -> Self {
        Self {
            entity_id: id,
            entity_type,
            name,
            aliases: Vec::new(),
            attributes: Attributes::default(),
            observations: Vec::new(),
            relationship: Relationship::default(),
            created_at: at,
            updated_at: at,
            last_number: 0,
        }
    }

    /// All names, the current one first.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        std::iter::once(&self.name).chain(&self.aliases)
    }

    /// The unconsolidated observations, oldest first.
    pub fn fresh_observations(&self) -> impl Iterator<Item = &Observation> {
        self.observations
            .iter()
            .filter(|observation| observation.stage == ObservationStage::Fresh)
    }

    /// Adds an alias, if it is new.
    pub(crate) fn add_alias(&mut self, alias: Name) {
        if self.names().any(|name| *name == alias) {
            return;
        }
        self.aliases.push(alias);
        self.drop_surplus_names();
    }

    pub(crate) fn drop_surplus_names(&mut self) {
        let surplus = self.aliases.len().saturating_sub(Self::MOST_ALIASES);
        self.aliases.drain(..surplus);
    }

    /// Sets a new name; the old one becomes an alias.
    pub(crate) fn rename(&mut self, name: Name) {
        if name == self.name {
            return;
        }
        self.aliases.retain(|alias| *alias != name);
        let old = std::mem::replace(&mut self.name, name);
        self.add_alias(old);
    }

    /// Adds an observation. If it repeats an earlier one, only one of the two stays, provided that its audience
    /// includes the other's and that it has at least the same trust. Its time is then the latest at which all of its
    /// audience heard it. Otherwise both stay, so that a repetition in private changes nothing for others who heard
    /// it, and vice versa.
    ///
    /// A forgotten observation only uses up a number, so that later ones keep theirs.
    pub(crate) fn observe(&mut self, new: &NewObservation, at: Timestamp) {
        if new.content.as_str() == FORGOTTEN {
            self.last_number = self.last_number.saturating_add(1);
            return;
        }
        let folded = new.content.as_str().to_lowercase();
        let party = |audience: &Option<Audience>| audience.clone().unwrap_or(Audience::nobody());
        let heard_by = party(&new.audience);
        let known = self.observations.iter_mut();
        let known = known.filter(|known| known.content.as_str().to_lowercase() == folded);
        for known in known {
            let had = party(&known.audience);
            let (is_wider, is_narrower) = (heard_by.covers(&had), had.covers(&heard_by));
            if is_narrower && known.trust >= new.trust {
                if is_wider {
                    known.timestamp = known.timestamp.max(at);
                }
                return;
            }
            if is_wider && new.trust >= known.trust {
                known.timestamp = known.timestamp.max(at);
                known.audience.clone_from(&new.audience);
                known.trust = new.trust;
                known.source = new.source.clone();
                known.origin = new.origin;
                known.sources = new.sources.clone();
                return;
            }
        }
        self.last_number = self.last_number.saturating_add(1);
        self.observations.push(Observation {
            number: self.last_number,
            content: new.content.clone(),
            timestamp: at,
            source: new.source.clone(),
            trust: new.trust,
            origin: new.origin,
            sources: new.sources.clone(),
            audience: new.audience.clone(),
            stage: ObservationStage::Fresh,
        });
        self.drop_surplus();
    }

    /// Removes observations above the limit, as [`Profile::MOST_OBSERVATIONS`] describes.
    pub(crate) fn drop_surplus(&mut self) {
        while self.observations.len() > Self::MOST_OBSERVATIONS {
            let first = self.observations.iter().enumerate().min_by_key(|(_, o)| {
                let is_fresh = o.stage == ObservationStage::Fresh;
                (is_fresh, o.timestamp, o.number)
            });
            let Some((place, _)) = first else { return };
            self.observations.remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_contracts::{Sources, Trust};
    use proptest::prelude::*;

    fn profile() -> Profile {
        let id = EntityId::try_new("#1").unwrap();
        let name = Name::try_new("Alice").unwrap();
        Profile::new(id, EntityType::Player, name, Timestamp::EPOCH)
    }

    fn note(content: &str, trust: f32) -> NewObservation {
        NewObservation {
            content: TextLine::try_new(content).unwrap(),
            source: TextLine::try_new("direct").unwrap(),
            trust: Trust::try_new(trust).unwrap(),
            origin: None,
            sources: Sources::default(),
            audience: None,
        }
    }

    #[test]
    fn consolidated_observations_give_way_first_and_then_the_oldest() {
        let mut profile = profile();
        for n in 0..100 {
            profile.observe(&note(&format!("fact {n}"), 0.9), Timestamp::from_micros(n));
        }
        profile.observations[50].stage = ObservationStage::Consolidated;
        profile.observe(&note("one more", 0.9), Timestamp::from_micros(100));
        assert!(profile.observations.iter().all(|o| o.number != 51));
        profile.observe(&note("and another", 0.9), Timestamp::from_micros(101));
        assert!(profile.observations.iter().all(|o| o.number != 1));
        assert_eq!(profile.observations.len(), Profile::MOST_OBSERVATIONS);
    }

    #[test]
    fn the_same_observation_twice_is_one_believed_as_its_better_source() {
        let mut profile = profile();
        profile.observe(&note("Likes tea", 0.4), Timestamp::from_micros(1));
        profile.observe(&note("likes TEA", 0.9), Timestamp::from_micros(2));
        profile.observe(&note("likes tea", 0.1), Timestamp::from_micros(3));
        let [only] = profile.observations.as_slice() else {
            panic!("{:?}", profile.observations)
        };
        assert_eq!(only.trust.score(), 0.9);
        assert_eq!(only.timestamp, Timestamp::from_micros(3));
    }

    #[test]
    fn what_somebody_repeats_in_private_changes_nothing_for_those_who_heard_it() {
        let party = |ids: &[&str]| -> Audience {
            ids.iter()
                .map(|id| EntityId::try_new(*id).unwrap())
                .collect()
        };
        let (alice, both) = (party(&["alice"]), party(&["alice", "bob"]));
        let observed = |trust, audience: &Audience| NewObservation {
            audience: Some(audience.clone()),
            ..note("likes tea", trust)
        };
        // What each audience may read of it, as the trust and the time.
        for (first, second, expected) in [
            (
                (0.4, &both),
                (0.9, &alice),
                vec![(0.4, 1, &both), (0.9, 2, &alice)],
            ),
            (
                (0.9, &alice),
                (0.4, &both),
                vec![(0.9, 1, &alice), (0.4, 2, &both)],
            ),
            ((0.4, &alice), (0.9, &both), vec![(0.9, 2, &both)]),
            ((0.9, &both), (0.4, &alice), vec![(0.9, 1, &both)]),
            ((0.4, &both), (0.9, &both), vec![(0.9, 2, &both)]),
            ((0.9, &both), (0.4, &both), vec![(0.9, 2, &both)]),
        ] {
            let mut profile = profile();
            profile.observe(&observed(first.0, first.1), Timestamp::from_micros(1));
            profile.observe(&observed(second.0, second.1), Timestamp::from_micros(2));
            let shown = profile.observations.iter().map(|o| {
                let audience = o.audience.as_ref().unwrap();
                (o.trust.score(), o.timestamp.as_micros(), audience)
            });
            assert_eq!(shown.collect::<Vec<_>>(), expected, "{first:?} {second:?}");
        }
    }

    #[test]
    fn a_former_name_stays_known() {
        let mut profile = profile();
        profile.rename(Name::try_new("Alicia").unwrap());
        profile.rename(Name::try_new("Alice").unwrap());
        let names: Vec<_> = profile.names().map(Name::as_str).collect();
        assert_eq!(names, ["Alice", "Alicia"]);
    }

    proptest! {
        #[test]
        fn a_profile_never_grows_past_its_bounds(
            notes in prop::collection::vec((0u32..400, any::<i64>()), 0..300),
        ) {
            let mut profile = profile();
            for (n, at) in notes {
                profile.observe(&note(&format!("fact {n}"), 0.5), Timestamp::from_micros(at));
                profile.rename(Name::try_new(format!("name {n}")).unwrap());
                prop_assert!(profile.observations.len() <= Profile::MOST_OBSERVATIONS);
                prop_assert!(profile.aliases.len() <= Profile::MOST_ALIASES);
            }
        }
    }
}
