//! When events are written: each commitment to act before the act, and everything else together with it.

use std::{sync::Arc, time::Duration};

use dormouse_contracts::{
    BoxFuture, Effect, EffectInquiry, Inquire, Observe, Outcome, Perform, Query, Rejection,
    WorldError,
};
use dormouse_engine::{Assistant, Event, Ports, Rest};
use dormouse_testing::{FakeWorld, Gate, Perceive, ScriptedTurn, effort};
use proptest::{prelude::*, test_runner::TestCaseResult};
use serde_json::{Value, json};
use tokio::time;

use crate::home::{Home, in_virtual_time, key};

fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": text}))
}

fn go() -> ScriptedTurn {
    ScriptedTurn::call("move", json!({"exit": "north"}))
}

fn look() -> ScriptedTurn {
    ScriptedTurn::call("inspect_location", json!({}))
}

/// How many writes one message takes.
async fn writes(turns: impl IntoIterator<Item = ScriptedTurn>) -> usize {
    let home = Home::new(turns).where_alice_follows();
    let life = home.wake_configured().await;
    let before = home.log.appends();
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let writes = home.log.appends() - before;
    life.crash().await;
    assert!(matches!(home.events().last(), Some(Event::TickEnded(_))));
    writes
}

#[tokio::test(start_paused = true)]
async fn an_answered_message_costs_three_writes() {
    // The writes are: accepted; intended; settled with the end of the turn.
    assert_eq!(writes([say("hi")]).await, 3);
}

#[tokio::test(start_paused = true)]
async fn looks_cost_no_write_of_their_own_and_each_act_costs_one() {
    assert_eq!(writes([look(), look(), say("hi")]).await, 3);
    assert_eq!(writes([go(), look(), go(), say("hi")]).await, 5);
}

#[tokio::test(start_paused = true)]
async fn what_was_decided_is_on_disk_soon_even_if_the_model_takes_its_time() {
    let gate = Gate::new();
    let home = Home::new([ScriptedTurn::after(&gate, say("hi"))]);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    gate.reached().await;
    time::sleep(Duration::from_millis(100)).await;
    let kinds: Vec<_> = home.events().iter().map(Event::kind).collect();
    assert_eq!(kinds, ["perceived", "tick_started", "recollected"]);
}

fn turns() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..4_usize, 0..5)
}

fn turn(number: usize) -> ScriptedTurn {
    match number {
        0 => go(),
        1 => look(),
        2 => ScriptedTurn::call("store_memory", json!({"text": "Alice prefers tea"})),
        _ => ScriptedTurn::call("recall_memories", json!({"query": "tea"})),
    }
}

/// A world that checks that every act is in the log before it carries it out.
struct Witness(Home);

impl Perform for Witness {
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        let is_intended =
            |event: &Event| matches!(event, Event::EffectIntended(it) if it.key == effect.key);
        assert!(
            self.0.events().iter().any(is_intended),
            "{} is not on disk",
            effect.key
        );
        self.0.world.perform(effect)
    }
}

impl Observe for Witness {
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        self.0.world.observe(query)
    }
}

impl Inquire for Witness {
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        self.0.world.inquire(effect)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(24)))]

    #[test]
    fn an_act_is_on_disk_before_it_is_done_and_everything_is_at_rest(numbers in turns()) {
        in_virtual_time(async {
            let steps = numbers.iter().map(|number| turn(*number));
            let home = Home::new(steps.chain([say("done")])).configured(|config| {
                config.limits = config.limits.with_max_repeated_calls(100).unwrap();
            });
            let ports = Ports { world: Arc::new(Witness(home.clone())), ..home.ports() };
            let woken = Assistant::wake(home.config.clone(), FakeWorld::tools(), ports).await;
            let (assistant, handle) = woken.unwrap();
            let talk = async {
                let message = Perceive::whisper("Alice", "hello").build();
                handle.perceive(message).await.unwrap();
                handle.at_rest().await;
                let state = handle.inspect().await.unwrap();
                let written = home.log.events(&key()).len();
                handle.shut_down().await;
                (state.seq.0, written as u64)
            };
            let (in_state, on_disk) = tokio::select! {
                seen = talk => seen,
                ended = assistant.run() => panic!("it ended: {ended:?}"),
            };
            prop_assert_eq!(in_state, on_disk);
            prop_assert!(home.deeds().contains(&"say done".to_owned()));
            TestCaseResult::Ok(())
        })?;
    }
}
