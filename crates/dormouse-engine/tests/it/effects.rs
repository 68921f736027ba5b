//! An effect happens at most once, and its outcome is never guessed.

use dormouse_contracts::{Outcome, WorldErrorKind};
use dormouse_engine::{Activity, Event, Rest, StopReason};
use dormouse_testing::{Behaviour, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;
use tokio::time;

use crate::home::{Home, minutes};

fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": text}))
}

fn outcomes(home: &Home) -> Vec<Outcome> {
    let settled = home.events().into_iter().filter_map(|event| match event {
        Event::EffectSettled(settled) => Some(settled.outcome),
        _ => None,
    });
    settled.collect()
}

fn walk() -> ScriptedTurn {
    ScriptedTurn::call("move", json!({"exit": "north"}))
}

#[tokio::test(start_paused = true)]
async fn an_effect_is_written_down_before_it_is_done_and_settled_after() {
    let home = Home::new([say("hi")]);
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    let kinds: Vec<_> = home.events().iter().map(Event::kind).collect();
    assert_eq!(
        kinds,
        [
            "perceived",
            "tick_started",
            "recollected",
            "replied",
            "effect_intended",
            "effect_settled",
            "tick_ended"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_refused_effect_leaves_the_word_with_the_model() {
    let home = Home::new([
        ScriptedTurn::call("whisper", json!({"to": "Bob", "message": "psst"})),
        say("Bob is not here."),
    ]);
    home.world
        .then(Behaviour::Reject("there is no Bob here".to_owned()));
    home.hear(Perceive::whisper("Alice", "tell Bob").build())
        .await;
    assert!(home.last_shown().contains("there is no Bob here"));
    assert_eq!(home.deeds(), ["say Bob is not here."]);
}

#[tokio::test(start_paused = true)]
async fn an_unanswered_effect_that_was_done_is_found_out_and_not_repeated() {
    for behaviour in [Behaviour::DoneButUnanswered, Behaviour::DoneButHangs] {
        let home = Home::new([say("hi")]);
        home.world.then(behaviour);
        assert_eq!(
            home.hear(Perceive::whisper("Alice", "hello").build()).await,
            Rest::Settled
        );
        assert_eq!(home.deeds(), ["say hi"]);
        assert_eq!(home.world.inquiries().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_effect_the_world_never_saw_is_done_under_the_same_key() {
    for behaviour in [
        Behaviour::LostBeforeDoing,
        Behaviour::Hang,
        Behaviour::NotReached,
    ] {
        let home = Home::new([say("hi")]);
        home.world.then(behaviour);
        home.hear(Perceive::whisper("Alice", "hello").build()).await;
        assert_eq!(home.deeds(), ["say hi"]);
        let keys: std::collections::BTreeSet<_> = home
            .world
            .attempts()
            .into_iter()
            .map(|effect| effect.key)
            .collect();
        assert_eq!(keys.len(), 1, "one act, one key");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_is_shown_to_the_model_and_never_repeated() {
    let home = Home::new([walk(), say("I may have walked.")]).where_alice_follows();
    home.world.then(Behaviour::DoneButUnanswered);
    home.world.cannot_tell(true);
    home.hear(Perceive::whisper("Alice", "come").build()).await;
    assert!(
        home.last_shown().contains("\"outcome\":\"unknown\""),
        "{}",
        home.last_shown()
    );
    assert_eq!(home.deeds(), ["move", "say I may have walked."]);
}

#[tokio::test(start_paused = true)]
async fn a_terminal_tool_of_unknown_outcome_ends_the_turn_and_is_shown_in_the_next() {
    let home = Home::new([say("hi"), ScriptedTurn::call("noop", json!({}))]);
    home.world.then(Behaviour::LostBeforeDoing);
    home.world.cannot_tell(true);
    home.hear(Perceive::whisper("Alice", "hello").number(1).build())
        .await;
    assert!(home.deeds().is_empty());
    home.hear(Perceive::whisper("Alice", "hello?").number(2).build())
        .await;
    assert!(home.last_shown().contains("\"outcome\":\"unknown\""));
}

/// Lets the next `attempts` of effects fail before they reach the world. One call makes four.
fn out_of_reach(home: &Home, attempts: usize) {
    for _ in 0..attempts {
        home.world.then(Behaviour::NotReached);
    }
}

#[tokio::test(start_paused = true)]
async fn a_world_out_of_reach_delays_answers_and_loses_none() {
    let home = Home::with(ScriptedModel::looping(say("hi")));
    out_of_reach(&home, 4 * 4);
    let life = home.wake().await;
    for number in 1..=5 {
        life.accept(Perceive::whisper("Alice", "hello").number(number).build())
            .await;
    }
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["say hi"; 5], "each is answered once");
    assert_eq!(
        home.model.requests().len(),
        5,
        "what was decided is not decided again"
    );
    assert!(home.world.reused_keys().is_empty());
    let state = life.handle.inspect().await.unwrap();
    assert_eq!(
        (state.errors.consecutive, state.history.turns().len()),
        (0, 5)
    );
}

#[tokio::test(start_paused = true)]
async fn a_world_out_of_reach_for_hours_is_no_error_and_no_endless_turn() {
    let home = Home::new([walk(), say("here I am")]).where_alice_follows();
    out_of_reach(&home, 300 * 4);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "come").build())
        .await;
    time::sleep(minutes(600)).await;
    assert_eq!(home.deeds(), ["move", "say here I am"]);
    assert!(
        life.handle
            .inspect()
            .await
            .unwrap()
            .stop
            .stopped()
            .is_none()
    );
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn why_the_world_is_out_of_reach_is_in_the_status_and_in_the_log() {
    let home = Home::new([say("hi")]);
    out_of_reach(&home, 4 * 2);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    time::sleep(std::time::Duration::from_secs(5)).await;
    let why = Some("the test says so".to_owned());
    match life.handle.status().activity {
        Activity::WorldUnreachable { cause, .. } => assert_eq!(cause, why),
        other => panic!("{other:?}"),
    }
    let logged = home.events().into_iter().find_map(|event| match event {
        Event::WorldFailed(failed) => Some(failed.reason),
        _ => None,
    });
    assert_eq!(logged, Some(why));
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(
        home.stops(),
        [
            StopReason::WorldUnreachable,
            StopReason::WorldUnreachable,
            StopReason::TerminalTool
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_act_that_a_living_world_never_answers_is_unknown_in_the_end() {
    let home = Home::new([say("hi")]);
    for _ in 0..20 {
        home.world.then(Behaviour::LostBeforeDoing);
    }
    let rest = home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert_eq!(rest, Rest::Settled);
    assert_eq!(outcomes(&home), [Outcome::Unknown]);
    assert!(home.deeds().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_world_that_comes_back_slowly_after_an_outage_loses_no_act() {
    let home = Home::new([say("hi")]);
    out_of_reach(&home, 10 * 4);
    // Now the world can be reached, but is slow.
    home.world.then(Behaviour::LostBeforeDoing);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    time::sleep(minutes(20)).await;
    assert_eq!(home.deeds(), ["say hi"], "{:?}", outcomes(&home));
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_act_that_was_left_behind_waits_for_a_world_that_cannot_be_asked() {
    for kind in [WorldErrorKind::NotReached, WorldErrorKind::Unanswered] {
        let home = Home::new([say("hi")]);
        home.world.then(Behaviour::DoneButUnanswered);
        home.world.fail_next_inquiries(7, kind);
        home.hear(Perceive::whisper("Alice", "hello").build()).await;
        assert_eq!(home.deeds(), ["say hi"]);
        let outcomes: Vec<_> = outcomes(&home);
        assert!(matches!(&outcomes[..], [Outcome::Done(_)]), "{outcomes:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_act_that_waits_for_its_world_is_done_once_by_the_life_after_a_crash() {
    let home = Home::new([say("hi")]);
    out_of_reach(&home, 4);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    time::sleep(std::time::Duration::from_secs(4)).await;
    assert!(home.deeds().is_empty());
    life.crash().await;
    let life = home.wake().await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["say hi"]);
    assert!(
        !home.world.inquiries().is_empty(),
        "it is asked after first"
    );
}

#[tokio::test(start_paused = true)]
async fn what_was_said_late_is_remembered_like_what_was_said_at_once() {
    let mut home = Home::new([say("The kettle is blue.")]);
    out_of_reach(&home, 5);
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    let said = async |home: &Home| {
        let records = home.memory.records(None, 100).await.unwrap();
        let said = records.into_iter().map(|record| record.text);
        said.filter(|text| text.contains("kettle")).count()
    };
    assert_eq!(said(&home).await, 1);
    home.lose_memory();
    home.wake().await.end().await.unwrap();
    assert_eq!(said(&home).await, 1, "also where the log is read anew");
}

#[tokio::test(start_paused = true)]
async fn a_look_at_a_world_out_of_reach_is_made_again_later() {
    let home = Home::new([
        ScriptedTurn::call("inspect_location", json!({})),
        say("It is bright."),
    ]);
    home.world.answer("inspect_location", json!({}));
    home.world.fail_next_queries(7, WorldErrorKind::NotReached);
    home.hear(Perceive::whisper("Alice", "look").build()).await;
    assert!(!home.last_shown().contains("could not be reached"));
    assert_eq!(home.deeds(), ["say It is bright."]);
}

#[tokio::test(start_paused = true)]
async fn a_look_that_fails_is_told_to_the_model() {
    let home = Home::new([
        ScriptedTurn::call("inspect_location", json!({})),
        say("It is dark."),
    ]);
    home.world.answer("inspect_location", json!({}));
    home.world.fail_next_queries(4, WorldErrorKind::Unanswered);
    home.hear(Perceive::whisper("Alice", "look").build()).await;
    assert!(home.last_shown().contains("did not answer"));
    assert_eq!(home.deeds(), ["say It is dark."]);
}

#[tokio::test(start_paused = true)]
async fn one_lost_answer_to_an_inquiry_makes_nothing_unknown() {
    let home = Home::new([say("hi")]);
    home.world.then(Behaviour::DoneButUnanswered);
    home.world
        .fail_next_inquiries(1, WorldErrorKind::Unanswered);
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    let outcomes = outcomes(&home);
    assert!(matches!(&outcomes[..], [Outcome::Done(_)]), "{outcomes:?}");
}

#[tokio::test(start_paused = true)]
async fn a_receipt_that_could_not_be_read_back_is_left_out() {
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let large = json!("x".repeat(1 << 20));
    for detail in [deep, large] {
        let home = Home::new([walk(), say("done")]);
        home.world.then(Behaviour::DoWith(detail));
        home.hear(Perceive::whisper("Alice", "come").build()).await;
        assert!(home.last_shown().contains("left_out"));
        dormouse_engine::restore(&home.log, &crate::home::key())
            .await
            .unwrap();
    }
}
