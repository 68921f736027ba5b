//! Feeds: awaited, acknowledged, kept.

use dormouse_contracts::{PERCEPTIONS_PAGE, Perception, SenseErrorKind, Senses};
use dormouse_sandbox::{Act, JoinError, Sandbox};

use crate::cast::{Place, character, id, words};

async fn say(world: &Sandbox, text: &str) {
    world.act(&id("Bob"), Act::Say(words(text))).await.unwrap();
}

fn numbers(perceptions: &[Perception]) -> Vec<u64> {
    perceptions
        .iter()
        .map(|it| it.attested.delivery.number)
        .collect()
}

/// Drives a wait until it is over or can only go on when something happens. The world answers in order, so every
/// question of its own that the wait has put is answered by the time a later one is.
async fn drive<F: Future + Unpin>(world: &Sandbox, waiting: &mut F) -> Option<F::Output> {
    for _ in 0..4 {
        tokio::select! {
            biased;
            over = &mut *waiting => return Some(over),
            asked = world.effects(0) => drop(asked.unwrap()),
        }
    }
    None
}

#[tokio::test]
async fn waiting_ends_with_the_next_perception_and_can_be_given_up() {
    let place = Place::new();
    let world = place.settled().await;
    let alice = id("Alice");
    // Alice saw three arrive.
    let there = world.await_perceptions(&alice, 0).await.unwrap();
    assert_eq!(numbers(&there), [1, 2, 3]);

    let mut given_up = Box::pin(world.await_perceptions(&alice, 3));
    let mut waits = Box::pin(world.await_perceptions(&alice, 3));
    let mut waits_longer = Box::pin(world.await_perceptions(&alice, 4));
    assert!(drive(&world, &mut given_up).await.is_none());
    assert!(drive(&world, &mut waits).await.is_none());
    assert!(drive(&world, &mut waits_longer).await.is_none());
    drop(given_up);

    say(&world, "one").await;
    let waited = drive(&world, &mut waits).await.unwrap().unwrap();
    assert_eq!(waited[0].words.as_claimed(), "one");
    assert_eq!(numbers(&waited), [4]);
    assert!(drive(&world, &mut waits_longer).await.is_none());
    say(&world, "two").await;
    let waited = drive(&world, &mut waits_longer).await.unwrap().unwrap();
    assert_eq!(numbers(&waited), [5]);
}

#[tokio::test]
async fn waiting_goes_on_while_all_there_was_has_been_acknowledged() {
    let place = Place::new();
    let world = place.settled().await;
    let alice = id("Alice");
    world.acknowledge(&alice, 3).await.unwrap();
    let mut waits = Box::pin(world.await_perceptions(&alice, 0));
    assert!(drive(&world, &mut waits).await.is_none());
    say(&world, "four").await;
    let waited = drive(&world, &mut waits).await.unwrap().unwrap();
    assert_eq!(numbers(&waited), [4]);
}

#[tokio::test]
async fn what_is_acknowledged_leaves_the_feed_and_its_numbers_are_never_used_again() {
    let place = Place::new();
    let world = place.settled().await;
    let alice = id("Alice");
    world.acknowledge(&alice, u64::MAX).await.unwrap();
    assert_eq!(world.perceptions(&alice, 0, 10).await.unwrap(), []);
    say(&world, "four").await;
    say(&world, "five").await;
    world.acknowledge(&alice, 4).await.unwrap();
    world.acknowledge(&alice, 2).await.unwrap();
    assert_eq!(
        numbers(&world.perceptions(&alice, 0, 10).await.unwrap()),
        [5]
    );
    say(&world, "six").await;
    drop(world);
    let world = place.open();
    assert_eq!(
        numbers(&world.perceptions(&alice, 0, 10).await.unwrap()),
        [5, 6]
    );
    // Nobody else's feed is touched.
    let dormouse = world.perceptions(&id("Dormouse"), 0, 10).await.unwrap();
    assert_eq!(numbers(&dormouse), [1, 2, 3, 4]);
}

#[tokio::test]
async fn what_was_acknowledged_last_is_gone_when_the_world_was_closed() {
    let place = Place::new();
    let world = place.settled().await;
    let alice = id("Alice");
    world.acknowledge(&alice, u64::MAX).await.unwrap();
    drop(world);
    assert_eq!(place.open().perceptions(&alice, 0, 10).await.unwrap(), []);
}

