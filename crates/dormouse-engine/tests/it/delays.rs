//! Answers that take long: the sender is asked to wait once, and loses nothing.

use std::time::Duration;

use dormouse_engine::{Event, ExecutionPattern, Rest};
use dormouse_testing::{Behaviour, Gate, Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;
use tokio::time;

use crate::home::{Home, Life, in_virtual_time};

const WAIT: &str = "Let me think about that.";

fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": text}))
}

fn patient(turns: impl IntoIterator<Item = ScriptedTurn>) -> Home {
    Home::new(turns).configured(|config| config.wait_notice = WAIT.to_owned())
}

/// Waits so long, and then lets the model answer.
async fn answer_after(life: &Life, gate: &Gate, seconds: u64) -> Rest {
    time::sleep(Duration::from_secs(seconds)).await;
    gate.open();
    life.handle.at_rest().await
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_is_asked_to_the_way_they_spoke_and_the_same_call_answers() {
    for pattern in [ExecutionPattern::ReactLoop, ExecutionPattern::SingleAction] {
        let gate = Gate::new();
        let home =
            patient([ScriptedTurn::after(&gate, say("hi"))]).configured(|c| c.pattern = pattern);
        let life = home.wake().await;
        life.accept(Perceive::whisper("Alice", "hello").build())
            .await;
        assert_eq!(answer_after(&life, &gate, 50).await, Rest::Settled);
        assert_eq!(home.deeds(), [&format!("whisper {WAIT}"), "say hi"]);
        assert_eq!(home.model.requests().len(), 1, "the model is asked once");
        assert_eq!(life.handle.status().slow_since, None);
        home.no_protocol_was_broken();
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_asks_to_wait_once_however_long_it_takes() {
    let home = patient([
        ScriptedTurn::Hang,
        ScriptedTurn::Hang,
        ScriptedTurn::Hang,
        say("hi"),
    ]);
    home.hear(Perceive::addressed("Alice", "hello").build())
        .await;
    assert_eq!(home.deeds(), [&format!("say {WAIT}"), "say hi"]);
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_to_wait_for_a_quick_answer_or_where_the_operator_says_nothing() {
    let (quick, silent) = (
        patient([say("hi")]),
        Home::new([ScriptedTurn::Hang, say("hi")]),
    );
    for home in [quick, silent] {
        home.hear(Perceive::addressed("Alice", "hello").build())
            .await;
        assert_eq!(home.deeds(), ["say hi"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_world_that_does_not_take_it_costs_the_message_nothing() {
    let gate = Gate::new();
    let home = patient([ScriptedTurn::after(&gate, say("hi"))]);
    home.world
        .then(Behaviour::Reject("the room is too loud".into()));
    let life = home.wake().await;
    life.accept(Perceive::addressed("Alice", "hello").build())
        .await;
    assert_eq!(answer_after(&life, &gate, 50).await, Rest::Settled);
    assert_eq!(home.model.requests().len(), 1);
    let state = life.handle.inspect().await.unwrap();
    assert_eq!(state.errors.consecutive, 0);
    assert!(home.deeds().contains(&"say hi".to_owned()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(24)))]

    /// After a kill at any moment of a long wait, nobody is asked to wait twice, and the answer comes once.
    #[test]
    fn a_kill_never_asks_twice(killed_after_ms in 0_u64..40_000) {
        in_virtual_time(async {
            let model = ScriptedModel::new([ScriptedTurn::Hang, ScriptedTurn::Hang]).then_for_ever(say("hi"));
            let home = Home::with(model).configured(|c| c.wait_notice = WAIT.to_owned());
            let life = home.wake().await;
            life.accept(Perceive::addressed("Alice", "hello").build()).await;
            time::sleep(Duration::from_millis(killed_after_ms)).await;
            life.crash().await;
            let life = home.wake().await;
            life.handle.at_rest().await;
            let deeds = home.deeds();
            assert_eq!(deeds, [&format!("say {WAIT}"), "say hi"], "{killed_after_ms}");
            let delayed = |event: &Event| matches!(event, Event::Delayed(_));
            assert_eq!(home.events().iter().filter(|event| delayed(event)).count(), 1);
        });
    }
}
