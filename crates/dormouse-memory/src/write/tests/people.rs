//! Consolidating the observations about people.

use dormouse_contracts::{EntityId, ModelErrorKind};
use dormouse_entities as entities;

use super::*;

async fn noticed(memory: &Memory, name: &str, count: usize) -> EntityId {
    let entity = EntityId::try_new(name).unwrap();
    let created = entities::EntityChange::Created {
        entity: entity.clone(),
        entity_type: entities::EntityType::Player,
        name: entities::Name::try_new(name).unwrap(),
    };
    memory.change_entity(created, "met").await.unwrap();
    for number in 0..count {
        let change = entities::EntityChange::Observed {
            entity: entity.clone(),
            observation: serde_json::from_value(json!({
                "content": format!("{name} drank tea number {number}"),
                "source": "direct",
                "trust": 0.9,
            }))
            .unwrap(),
        };
        memory.change_entity(change, "noticed").await.unwrap();
    }
    entity
}

#[tokio::test]
async fn observations_are_consolidated_once_for_at_most_five_entities() {
    let memory = memory();
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        noticed(&memory, name, 5).await;
    }
    noticed(&memory, "h", 4).await;
    let model = ScriptedModel::looping(ScriptedTurn::text(r#"{"interests": ["tea"]}"#));
    let policy = entities::ConsolidationPolicy::default();
    let mut attempts = Attempts::default();
    let mut done = Vec::new();
    for expected in [5, 2, 0] {
        let consolidated = consolidate_entities(&memory, &model, &policy, &mut attempts)
            .await
            .unwrap();
        assert_eq!(consolidated.done.len(), expected);
        done.extend(consolidated.done);
    }
    assert_eq!(model.requests().len(), 7);
    done.dedup();
    assert_eq!(done.len(), 7);
}

#[tokio::test]
async fn an_entity_is_skipped_after_three_failures() {
    let memory = memory();
    noticed(&memory, "a", 6).await;
    noticed(&memory, "b", 5).await;
    let model = ScriptedModel::looping(ScriptedTurn::with(|request| {
        let shown = format!("{:?}", request.messages);
        ScriptedTurn::text(if shown.contains("a drank") {
            "tea!"
        } else {
            r#"{"interests": ["tea"]}"#
        })
    }));
    let policy = entities::ConsolidationPolicy::default();
    let mut attempts = Attempts::default();
    let first = consolidate_entities(&memory, &model, &policy, &mut attempts)
        .await
        .unwrap();
    assert_eq!((first.done.len(), first.left.len()), (1, 1));
    assert_eq!(first.failure, Some(Failure::Unreadable));
    for _ in 0..2 {
        consolidate_entities(&memory, &model, &policy, &mut attempts)
            .await
            .unwrap();
    }
    let last = consolidate_entities(&memory, &model, &policy, &mut attempts)
        .await
        .unwrap();
    assert_eq!(
        (last.gave_up.len(), last.left.len(), last.failure),
        (1, 0, None)
    );
    assert_eq!(model.requests().len(), 4);
    let broken = ScriptedModel::looping(ScriptedTurn::Fail(ModelErrorKind::Unavailable));
    let failed = consolidate_entities(&memory, &broken, &policy, &mut Attempts::default())
        .await
        .unwrap();
    assert_eq!(
        failed.failure,
        Some(Failure::Model(ModelErrorKind::Unavailable))
    );
    let entity = EntityId::try_new("a").unwrap();
    let fresh = memory.with_entities(|entities| {
        entities
            .profile(&entity)
            .unwrap()
            .fresh_observations()
            .count()
    });
    assert_eq!(fresh, 6, "its observations stay");
}