#[tokio::test]
async fn the_last_delivery_is_known_whatever_was_acknowledged_and_forgotten() {
    let place = Place::new();
    let world = place.settled().await;
    let alice = id("Alice");
    assert_eq!(world.last_delivery(&alice).await.unwrap(), 3);
    world.acknowledge(&alice, u64::MAX).await.unwrap();
    say(&world, "four").await;
    drop(world);
    let world = place.open();
    assert_eq!(world.last_delivery(&alice).await.unwrap(), 4);
    let refused = world.last_delivery(&id("Nobody")).await;
    assert_eq!(refused.unwrap_err().kind(), SenseErrorKind::NotPresent);
}

#[tokio::test]
async fn a_feed_is_read_in_pages() {
    let place = Place::new();
    let world = place.settled().await;
    for number in 0..PERCEPTIONS_PAGE {
        say(&world, &format!("{number}")).await;
    }
    let alice = id("Alice");
    let page = world.perceptions(&alice, 0, usize::MAX).await.unwrap();
    assert_eq!(page.len(), PERCEPTIONS_PAGE);
    let rest = world
        .perceptions(&alice, PERCEPTIONS_PAGE as u64, usize::MAX)
        .await
        .unwrap();
    assert_eq!(rest.len(), 3);
    assert_eq!(world.perceptions(&alice, 0, 0).await.unwrap(), []);
    assert_eq!(
        numbers(&world.perceptions(&alice, 7, 2).await.unwrap()),
        [8, 9]
    );
    assert_eq!(world.perceptions(&alice, u64::MAX, 9).await.unwrap(), []);
}

#[tokio::test]
async fn only_those_who_joined_have_a_feed() {
    let place = Place::new();
    let world = place.settled().await;
    for stranger in ["Nobody", "resident:orla"] {
        let refused = world.perceptions(&id(stranger), 0, 1).await;
        assert_eq!(refused.unwrap_err().kind(), SenseErrorKind::NotPresent);
        let refused = world.await_perceptions(&id(stranger), 0).await;
        assert_eq!(refused.unwrap_err().kind(), SenseErrorKind::NotPresent);
        let refused = world.acknowledge(&id(stranger), 1).await;
        assert_eq!(refused.unwrap_err().kind(), SenseErrorKind::NotPresent);
    }
}

#[tokio::test]
async fn joining_again_is_seen_by_nobody_and_moves_nobody() {
    let place = Place::new();
    let world = place.settled().await;
    let up = || Act::Move {
        direction: "up".to_owned(),
    };
    world.act(&id("Bob"), up()).await.unwrap();
    drop(world);
    let world = place.open();
    world.join(character("Bob")).await.unwrap();
    assert!(
        world.act(&id("Bob"), up()).await.is_err(),
        "there is no way up from the attic"
    );
    let alice = world.perceptions(&id("Alice"), 3, 10).await.unwrap();
    assert_eq!(alice.len(), 1, "Bob left once: {alice:?}");

    let mut pretender = character("Mallory");
    pretender.name = "ALICE".to_owned();
    let refused = world.join(pretender).await;
    assert!(matches!(refused, Err(JoinError::Refused(_))), "{refused:?}");
}

#[tokio::test]
async fn a_clone_is_another_handle_on_the_same_world_and_the_last_one_closes_it() {
    let place = Place::new();
    let world = place.settled().await;
    let clone = world.clone();
    drop(world);
    say(&clone, "still open").await;
    drop(clone);
    place.open();
}

#[test]
fn every_call_can_be_made_from_any_thread() {
    fn is_send(_: impl Send) {}
    let place = Place::new();
    let world = place.open();
    let alice = id("Alice");
    is_send(world.join(character("Alice")));
    is_send(world.act(&alice, Act::Look));
    is_send(world.perceptions(&alice, 0, 1));
    is_send(world.await_perceptions(&alice, 0));
    is_send(world.acknowledge(&alice, 1));
    is_send(world.last_delivery(&alice));
    is_send(world.effects(0));
    is_send(world);
}
