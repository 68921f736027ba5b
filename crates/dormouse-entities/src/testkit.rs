//! Changes for tests: a few written by hand, and many random ones.

use dormouse_contracts::{EntityId, Timestamp, Trust};
use proptest::prelude::*;

use crate::{
    AttributeUpdate, EntityChange, EntityType, Favorability, Metric, Name, NewObservation, Passage,
    Rapport, SpeakerRole, StaleAfter, TextLine,
};

/// This many seconds into a day.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(1_795_219_200_000_000 + seconds * 1_000_000)
}

pub(crate) fn id(text: &str) -> EntityId {
    EntityId::try_new(text).unwrap()
}

pub(crate) fn name(text: &str) -> Name {
    Name::try_new(text).unwrap()
}

pub(crate) fn observed(entity: &str, content: &str, trust: f32) -> EntityChange {
    EntityChange::Observed {
        entity: id(entity),
        observation: NewObservation {
            content: TextLine::try_new(content).unwrap(),
            source: TextLine::try_new("direct").unwrap(),
            trust: Trust::try_new(trust).unwrap(),
            origin: None,
            audience: None,
            sources: dormouse_contracts::Sources::default(),
        },
    }
}

pub(crate) fn said(entity: &str, role: SpeakerRole, content: &str) -> EntityChange {
    EntityChange::MessageAdded {
        entity: id(entity),
        role,
        content: Passage::try_new(content).unwrap(),
    }
}

/// Up to `most` changes to a few entities, so that they affect the same ones.
pub(crate) fn changes(most: usize) -> impl Strategy<Value = Vec<EntityChange>> {
    prop::collection::vec(change(), most.min(1)..=most)
}

fn change() -> impl Strategy<Value = EntityChange> {
    let entity = || (1..5u8).prop_map(|n| id(&format!("#{n}")));
    let names = || (0..6u8).prop_map(|n| name(&format!("Name {n}")));
    let trust = || (0.0f32..=1.0).prop_map(|score| Trust::try_new(score).unwrap());
    let entity_type = prop_oneof![Just(EntityType::Player), Just(EntityType::Npc)];
    let about = prop_oneof![
        6 => (entity(), entity_type, names()).prop_map(|(entity, entity_type, name)| {
            EntityChange::Created { entity, entity_type, name }
        }),
        2 => (entity(), names()).prop_map(|(entity, name)| EntityChange::Renamed { entity, name }),
        2 => (entity(), names()).prop_map(|(entity, alias)| EntityChange::AliasAdded { entity, alias }),
        1 => (entity(), names()).prop_map(|(entity, alias)| EntityChange::AliasRemoved { entity, alias }),
        3 => (entity(), update(), trust()).prop_map(|(entity, update, trust)| {
            EntityChange::AttributesUpdated { entity, update, trust, audience: None, sources: dormouse_contracts::Sources::default(), }
        }),
        5 => (entity(), 0..30u8, 0.0f32..=1.0).prop_map(|(entity, n, trust)| {
            observed(entity.as_str(), &format!("fact {n}"), trust)
        }),
        2 => (entity(), update(), prop::collection::vec(0..20u64, 0..5), trust()).prop_map(
            |(entity, update, observations, trust)| EntityChange::Consolidated {
                entity, update, observations, trust, sources: dormouse_contracts::Sources::default(), },
        ),
        2 => (entity(), metric()).prop_map(|(entity, metric)| EntityChange::MetricSet { entity, metric }),
        3 => (entity(), trust()).prop_map(|(entity, trust)| EntityChange::Interacted { entity, trust }),
        3 => (entity(), -0.2f32..=0.2, prop::option::of(prop::collection::btree_set(1..5u8, 0..3)), 1..9u64).prop_map(
            |(entity, step, known_to, source)| EntityChange::Judged {
                entity,
                step: Favorability::try_new(step).unwrap(),
                reason: TextLine::try_new("kind").unwrap(),
                trust: Some(Trust::FULL),
                audience: known_to.map(|ids| ids.into_iter().map(|n| id(&format!("#{n}"))).collect()),
                sources: [dormouse_contracts::Origin::event(dormouse_contracts::Seq(source))].into_iter().collect(),
            },
        ),
    ];
    let topic =
        || prop::option::of((0..3u8).prop_map(|n| TextLine::try_new(format!("t{n}")).unwrap()));
    let talk = prop_oneof![
        4 => (entity(), topic(), 0..2_000u64).prop_map(|(entity, topic, seconds)| {
            let stale_after = StaleAfter::new(std::time::Duration::from_secs(seconds));
            EntityChange::ConversationStarted { entity, topic, stale_after }
        }),
        5 => (entity(), 0..9u8).prop_map(|(entity, n)| {
            said(entity.as_str(), SpeakerRole::User, &format!("line {n}"))
        }),
        1 => entity().prop_map(|entity| EntityChange::ConversationEnded { entity }),
        3 => (entity(), 0..9u8, proptest::option::of(0..200i64)).prop_map(|(entity, n, due)| EntityChange::ActionAdded {
            entity,
            description: TextLine::try_new(format!("action {n}")).unwrap(),
            priority: n, due_at: due.map(at), when: Vec::new(), until: None, trust: None, audience: None, sources: dormouse_contracts::Sources::default(), }),
        1 => (entity(), 0..200i64).prop_map(|(entity, noted)| EntityChange::ActionEnded { entity, noted_at: at(noted) }),
        2 => (entity(), 1..9u64).prop_map(|(entity, action)| EntityChange::ActionCompleted { entity, action, noted_at: None, completion: Default::default() }),
    ];
    prop_oneof![6 => about, 4 => talk, 1 => ends()]
}

/// Removes a profile, or brings one back.
pub(crate) fn ends() -> impl Strategy<Value = EntityChange> {
    let entity = || (1..5u8).prop_map(|n| id(&format!("#{n}")));
    prop_oneof![
        1 => entity().prop_map(|entity| EntityChange::Deleted { entity }),
        1 => entity().prop_map(|entity| EntityChange::Restored { entity }),
        1 => entity().prop_map(|entity| EntityChange::Purged { entity }),
        3 => (entity(), entity()).prop_map(|(from, into)| EntityChange::Merged { from, into }),
        3 => entity().prop_map(|entity| EntityChange::Unmerged { entity }),
    ]
}

fn metric() -> impl Strategy<Value = Metric> {
    prop_oneof![
        (-1.0f32..=1.0).prop_map(|v| Metric::Favorability(Favorability::try_new(v).unwrap())),
        (0.0f32..=1.0).prop_map(|v| Metric::Trust(Trust::try_new(v).unwrap())),
        (0.0f32..=1.0).prop_map(|v| Metric::Rapport(Rapport::try_new(v).unwrap())),
    ]
}

fn update() -> impl Strategy<Value = AttributeUpdate> {
    (
        prop::collection::vec(0..50u8, 0..6),
        prop::option::of(0..3u8),
        prop::collection::btree_map(0..50u8, 0..3u8, 0..6),
    )
        .prop_map(|(interests, temperament, preferences)| AttributeUpdate {
            interests: interests
                .iter()
                .map(|n| TextLine::try_new(format!("interest {n}")).unwrap())
                .collect(),
            temperament: temperament.map(|n| TextLine::try_new(format!("mood {n}")).unwrap()),
            preferences: preferences
                .iter()
                .map(|(k, v)| {
                    let subject = TextLine::try_new(format!("subject {k}")).unwrap();
                    (subject, TextLine::try_new(format!("value {v}")).unwrap())
                })
                .collect(),
            ..AttributeUpdate::default()
        })
}
