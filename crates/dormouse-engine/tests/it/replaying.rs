//! The state is the fold of the log, no matter how it was built.

use dormouse_contracts::{AppendErrorKind, ModelErrorKind, Seq};
use dormouse_engine::{Rest, replay, restore};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;

use crate::home::{Home, in_virtual_time, key};

fn turn(kind: u8) -> ScriptedTurn {
    match kind % 9 {
        0 => ScriptedTurn::call("say", json!({"message": "hello"})),
        1 => ScriptedTurn::call("store_memory", json!({"text": "the key is red"})),
        2 => ScriptedTurn::call("recall_memories", json!({"query": "key"})),
        3 => ScriptedTurn::call("move", json!({"exit": "north"})),
        4 => ScriptedTurn::call("inspect_location", json!({})),
        5 => ScriptedTurn::call("sing", json!({})),
        6 => ScriptedTurn::Fail(ModelErrorKind::Refused),
        7 => ScriptedTurn::text(""),
        _ => ScriptedTurn::call("noop", json!({})),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(48)))]

    #[test]
    fn a_snapshot_and_the_tail_equal_the_whole_log_at_every_restart(
        kinds in proptest::collection::vec(any::<u8>(), 1..40),
        restart_every in 1_usize..6,
    ) {
        in_virtual_time(async {
            let home = Home::with(ScriptedModel::new(kinds.iter().map(|kind| turn(*kind))).then_for_ever(turn(8)));
            home.world.answer("inspect_location", json!({"room": "Attic"}));
            let mut life = home.wake().await;
            for number in 1..=12_u64 {
                life.accept(Perceive::whisper("Alice", "go on").number(number).build()).await;
                life.handle.at_rest().await;
                life.handle.clear_stop("a test").await.ok();
                if (number as usize).is_multiple_of(restart_every) {
                    let alive = life.handle.inspect().await.unwrap();
                    life.end().await.unwrap();
                    let whole = replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap();
                    let restored = restore(&home.log, &key()).await.unwrap();
                    assert_eq!(whole.hash().unwrap(), restored.hash().unwrap());
                    assert_eq!(whole, alive);
                    life = home.wake().await;
                }
            }
            home.no_protocol_was_broken();
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_is_saved_while_it_lives_and_losing_it_costs_nothing() {
    let home = Home::with(ScriptedModel::looping(ScriptedTurn::call(
        "noop",
        json!({}),
    )));
    let life = home.wake().await;
    for number in 1..=400 {
        life.accept(Perceive::whisper("Alice", "hello").number(number).build())
            .await;
        life.handle.at_rest().await;
    }
    assert!(
        !home.log.snapshots(&key()).is_empty(),
        "after 2,400 events one is there"
    );
    let alive = life.handle.inspect().await.unwrap();
    life.crash().await;
    let with = restore(&home.log, &key()).await.unwrap();
    home.log.lose_snapshots();
    let without = restore(&home.log, &key()).await.unwrap();
    assert_eq!(with.hash().unwrap(), without.hash().unwrap());
    assert_eq!(with, alive);
}

#[tokio::test(start_paused = true)]
async fn a_life_can_be_looked_at_as_it_was_at_any_event() {
    let home = Home::new([
        ScriptedTurn::call("store_memory", json!({"text": "tea"})),
        ScriptedTurn::call("noop", json!({})),
    ]);
    home.hear(Perceive::whisper("Alice", "remember tea").build())
        .await;
    let end = home.events().len() as u64;
    let mut known = Vec::new();
    for place in 0..=end {
        let state = replay(&home.log, &key(), Seq(place)).await.unwrap();
        assert_eq!(state.seq, Seq(place));
        known.push(state.counts.remembered);
    }
    assert_eq!((known[0], known[known.len() - 1]), (0, 1));
    assert!(known.is_sorted());
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_that_cannot_be_saved_costs_no_message_and_stops_nothing() {
    let home = Home::with(ScriptedModel::looping(ScriptedTurn::call(
        "say",
        json!({"message": "hi"}),
    )));
    home.log
        .fail_next_snapshots(usize::MAX, AppendErrorKind::Storage);
    for number in 1..=2 {
        let rest = home
            .hear(Perceive::addressed("Alice", "hello").number(number).build())
            .await;
        assert_eq!(rest, Rest::Settled);
    }
    assert!(home.log.snapshots(&key()).is_empty());
    assert_eq!(home.deeds(), ["say hi", "say hi"]);
}

#[tokio::test(start_paused = true)]
async fn a_life_in_which_nothing_happens_saves_no_snapshot() {
    let home = Home::with(ScriptedModel::looping(ScriptedTurn::call(
        "noop",
        json!({}),
    )));
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert!(!home.log.snapshots(&key()).is_empty(), "something happened");

    let life = home.wake().await;
    // Any snapshot found later is a new one.
    home.log.lose_snapshots();
    life.end().await.unwrap();
    assert!(home.log.snapshots(&key()).is_empty());

    // Folding the log at the start saves a snapshot, even if nothing happens afterwards.
    home.wake().await.end().await.unwrap();
    assert_eq!(home.log.snapshots(&key()).len(), 1);
    home.no_protocol_was_broken();
}
