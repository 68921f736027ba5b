//! What a game reports, and reports again.

use dormouse_bridge::{BridgeFile, PEER_IDS_REMEMBERED, QueueErrorKind};
use dormouse_contracts::Senses;

use crate::place::{Place, alice, dormouse, id, page};

#[tokio::test]
async fn what_a_game_reports_again_under_its_own_id_is_delivered_once_to_each_observer() {
    let place = Place::new();
    let file = BridgeFile::open(&place.path(), "game").unwrap();
    let queue = file.queue();
    for observer in [dormouse(), alice()] {
        queue.enter(&observer).await.unwrap();
    }
    let first = queue.push_once(&dormouse(), "m1", page("hello")).await;
    let first = first.unwrap();
    assert_eq!(first.number, 1);
    let other = queue.push_once(&alice(), "m1", page("hello")).await;
    assert_eq!(
        other.unwrap().number,
        1,
        "another observer has its own feed"
    );
    // Also after it was acknowledged, and after a restart.
    queue.acknowledge(&dormouse(), 1).await.unwrap();
    drop((queue, file));
    let file = BridgeFile::open(&place.path(), "another").unwrap();
    let queue = file.queue();
    let again = queue.push_once(&dormouse(), "m1", page("hello")).await;
    assert_eq!(again.unwrap(), first);
    assert_eq!(queue.perceptions(&dormouse(), 0, 10).await.unwrap(), []);
    let second = queue.push_once(&dormouse(), "m2", page("hello")).await;
    assert_eq!(second.unwrap().number, 2, "the same words, another message");
    let third = queue.push(&dormouse(), page("hello")).await;
    assert_eq!(third.unwrap().number, 3);
    const { assert!(PEER_IDS_REMEMBERED >= 1_000) };
}

#[tokio::test]
async fn a_report_and_its_position_are_stored_together_and_found_after_a_restart() {
    let place = Place::new();
    let file = BridgeFile::open(&place.path(), "game").unwrap();
    let queue = file.queue();
    queue.enter(&dormouse()).await.unwrap();
    assert_eq!(queue.position(&dormouse()).await.unwrap(), None);
    for (position, report) in [
        ("1", Some(page("one"))),
        ("1", Some(page("one"))),
        ("2", None),
    ] {
        queue.push_at(&dormouse(), position, report).await.unwrap();
    }
    drop((queue, file));
    let file = BridgeFile::open(&place.path(), "game").unwrap();
    let queue = file.queue();
    let position = queue.position(&dormouse()).await.unwrap();
    assert_eq!(position.as_deref(), Some("2"));
    assert_eq!(queue.last_delivery(&dormouse()).await.unwrap(), 1);
    let stranger = queue.push_at(&alice(), "1", Some(page("one"))).await;
    assert_eq!(stranger.unwrap_err().kind(), QueueErrorKind::NotPresent);
    assert_eq!(queue.position(&alice()).await.unwrap(), None);
    // Also in a copy.
    let (moment, ()) = file.moment(|| ()).await.unwrap();
    let copy = place.path().with_extension("copy");
    moment.write(&copy).unwrap();
    let copy = BridgeFile::open(&copy, "game").unwrap();
    let position = copy.queue().position(&dormouse()).await.unwrap();
    assert_eq!(position.as_deref(), Some("2"));
}

#[tokio::test]
async fn nothing_is_stored_for_somebody_who_never_entered() {
    let place = Place::new();
    let file = BridgeFile::open(&place.path(), "game").unwrap();
    let refused = file.queue().push(&id("player:nobody"), page("hello")).await;
    assert_eq!(refused.unwrap_err().kind(), QueueErrorKind::NotPresent);
}

#[tokio::test]
async fn two_games_of_one_name_are_two_worlds_and_a_file_keeps_its_world() {
    let (one, other) = (Place::new(), Place::new());
    let world = |place: &Place| {
        let file = BridgeFile::open(&place.path(), "game").unwrap();
        file.world().clone()
    };
    assert_ne!(world(&one), world(&other));
    assert_eq!(world(&one), world(&one));
    assert!(world(&one).as_str().starts_with("game-"));
}
