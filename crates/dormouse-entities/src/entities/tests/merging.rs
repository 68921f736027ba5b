//! Merging two entities, and taking the merge back.

use super::*;
use crate::Completion;
use crate::SpeakerRole;
use crate::testkit::{observed, said};

#[test]
fn merges_chain_never_lead_in_a_circle_and_come_apart_in_any_order() {
    let mut entities = known(&["#1", "#2", "#3"]);
    let before = entities.clone();
    entities.apply(&merged("#1", "#2"), at(1)).unwrap();
    let between = entities.clone();
    entities.apply(&merged("#2", "#3"), at(2)).unwrap();
    assert_eq!(entities.resolve(&id("#1")), Some(&id("#3")));
    for (from, into) in [("#3", "#3"), ("#3", "#1"), ("#1", "#3"), ("#2", "#1")] {
        assert_eq!(
            entities.apply(&merged(from, into), at(3)),
            Err(EntityChangeError::MergeWithItself { entity: id("#3") }),
            "{from} {into}"
        );
    }
    assert_eq!(
        entities.apply(&unmerged("#1"), at(3)),
        Err(EntityChangeError::Merged {
            entity: id("#2"),
            into: id("#3")
        }),
        "first the later merge"
    );
    entities.apply(&unmerged("#2"), at(4)).unwrap();
    assert_eq!(entities, between);
    entities.apply(&unmerged("#1"), at(5)).unwrap();
    assert_eq!(entities, before);

    // Two merged into one come apart first in, first out, too.
    entities.apply(&merged("#1", "#3"), at(6)).unwrap();
    entities.apply(&merged("#2", "#3"), at(7)).unwrap();
    entities.apply(&unmerged("#1"), at(8)).unwrap();
    assert_eq!(entities.known_as("name of #1"), [&id("#1")]);
    entities.apply(&unmerged("#2"), at(9)).unwrap();
    assert_eq!(entities.known_as("name of #2"), [&id("#2")]);
    assert!(entities.profile(&id("#3")).unwrap().aliases.is_empty());
}

#[test]
fn what_was_added_since_a_merge_stays_with_the_survivor_and_what_was_done_is_not_done_twice() {
    let mut entities = known(&["#1", "#2"]);
    for (n, change) in [
        observed("#1", "plays the harp", 0.9),
        started("#1", Some("harps")),
        said("#1", SpeakerRole::User, "do you like harps"),
        action("#1", "find a harp", 1),
        action("#1", "tune it", 1),
        observed("#2", "sings", 0.9),
        merged("#1", "#2"),
        observed("#1", "has a cat", 0.9),
        observed("#1", "plays the harp", 0.9),
        said("#1", SpeakerRole::Assistant, "very much"),
        EntityChange::ActionCompleted {
            entity: id("#2"),
            action: 2,
            noted_at: None,
            completion: Completion::Done,
        },
        unmerged("#1"),
    ]
    .iter()
    .enumerate()
    {
        entities.apply(change, at(n as i64)).unwrap();
    }
    let notes = |entity: &str| -> Vec<String> {
        let profile = entities.profile(&id(entity)).unwrap();
        let notes = profile.observations.iter();
        notes.map(|o| o.content.to_string()).collect()
    };
    assert_eq!(notes("#1"), ["plays the harp"]);
    assert_eq!(notes("#2"), ["sings", "has a cat", "plays the harp"]);
    let actions = |entity: &str| entities.pending_actions(&id(entity)).len();
    assert_eq!((actions("#1"), actions("#2")), (1, 0));
    let conversation = entities.conversation(&id("#2")).unwrap();
    assert_eq!(conversation.message_count, 1);
    assert_eq!(conversation.messages[0].content.as_str(), "very much");
    assert_eq!(entities.conversation(&id("#1")).unwrap().message_count, 1);
}

#[test]
fn a_merged_entity_is_believed_no_further_than_the_less_trusted_of_the_two() {
    let mut entities = known(&["#1", "#2"]);
    let trust = |score| Trust::try_new(score).unwrap();
    for (entity, score) in [("#1", 0.2), ("#2", 0.9)] {
        let metric = crate::Metric::Trust(trust(score));
        entities
            .apply(
                &EntityChange::MetricSet {
                    entity: id(entity),
                    metric,
                },
                at(1),
            )
            .unwrap();
    }
    entities.apply(&merged("#1", "#2"), at(2)).unwrap();
    assert_eq!(
        entities.profile(&id("#2")).unwrap().relationship.trust(),
        trust(0.2)
    );
}

#[test]
fn two_full_profiles_come_apart_as_they_were_although_one_cannot_hold_both() {
    let mut entities = known(&["#1", "#2"]);
    for entity in ["#1", "#2"] {
        entities
            .apply(&started(entity, Some(entity)), at(1))
            .unwrap();
        for n in 0..90 {
            entities
                .apply(
                    &observed(entity, &format!("fact {n} of {entity}"), 0.9),
                    at(n),
                )
                .unwrap();
            entities
                .apply(
                    &said(entity, SpeakerRole::User, &format!("line {n}")),
                    at(n),
                )
                .unwrap();
            let alias = name(&format!("alias {n} of {entity}"));
            let entity = id(entity);
            entities
                .apply(&EntityChange::AliasAdded { entity, alias }, at(n))
                .unwrap();
        }
        for n in 0..15 {
            entities
                .apply(&action(entity, &format!("action {n}"), 1), at(99))
                .unwrap();
        }
    }
    let was = entities.clone();
    entities.apply(&merged("#1", "#2"), at(100)).unwrap();
    let both = entities.profile(&id("#1")).unwrap();
    assert_eq!(both.observations.len(), Profile::MOST_OBSERVATIONS);
    assert_eq!(both.aliases.len(), Profile::MOST_ALIASES);
    assert_eq!(
        entities.pending_actions(&id("#1")).len(),
        30,
        "nothing to be done is lost"
    );
    let conversation = entities.conversation(&id("#1")).unwrap();
    assert_eq!(conversation.messages.len(), Conversation::MOST_MESSAGES);
    assert_eq!(conversation.message_count, 180);
    entities.apply(&unmerged("#1"), at(101)).unwrap();
    assert_eq!(entities, was);
}

#[test]
fn a_conversation_that_ended_since_a_merge_stays_ended_and_is_found_with_the_survivor() {
    let mut entities = known(&["#1", "#2"]);
    entities.apply(&started("#1", Some("tea")), at(1)).unwrap();
    entities.apply(&merged("#1", "#2"), at(2)).unwrap();
    entities
        .apply(&EntityChange::ConversationEnded { entity: id("#1") }, at(3))
        .unwrap();
    entities.apply(&unmerged("#1"), at(4)).unwrap();
    assert!(entities.conversation(&id("#1")).is_none());
    assert!(entities.conversation(&id("#2")).is_none());
    assert_eq!(entities.archived(&id("#2")).len(), 1);
    assert!(entities.archived(&id("#1")).is_empty());
}
