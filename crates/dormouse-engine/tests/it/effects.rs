//! An effect happens at most once, and its outcome is never guessed.

use dormouse_contracts::{Outcome, WorldErrorKind};
use dormouse_engine::{Event, Rest};
use dormouse_testing::{Behaviour, Gate, Perceive, Turn};
use serde_json::json;

use crate::home::Home;

fn say(text: &str) -> Turn {
    Turn::call("say", json!({"message": text}))
}

fn walk() -> Turn {
    Turn::call("move", json!({"exit": "north"}))
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
        Turn::call("whisper", json!({"to": "Bob", "message": "psst"})),
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
    let home = Home::new([walk(), say("I may have walked.")]);
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
    let home = Home::new([say("hi"), Turn::call("noop", json!({}))]);
    home.world.then(Behaviour::LostBeforeDoing);
    home.world.cannot_tell(true);
    home.hear(Perceive::whisper("Alice", "hello").number(1).build())
        .await;
    assert!(home.deeds().is_empty());
    home.hear(Perceive::whisper("Alice", "hello?").number(2).build())
        .await;
    assert!(home.last_shown().contains("\"outcome\":\"unknown\""));
}

#[tokio::test(start_paused = true)]
async fn a_world_out_of_reach_is_tried_again_and_then_told_to_the_model() {
    let home = Home::new([walk(), say("I cannot move.")]);
    for _ in 0..4 {
        home.world.then(Behaviour::NotReached);
    }
    home.hear(Perceive::whisper("Alice", "come").build()).await;
    assert!(home.last_shown().contains("could not be reached"));
    assert_eq!(home.deeds(), ["say I cannot move."]);
}

#[tokio::test(start_paused = true)]
async fn a_look_that_fails_is_told_to_the_model() {
    let home = Home::new([
        Turn::call("inspect_location", json!({})),
        say("It is dark."),
    ]);
    home.world.answer("inspect_location", json!({}));
    home.world.fail_next_queries(4, WorldErrorKind::Unanswered);
    home.hear(Perceive::whisper("Alice", "look").build()).await;
    assert!(home.last_shown().contains("did not answer"));
    assert_eq!(home.deeds(), ["say It is dark."]);
}

#[tokio::test(start_paused = true)]
async fn what_an_effect_prints_meanwhile_is_part_of_its_result() {
    let gate = Gate::new();
    let home = Home::new([walk(), say("A garden.")]);
    home.world
        .then(Behaviour::Wait(gate.clone(), Box::new(Behaviour::Do)));
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "come").number(1).build())
        .await;
    gate.reached().await;
    life.accept(
        Perceive::command_output("You enter the garden.")
            .number(2)
            .build(),
    )
    .await;
    gate.open();
    life.handle.at_rest().await;
    assert!(home.last_shown().contains("You enter the garden."));
}

#[tokio::test(start_paused = true)]
async fn one_lost_answer_to_an_inquiry_makes_nothing_unknown() {
    let home = Home::new([say("hi")]);
    home.world.then(Behaviour::DoneButUnanswered);
    home.world
        .fail_next_inquiries(1, WorldErrorKind::Unanswered);
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    let outcomes: Vec<_> = home
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::EffectSettled(settled) => Some(settled.outcome),
            _ => None,
        })
        .collect();
    assert!(matches!(&outcomes[..], [Outcome::Done(_)]), "{outcomes:?}");
}

#[tokio::test(start_paused = true)]
async fn long_output_is_kept_as_far_as_there_is_room() {
    let gate = Gate::new();
    let home = Home::new([walk(), say("A long story.")]);
    home.world
        .then(Behaviour::Wait(gate.clone(), Box::new(Behaviour::Do)));
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "come").number(1).build())
        .await;
    gate.reached().await;
    life.accept(
        Perceive::command_output(&"žluť ".repeat(4_000))
            .number(2)
            .build(),
    )
    .await;
    gate.open();
    life.handle.at_rest().await;
    let shown = home.last_shown();
    assert!(shown.contains("žluť žluť") && shown.contains("the output goes on"));
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
