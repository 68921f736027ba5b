//! What becomes of acts whose answer is lost, or whose key comes again.

use std::sync::atomic::Ordering::SeqCst;

use dormouse_bridge::{Performed, Report};
use dormouse_contracts::{
    Audience, Effect, EffectInquiry, Inquire, Outcome, Perform, Receipt, Rejection, Sender, Senses,
    SourceKind, Timestamp, Words, WorldErrorKind,
};
use serde_json::json;

use crate::place::{Answer, Place, Room, alice, dormouse, say};

fn answering(answer: Answer, of_open: EffectInquiry) -> Room {
    Room {
        answer,
        of_open,
        ..Room::default()
    }
}

#[tokio::test]
async fn an_act_whose_answer_was_lost_is_never_repeated_if_the_game_cannot_tell() {
    let place = Place::new();
    let lost = answering(Answer::Lost, EffectInquiry::CannotTell);
    let world = place.open(lost).await;
    for _ in 0..3 {
        let failed = world.perform(&say("k", "hello")).await.unwrap_err();
        assert_eq!(failed.kind(), WorldErrorKind::Unanswered);
        let asked = world.inquire(&say("k", "hello")).await.unwrap();
        assert_eq!(asked, EffectInquiry::CannotTell);
    }
    assert_eq!(world.game().said.load(SeqCst), 1);
}

#[tokio::test]
async fn an_act_whose_answer_was_lost_has_the_outcome_that_the_game_remembers() {
    let done = EffectInquiry::Done(Receipt::new(json!("from the game")));
    let refused = EffectInquiry::Rejected(Rejection::new("by the game"));
    for told in [done, refused] {
        let place = Place::new();
        let world = place.open(answering(Answer::Lost, told.clone())).await;
        world.perform(&say("k", "hello")).await.unwrap_err();
        assert_eq!(world.inquire(&say("k", "hello")).await.unwrap(), told);
        drop(world);
        // It is stored, so the game is not asked again.
        let world = place.open(Room::default()).await;
        assert_eq!(world.inquire(&say("k", "hello")).await.unwrap(), told);
    }
}

#[tokio::test]
async fn an_act_that_did_not_reach_the_game_may_be_asked_for_again() {
    let place = Place::new();
    let away = answering(Answer::NotReached, EffectInquiry::CannotTell);
    let world = place.open(away).await;
    let failed = world.perform(&say("k", "hello")).await.unwrap_err();
    assert_eq!(failed.kind(), WorldErrorKind::NotReached);
    let asked = world.inquire(&say("k", "hello")).await.unwrap();
    assert_eq!(asked, EffectInquiry::NeverSeen);
    drop(world);
    let world = place.open(Room::default()).await;
    let done = world.perform(&say("k", "hello")).await.unwrap();
    assert!(matches!(done, Outcome::Done(_)), "{done:?}");
    let heard = world.perceptions(&alice(), 0, 10).await.unwrap();
    assert_eq!(heard.len(), 1);
}

#[tokio::test]
async fn a_key_that_belongs_to_another_act_is_rejected_and_nothing_is_said() {
    let place = Place::new();
    let world = place.open(Room::default()).await;
    let first = world.perform(&say("k", "hello")).await.unwrap();
    let other = world.perform(&say("k", "good bye")).await.unwrap();
    assert!(matches!(other, Outcome::Rejected(_)), "{other:?}");
    assert_eq!(world.perform(&say("k", "hello")).await.unwrap(), first);
    assert_eq!(world.game().said.load(SeqCst), 1);
}

#[test]
fn the_speaker_does_not_count_as_a_listener() {
    let may = Audience::of([alice()]);
    let effect = Effect {
        within: may.clone(),
        ..say("k", "hello")
    };
    let sender = Sender::Assistant {
        id: dormouse(),
        name: "Dormouse".to_owned(),
    };
    let words = Words::try_new("hello").unwrap();
    let report = Report::new(SourceKind::Say, sender, Timestamp::EPOCH, words);
    // A game that names everybody in the room.
    let said = Performed::said(&effect, &report, [dormouse(), alice()]);
    let Outcome::Done(receipt) = said.outcome else {
        panic!("{:?}", said.outcome);
    };
    assert_eq!(receipt.detail, json!({ "heard_by": 1 }));
    assert_eq!(receipt.heard_by, may);
    let [(listener, report)] = said.reports.as_slice() else {
        panic!("{:?}", said.reports);
    };
    assert_eq!(listener, &alice());
    assert_eq!(report.audience, Audience::of([dormouse(), alice()]));
}
