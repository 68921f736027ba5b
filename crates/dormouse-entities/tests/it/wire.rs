//! What logs and rows hold: names that must never change.

use dormouse_contracts::{EntityId, Timestamp};
use dormouse_entities::{Entities, EntityChange};
use serde_json::json;

/// One change of every kind, as logs hold it.
fn logged() -> Vec<serde_json::Value> {
    vec![
        json!({"change": "created", "entity": "#1", "entity_type": "player", "name": "Alice"}),
        json!({"change": "created", "entity": "#2", "entity_type": "npc", "name": "Bob"}),
        json!({"change": "retyped", "entity": "#2", "entity_type": "object"}),
        json!({"change": "renamed", "entity": "#2", "name": "Bobby"}),
        json!({"change": "alias_added", "entity": "#2", "alias": "Rob"}),
        json!({"change": "alias_removed", "entity": "#2", "alias": "Rob"}),
        json!({"change": "attributes_updated", "entity": "#1", "trust": 0.5, "update": {
            "clear": ["interests"], "communication_style": "formal", "interests": ["combat"],
            "temperament": "friendly", "preferences": {"tea": "green"}}}),
        json!({"change": "observed", "entity": "#1", "observation": {
            "content": "Likes tea", "source": "direct", "trust": 0.75, "origin": "7"}}),
        json!({"change": "consolidated", "entity": "#1", "update": {}, "observations": [1], "trust": 0.75}),
        json!({"change": "metric_set", "entity": "#1", "metric": {"favorability": -0.5}}),
        json!({"change": "metric_set", "entity": "#1", "metric": {"trust": 0.25}}),
        json!({"change": "metric_set", "entity": "#1", "metric": {"rapport": 0.5}}),
        json!({"change": "interacted", "entity": "#1", "trust": 0.75}),
        json!({"change": "judged", "entity": "#1", "step": 0.5, "reason": "kind"}),
        json!({"change": "conversation_started", "entity": "#1", "topic": "quest_help", "stale_after": 86400}),
        json!({"change": "topic_changed", "entity": "#1", "topic": "tea"}),
        json!({"change": "message_added", "entity": "#1", "role": "user", "content": "hello\nthere"}),
        json!({"change": "action_added", "entity": "#1", "description": "Explain quest", "priority": 1}),
        json!({"change": "action_completed", "entity": "#1", "action": 2}),
        json!({"change": "conversation_ended", "entity": "#1"}),
        json!({"change": "stale_cleared", "stale_after": 86400}),
        json!({"change": "merged", "from": "#2", "into": "#1"}),
        json!({"change": "unmerged", "entity": "#2"}),
        json!({"change": "deleted", "entity": "#2"}),
        json!({"change": "restored", "entity": "#2"}),
        json!({"change": "deleted", "entity": "#2"}),
        json!({"change": "purged", "entity": "#2"}),
    ]
}

#[test]
fn every_logged_change_is_read_written_as_it_was_and_accepted() {
    let mut entities = Entities::new();
    for logged in logged() {
        let change: EntityChange = serde_json::from_value(logged.clone()).unwrap();
        assert_eq!(serde_json::to_value(&change).unwrap(), logged);
        entities.apply(&change, Timestamp::EPOCH).unwrap();
    }
    assert_eq!(entities.profiles().len(), 1);
}

#[test]
fn a_profile_has_the_documented_fields() {
    let mut entities = Entities::new();
    for logged in logged().into_iter().take(8) {
        let change: EntityChange = serde_json::from_value(logged).unwrap();
        entities.apply(&change, Timestamp::from_micros(5)).unwrap();
    }
    let profile = entities.profile(&EntityId::try_new("#1").unwrap()).unwrap();
    assert_eq!(
        serde_json::to_value(profile).unwrap(),
        json!({
            "entity_id": "#1",
            "entity_type": "player",
            "name": "Alice",
            "aliases": [],
            "attributes": {
                "communication_style": "formal",
                "interests": ["combat"],
                "temperament": "friendly",
                "preferences": {"tea": "green"},
                "trust": {"communication_style": 0.5, "interests": 0.5, "temperament": 0.5, "preferences": 0.5},
            },
            "observations": [{
                "number": 1, "content": "Likes tea", "timestamp": 5, "source": "direct",
                "trust": 0.75, "origin": "7", "stage": "fresh",
            }],
            "relationship": {
                "favorability": 0.0, "trust": 0.5, "rapport": 0.0, "state": "stranger", "interaction_count": 0,
                "rapport_at": 0, "last_interaction_at": null,
                "today": {"day": 0, "rapport": 0.0, "trust": 0.0, "favorability": 0.0},
            },
            "created_at": 5,
            "updated_at": 5,
            "last_number": 1,
        })
    );
}

#[test]
fn nonsense_in_a_log_is_refused_when_it_is_read() {
    for logged in [
        json!({"change": "interacted", "entity": "#1", "trust": 1.5}),
        json!({"change": "metric_set", "entity": "#1", "metric": {"favorability": -2.0}}),
        json!({"change": "created", "entity": "#1", "entity_type": "player", "name": "two\nlines"}),
        json!({"change": "created", "entity": "", "entity_type": "player", "name": "Alice"}),
        json!({"change": "renamed", "entity": "#1", "name": "x".repeat(65)}),
        json!({"change": "exploded", "entity": "#1"}),
    ] {
        assert!(
            serde_json::from_value::<EntityChange>(logged.clone()).is_err(),
            "{logged}"
        );
    }
}
