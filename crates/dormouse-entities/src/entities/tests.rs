mod always;

use std::time::Duration;

use dormouse_contracts::{Attested, Delivery, Sender, SourceKind, Trust, WorldId};

use super::*;
use crate::testkit::{at, id, name, observed, said};
use crate::{EntityType, SpeakerRole, TextLine};

const HOUR: Duration = Duration::from_secs(3_600);

fn created(entity: &str) -> EntityChange {
    EntityChange::Created {
        entity: id(entity),
        entity_type: EntityType::Player,
        name: name(&format!("Name of {entity}")),
    }
}

fn known(ids: &[&str]) -> Entities {
    let mut entities = Entities::new();
    for entity in ids {
        entities.apply(&created(entity), at(0)).unwrap();
    }
    entities
}

fn started(entity: &str, topic: Option<&str>) -> EntityChange {
    EntityChange::ConversationStarted {
        entity: id(entity),
        topic: topic.map(|topic| TextLine::try_new(topic).unwrap()),
        stale_after: StaleAfter::default(),
    }
}

fn action(entity: &str, text: &str, priority: u8) -> EntityChange {
    EntityChange::ActionAdded {
        entity: id(entity),
        description: TextLine::try_new(text).unwrap(),
        priority,
    }
}

fn merged(from: &str, into: &str) -> EntityChange {
    EntityChange::Merged {
        from: id(from),
        into: id(into),
    }
}

fn unmerged(entity: &str) -> EntityChange {
    EntityChange::Unmerged { entity: id(entity) }
}

#[test]
fn a_deleted_profile_is_unknown_until_it_is_restored_as_it_was() {
    let mut entities = known(&["#1", "#2"]);
    entities
        .apply(&observed("#1", "likes tea", 0.9), at(1))
        .unwrap();
    entities.apply(&started("#1", Some("tea")), at(2)).unwrap();
    let before = entities.clone();

    let touched = entities
        .apply(&EntityChange::Deleted { entity: id("#1") }, at(3))
        .unwrap();
    assert!(touched.profiles.contains(&id("#1")) && touched.conversations.contains(&id("#1")));
    assert!(entities.known_as("name of #1").is_empty());
    assert_eq!(
        entities.apply(&created("#1"), at(4)),
        Err(EntityChangeError::Deleted { entity: id("#1") })
    );
    entities
        .apply(&EntityChange::Restored { entity: id("#1") }, at(5))
        .unwrap();
    assert_eq!(entities, before);
    assert_eq!(
        entities.check(&EntityChange::Purged { entity: id("#1") }, at(6)),
        Err(EntityChangeError::NotDeleted { entity: id("#1") })
    );
}

#[test]
fn purging_leaves_nothing_of_an_entity_and_those_merged_into_it() {
    let mut entities = known(&["#1", "#2", "#3"]);
    let others = known(&["#3"]);
    for (n, change) in [
        started("#1", None),
        EntityChange::ConversationEnded { entity: id("#1") },
        started("#2", None),
        merged("#1", "#2"),
        EntityChange::ConversationEnded { entity: id("#2") },
        EntityChange::Deleted { entity: id("#2") },
        EntityChange::Purged { entity: id("#2") },
    ]
    .iter()
    .enumerate()
    {
        entities.apply(change, at(n as i64)).unwrap();
    }
    assert_eq!(entities, others);
}

#[test]
fn an_alias_of_two_answers_both_whatever_its_case() {
    let mut entities = known(&["#1", "#2"]);
    for entity in ["#1", "#2"] {
        let alias = name("Der  GROẞE");
        entities
            .apply(
                &EntityChange::AliasAdded {
                    entity: id(entity),
                    alias,
                },
                at(1),
            )
            .unwrap();
    }
    assert_eq!(entities.known_as(" der große"), [&id("#1"), &id("#2")]);
    let alias = name("Der  GROẞE");
    entities
        .apply(
            &EntityChange::AliasRemoved {
                entity: id("#1"),
                alias,
            },
            at(2),
        )
        .unwrap();
    assert_eq!(entities.known_as("DER GROSSE"), [&id("#2")]);
    assert!(entities.known_as("").is_empty());
}

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
fn a_conversation_goes_on_until_it_has_been_quiet_for_more_than_a_day() {
    let mut entities = known(&["#1"]);
    entities.apply(&started("#1", Some("tea")), at(0)).unwrap();
    entities
        .apply(&said("#1", SpeakerRole::User, "hello"), at(0))
        .unwrap();
    let day = at(0).plus(HOUR * 24);
    let stale_after = StaleAfter::default();
    assert!(
        entities
            .active_conversation(&id("#1"), day, stale_after)
            .is_some()
    );
    let later = day.plus(Duration::from_micros(1));
    assert!(
        entities
            .active_conversation(&id("#1"), later, stale_after)
            .is_none()
    );
    assert!(
        entities
            .apply(&EntityChange::StaleCleared { stale_after }, day)
            .unwrap()
            .is_empty()
    );

    entities.apply(&started("#1", None), day).unwrap();
    let conversation = entities.conversation(&id("#1")).unwrap();
    assert_eq!((conversation.number, conversation.message_count), (1, 1));
    assert_eq!(entities.talking_about("TEA"), [&id("#1")]);

    entities
        .apply(&started("#1", Some("coffee")), later)
        .unwrap();
    assert_eq!(entities.conversation(&id("#1")).unwrap().number, 2);
    assert_eq!(entities.archived(&id("#1")).len(), 1);
    let touched = entities.apply(
        &EntityChange::StaleCleared { stale_after },
        later.plus(HOUR * 25),
    );
    assert_eq!(touched.unwrap().archives.len(), 1);
    assert_eq!(entities.archived(&id("#1")).len(), 2);
    assert_eq!(
        entities.apply(&said("#1", SpeakerRole::User, "anyone?"), later),
        Err(EntityChangeError::NoConversation { entity: id("#1") })
    );
}

