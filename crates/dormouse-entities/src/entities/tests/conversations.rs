//! Conversations and the actions that are planned in them.

use std::time::Duration;

use dormouse_contracts::{Awaited, AwaitedKind};

use super::*;
use crate::Completion;
use crate::SpeakerRole;
use crate::testkit::said;

const HOUR: Duration = Duration::from_secs(3_600);

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
        noted_at: None,
        completion: Completion::Done,
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

#[test]
fn what_waits_for_something_is_not_over_and_leaves_the_list_when_it_is() {
    let mut entities = known(&["#1"]);
    entities.apply(&started("#1", None), at(0)).unwrap();
    let mut added = action("#1", "greet Bob", 1);
    if let EntityChange::ActionAdded { when, .. } = &mut added {
        when.push(Awaited::new(AwaitedKind::Arrives, None));
    }
    entities.apply(&added, at(10)).unwrap();
    let later = at(10).plus(HOUR * 24 * 366);
    let is_talking = |entities: &Entities| {
        let active = entities.active_conversation(&id("#1"), later, StaleAfter::default());
        active.is_some()
    };
    assert!(is_talking(&entities));
    let pending = entities.pending_actions(&id("#1"));
    assert_eq!(pending[0].condition(), "when somebody arrives");
    for (noted, left) in [(11, 1), (10, 0)] {
        let ended = EntityChange::ActionEnded {
            entity: id("#1"),
            noted_at: at(noted),
        };
        entities.apply(&ended, later).unwrap();
        assert_eq!(entities.pending_actions(&id("#1")).len(), left);
    }
    assert!(!is_talking(&entities));
}
