//! What an operator sets about an entity.

use std::collections::BTreeMap;

use dormouse_contracts::{Audience, EntityId, Sources, Trust};

use crate::{
    attributes::{AttributeUpdate, CommunicationStyle, Keyword, Phrase, Preference},
    change::EntityChange,
    observation::{NewObservation, ObservationSource, ObservationText},
    profile::{EntityType, Name},
    relationship::{Favorability, Metric, Rapport},
};

/// What an operator sets about an entity. What is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfileEdit {
    /// Its name.
    pub name: Option<Name>,
    /// Its kind.
    pub entity_type: Option<EntityType>,
    /// How much the assistant likes them.
    pub favorability: Option<Favorability>,
    /// How far the assistant trusts them.
    pub trust: Option<Trust>,
    /// How well they know each other.
    pub rapport: Option<Rapport>,
    /// How they talk.
    pub communication_style: Option<CommunicationStyle>,
    /// What they are like.
    pub temperament: Option<Phrase>,
    /// What they also care about.
    pub interests: Vec<Keyword>,
    /// What they prefer, by subject.
    pub preferences: BTreeMap<Keyword, Preference>,
}

impl ProfileEdit {
    /// The changes, each with the name of what it sets. Each can be taken back separately.
    #[must_use]
    pub fn changes(self, entity: &EntityId) -> Vec<(EntityChange, &'static str)> {
        let who = || entity.clone();
        let metric = |metric| EntityChange::MetricSet {
            entity: who(),
            metric,
        };
        let name = self.name.map(|name| EntityChange::Renamed {
            entity: who(),
            name,
        });
        let kind = self.entity_type.map(|entity_type| EntityChange::Retyped {
            entity: who(),
            entity_type,
        });
        let update = AttributeUpdate {
            communication_style: self.communication_style,
            interests: self.interests,
            temperament: self.temperament,
            preferences: self.preferences,
            ..AttributeUpdate::default()
        };
        let attributes = (!update.is_empty()).then(|| EntityChange::AttributesUpdated {
            entity: who(),
            update,
            trust: Trust::FULL,
            // What an operator writes may be shown to everybody.
            audience: Some(Audience::Public),
            sources: Sources::default(),
        });
        let favorability = self.favorability.map(Metric::Favorability).map(metric);
        let trust = self.trust.map(Metric::Trust).map(metric);
        let rapport = self.rapport.map(Metric::Rapport).map(metric);
        [
            (name, "name"),
            (kind, "type"),
            (favorability, "favorability"),
            (trust, "trust"),
            (rapport, "rapport"),
            (attributes, "attributes"),
        ]
        .into_iter()
        .filter_map(|(change, what)| Some((change?, what)))
        .collect()
    }
}

impl NewObservation {
    /// What an operator observed, which may be shown to everybody.
    #[must_use]
    pub fn by_operator(content: ObservationText, source: ObservationSource, trust: Trust) -> Self {
        Self {
            content,
            source,
            trust,
            origin: None,
            audience: Some(Audience::Public),
            sources: Sources::default(),
        }
    }
}