#[test]
fn actions_are_completed_by_id_once_and_are_bounded() {
    let mut entities = known(&["#1"]);
    entities.apply(&started("#1", None), at(0)).unwrap();
    for n in 0..Conversation::MOST_ACTIONS {
        let priority = if n == 7 { 9 } else { 1 };
        entities
            .apply(&action("#1", &format!("action {n}"), priority), at(1))
            .unwrap();
    }
    assert_eq!(
        entities.apply(&action("#1", "too much", 1), at(2)),
        Err(EntityChangeError::TooManyActions { entity: id("#1") })
    );
    let first = entities.pending_actions(&id("#1"))[0].id;
    assert_eq!(first, 8, "the highest priority first");
    let done = EntityChange::ActionCompleted {
        entity: id("#1"),
        action: first,
    };
    entities.apply(&done, at(3)).unwrap();
    assert_eq!(
        entities.apply(&done, at(4)),
        Err(EntityChangeError::UnknownAction {
            entity: id("#1"),
            action: first
        })
    );
}

#[test]
fn messages_and_archives_never_grow_past_their_bounds() {
    let mut entities = known(&["#1"]);
    for round in 0..30 {
        entities.apply(&started("#1", None), at(round)).unwrap();
        for n in 0..60 {
            entities
                .apply(
                    &said("#1", SpeakerRole::User, &format!("line {n}")),
                    at(round),
                )
                .unwrap();
        }
        let conversation = entities.conversation(&id("#1")).unwrap();
        assert_eq!(conversation.messages.len(), Conversation::MOST_MESSAGES);
        assert_eq!(conversation.message_count, 60);
        assert_eq!(conversation.messages[0].content.as_str(), "line 10");
        entities
            .apply(
                &EntityChange::ConversationEnded { entity: id("#1") },
                at(round),
            )
            .unwrap();
    }
    assert_eq!(entities.archived(&id("#1")).len(), Archive::MOST);
}

fn heard(sender: Sender) -> Attested {
    Attested {
        delivery: Delivery {
            world: WorldId::try_new("teahouse").unwrap(),
            number: 1,
        },
        source: SourceKind::Say,
        sender,
        at: at(0),
    }
}

#[test]
fn somebody_heard_is_made_known_renamed_and_left_alone_when_forgotten() {
    let person = |name: &str| {
        heard(Sender::Entity {
            id: id("#7"),
            name: name.to_owned(),
        })
    };
    let mut entities = Entities::new();
    let hear = |entities: &mut Entities, attested: &Attested| {
        let changes = entities.heard(attested, Trust::FULL);
        changes.iter().for_each(|change| {
            entities.apply(change, at(1)).unwrap();
        });
        changes.len()
    };
    assert_eq!(hear(&mut entities, &person("Alice")), 2);
    assert_eq!(hear(&mut entities, &person("Alice")), 1);
    assert_eq!(hear(&mut entities, &person("Alicia\n")), 2);
    assert_eq!(entities.known_as("alice"), [&id("#7")]);
    assert_eq!(
        entities
            .profile(&id("#7"))
            .unwrap()
            .relationship
            .interaction_count(),
        3
    );
    assert_eq!(hear(&mut entities, &heard(Sender::Unattributed)), 0);

    entities
        .apply(&EntityChange::Deleted { entity: id("#7") }, at(2))
        .unwrap();
    assert_eq!(hear(&mut entities, &person("Alice")), 0);

    entities
        .apply(&EntityChange::Restored { entity: id("#7") }, at(3))
        .unwrap();
    entities.apply(&created("#8"), at(3)).unwrap();
    entities.apply(&merged("#7", "#8"), at(4)).unwrap();
    assert_eq!(
        hear(&mut entities, &person("Ally")),
        2,
        "an alias and an interaction"
    );
    assert_eq!(hear(&mut entities, &person("Ally")), 1);
    assert_eq!(
        entities.profile(&id("#8")).unwrap().name,
        name("Name of #8")
    );
}

#[test]
fn rows_that_do_not_belong_together_are_refused() {
    let mut entities = known(&["#1", "#2"]);
    entities.apply(&started("#2", None), at(1)).unwrap();
    let whole = entities.to_rows();
    let mut rows = whole.clone();
    rows.profiles.pop();
    assert_eq!(
        Entities::from_rows(rows),
        Err(RowsError::NoProfile { entity: id("#2") })
    );
    let mut rows = whole.clone();
    rows.profiles.push(rows.profiles[0].clone());
    assert_eq!(
        Entities::from_rows(rows),
        Err(RowsError::Twice { entity: id("#1") })
    );

    entities.apply(&merged("#1", "#2"), at(2)).unwrap();
    let mut rows = entities.to_rows();
    rows.profiles.clear();
    rows.conversations.clear();
    assert_eq!(
        Entities::from_rows(rows),
        Err(RowsError::MergedIntoNobody { entity: id("#1") })
    );
    let mut circle = entities.to_rows();
    let mut back = circle.removed[0].clone();
    back.kept.profile.entity_id = id("#2");
    if let EntityRemoval::Merged { into, .. } = &mut back.how {
        *into = id("#1");
    }
    circle.removed.push(back);
    circle.profiles.clear();
    circle.conversations.clear();
    assert!(matches!(
        Entities::from_rows(circle),
        Err(RowsError::MergedIntoNobody { .. })
    ));
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
