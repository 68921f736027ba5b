//! A log of changes, folded, kept as rows, and shown.

use std::time::Duration;

use dormouse_contracts::{EntityId, Origin, Seq, Timestamp, Trust};
use dormouse_entities::{
    BlockPolicy, Consolidation, ConsolidationPolicy, Entities, EntityChange, EntityType,
    Favorability, Metric, NewObservation, RelationshipState, TextLine, entity_block,
    read_consolidation,
};
use dormouse_testing::CountTokens;

fn id(text: &str) -> EntityId {
    EntityId::try_new(text).unwrap()
}

fn made(entity: &str, name: &str) -> EntityChange {
    EntityChange::Created {
        entity: id(entity),
        entity_type: EntityType::Player,
        name: TextLine::try_new(name).unwrap(),
    }
}

fn observed(entity: &str, content: &str) -> EntityChange {
    EntityChange::Observed {
        entity: id(entity),
        observation: NewObservation {
            content: TextLine::try_new(content).unwrap(),
            source: TextLine::try_new("direct").unwrap(),
            trust: Trust::try_new(0.9).unwrap(),
            origin: Some(Origin::event(Seq(7))),
            audience: None,
            sources: dormouse_contracts::Sources::default(),
        },
    }
}

#[test]
fn a_friend_is_made_by_judgement_and_forgotten_and_remembered_by_hand() {
    let mut entities = Entities::new();
    let mut now = Timestamp::EPOCH;
    entities.apply(&made("#1", "Alice"), now).unwrap();
    for _ in 0..10 {
        now = now.plus(Duration::from_secs(86_400));
        let judged = EntityChange::Judged {
            entity: id("#1"),
            step: Favorability::try_new(1.0).unwrap(),
            reason: TextLine::try_new("saved my life").unwrap(),
            trust: None,
            sources: dormouse_contracts::Sources::default(),
            audience: None,
        };
        entities.apply(&judged, now).unwrap();
    }
    let state = |entities: &Entities| entities.profile(&id("#1")).map(|p| p.relationship.state());
    assert_eq!(state(&entities), Some(RelationshipState::Friend));

    let metric = Metric::Favorability(Favorability::try_new(-1.0).unwrap());
    entities
        .apply(
            &EntityChange::MetricSet {
                entity: id("#1"),
                metric,
            },
            now,
        )
        .unwrap();
    assert_eq!(state(&entities), Some(RelationshipState::Stranger));
    entities
        .apply(&EntityChange::Deleted { entity: id("#1") }, now)
        .unwrap();
    assert_eq!(state(&entities), None);
    entities
        .apply(&EntityChange::Restored { entity: id("#1") }, now)
        .unwrap();
    assert_eq!(state(&entities), Some(RelationshipState::Stranger));
}

#[test]
fn two_names_of_one_person_become_one_entry_of_the_block_and_two_again() {
    let mut entities = Entities::new();
    for change in [
        made("#1", "Alice"),
        made("#2", "Ally"),
        observed("#1", "Likes tea"),
        observed("#2", "Sings"),
    ] {
        entities.apply(&change, Timestamp::EPOCH).unwrap();
    }
    let block = |entities: &Entities| {
        let policy = BlockPolicy::default();
        entity_block(entities, &policy, Timestamp::EPOCH, 100, &CountTokens).text
    };
    let before = block(&entities);
    let merged = EntityChange::Merged {
        from: id("#2"),
        into: id("#1"),
    };
    entities.apply(&merged, Timestamp::EPOCH).unwrap();
    assert_eq!(
        block(&entities),
        "[ACTIVE ENTITIES]\nPlayer Alice (#1) - stranger\nObservations: Sings, Likes tea"
    );
    assert_eq!(entities.known_as("ally"), [&id("#1")]);
    let kept = Entities::from_rows(entities.to_rows()).unwrap();
    assert_eq!(kept, entities);
    entities
        .apply(
            &EntityChange::Unmerged { entity: id("#2") },
            Timestamp::EPOCH,
        )
        .unwrap();
    assert_eq!(block(&entities), before);
}

#[test]
fn observations_become_attributes_by_way_of_an_answer() {
    let mut entities = Entities::new();
    entities
        .apply(&made("#1", "Alice"), Timestamp::EPOCH)
        .unwrap();
    for n in 0..5 {
        let change = observed("#1", &format!("Asked about swords {n} times"));
        entities.apply(&change, Timestamp::EPOCH).unwrap();
    }
    let profile = entities.profile(&id("#1")).unwrap();
    let summing_up = Consolidation::of(profile, &ConsolidationPolicy::default()).unwrap();
    assert_eq!(summing_up.messages().len(), 2);
    let read = read_consolidation("```json\n{\"interests\": [\"swords\"]}\n```").unwrap();
    entities
        .apply(&summing_up.change(read.update), Timestamp::EPOCH)
        .unwrap();
    let profile = entities.profile(&id("#1")).unwrap();
    assert_eq!(profile.attributes.interests[0].as_str(), "swords");
    assert_eq!(profile.observations.len(), 5);
    assert_eq!(
        Consolidation::of(profile, &ConsolidationPolicy::default()),
        None
    );
}
