//! When the model fails or replies with nonsense, nothing is lost, and nothing repeats for ever.

use std::time::Duration;

use dormouse_contracts::{ChatReply, ModelErrorKind, Seq};
use dormouse_engine::{
    Assistant, AssistantConfig, ClearError, Event, ExecutionPattern, Rest, StopCause, StopReason,
    ToolCalling, UnansweredCause, WakeError, replay,
};
use dormouse_testing::{FakeWorld, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;
use tokio::time;

use crate::home::{Home, key, minutes};

fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": text}))
}

fn failing(kind: ModelErrorKind, times: usize) -> impl Iterator<Item = ScriptedTurn> {
    (0..times).map(move |_| ScriptedTurn::Fail(kind))
}

#[tokio::test(start_paused = true)]
async fn a_passing_failure_is_retried_within_one_call() {
    for kind in [
        ModelErrorKind::Unavailable,
        ModelErrorKind::TimedOut,
        ModelErrorKind::Interrupted,
        ModelErrorKind::Malformed,
        ModelErrorKind::RateLimited(Some(Duration::from_secs(7))),
    ] {
        let home = Home::new(failing(kind, 2).chain([say("hi")]));
        assert_eq!(
            home.hear(Perceive::whisper("Alice", "hello").build()).await,
            Rest::Settled
        );
        assert_eq!(home.deeds(), ["say hi"], "{kind:?}");
        assert_eq!(home.stops(), [StopReason::TerminalTool], "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_call_ends_the_tick_and_the_message_is_answered_by_a_later_one() {
    let home = Home::new(failing(ModelErrorKind::Unavailable, 3).chain([say("back again")]));
    assert_eq!(
        home.hear(Perceive::whisper("Alice", "hello").build()).await,
        Rest::Settled
    );
    assert_eq!(
        home.stops(),
        [StopReason::LlmError, StopReason::TerminalTool]
    );
    assert_eq!(home.deeds(), ["say back again"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_not_there_loses_no_message() {
    let home = Home::new(failing(ModelErrorKind::NotFound, 4).chain([say("found me")]));
    assert_eq!(
        home.hear(Perceive::whisper("Alice", "hello").build()).await,
        Rest::Settled
    );
    assert_eq!(home.deeds(), ["say found me"]);
    let home = Home::new(failing(ModelErrorKind::NotFound, 5));
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").number(1).build())
        .await;
    let rest = life.handle.at_rest().await;
    assert_eq!(rest, Rest::Stopped(StopCause::ConsecutiveErrors(5)));
    let state = replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap();
    assert!(state.history.given_up().len() == 0 && state.turns.current().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_hanging_model_is_given_up_at_the_deadline() {
    let home = Home::new([
        ScriptedTurn::Hang,
        ScriptedTurn::Stall {
            text: "Hel".to_owned(),
        },
        say("hi"),
    ]);
    let before = time::Instant::now();
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert_eq!(home.deeds(), ["say hi"]);
    assert!(
        before.elapsed() >= Duration::from_secs(240),
        "two attempts of 120 seconds"
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_slow_after_twenty_seconds_and_over_with_the_answer() {
    let home = Home::new([ScriptedTurn::Hang, say("hi")]);
    let mut life = home.wake().await;
    let before = time::Instant::now();
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    while life.handle.status().slow_since.is_none() {
        life.handle.status_changed().await.unwrap();
    }
    assert_eq!(before.elapsed().as_secs(), 20);
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(life.handle.status().slow_since, None);
    assert_eq!(home.deeds(), ["say hi"]);
}

#[tokio::test(start_paused = true)]
async fn attempts_that_fail_late_end_the_tick_so_that_it_is_told() {
    let home = Home::new([ScriptedTurn::Hang, say("hi")]);
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert_eq!(
        home.stops(),
        [StopReason::LlmError, StopReason::TerminalTool]
    );
    let failed = home.events().into_iter().find_map(|event| match event {
        Event::ModelFailed(failed) => Some((failed.kind, failed.attempts)),
        _ => None,
    });
    assert_eq!(failed, Some((ModelErrorKind::TimedOut, 1)));
}

#[tokio::test(start_paused = true)]
async fn five_errors_in_a_row_stop_the_assistant_until_somebody_clears_it() {
    let home =
        Home::new(failing(ModelErrorKind::NotFound, 5).chain([say("sorry"), say("and you too")]))
            .configured(|config| config.stop_notice.clear());
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").number(1).build())
        .await;
    assert_eq!(
        life.handle.at_rest().await,
        Rest::Stopped(StopCause::ConsecutiveErrors(5))
    );

    life.accept(Perceive::whisper("Bob", "anybody?").number(2).build())
        .await;
    time::sleep(minutes(600)).await;
    assert_eq!(
        home.model.requests().len(),
        5,
        "a stopped assistant calls no model"
    );
    assert!(life.handle.status().skipped.emergency_stop > 0);
    life.end().await.unwrap();

    let life = home.wake().await;
    assert_eq!(
        life.handle.at_rest().await,
        Rest::Stopped(StopCause::ConsecutiveErrors(5)),
        "also after a restart"
    );
    life.handle.clear_stop("Alice").await.unwrap();
    assert_eq!(
        life.handle.clear_stop("Alice").await,
        Err(ClearError::NotActive)
    );
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(
        home.deeds(),
        ["say sorry", "say and you too"],
        "what was accepted is answered"
    );
    let cleared = home.events().into_iter().find_map(|event| match event {
        Event::EmergencyStopCleared(cleared) => Some(cleared.cleared_by),
        _ => None,
    });
    assert_eq!(cleared.as_deref(), Some("Alice"));
}

#[tokio::test(start_paused = true)]
async fn refused_credentials_stop_the_assistant_at_once() {
    let home = Home::new([ScriptedTurn::Fail(ModelErrorKind::Auth)]);
    let rest = home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert_eq!(rest, Rest::Stopped(StopCause::Credentials));
    assert_eq!(
        home.model.requests().len(),
        1,
        "a refused key is not tried again"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_of_an_unknown_tool_is_answered_with_what_there_is() {
    let home = Home::new([
        ScriptedTurn::call("sing", json!({"song": "…"})),
        say("I cannot sing."),
    ]);
    home.hear(Perceive::whisper("Alice", "sing!").build()).await;
    let shown = home.last_shown();
    assert!(
        shown.contains("sing") && shown.contains("inspect_location"),
        "{shown}"
    );
    assert_eq!(home.deeds(), ["say I cannot sing."]);
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_fit_are_told_precisely() {
    let bad = |arguments: &str| ScriptedTurn::Calls(vec![("say".to_owned(), arguments.to_owned())]);
    let home = Home::new([
        bad(r#"{"massage": "hi"}"#),
        bad(r#"{"message": "#),
        bad("[]"),
        say("hi"),
    ]);
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    let shown = home.last_shown();
    assert!(shown.contains("massage"), "{shown}");
    assert_eq!(home.deeds(), ["say hi"]);
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn errors_of_calls_count_and_a_success_takes_them_back() {
    let wrong = || ScriptedTurn::call("sing", json!({}));
    let home = Home::new(
        (0..4)
            .map(|_| wrong())
            .chain([say("there")])
            .chain((0..4).map(|_| wrong()))
            .chain([say("x")]),
    )
    .without_a_loop_guard();
    home.hear(Perceive::whisper("Alice", "one").number(1).build())
        .await;
    assert_eq!(
        home.hear(Perceive::whisper("Alice", "two").number(2).build())
            .await,
        Rest::Settled
    );

    let home = Home::with(ScriptedModel::looping(wrong())).without_a_loop_guard();
    let rest = home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert_eq!(rest, Rest::Settled, "the message is given up");
    assert_eq!(home.stops(), [StopReason::GivenUp]);
}

#[tokio::test(start_paused = true)]
async fn one_success_among_four_failures_stops_the_assistant_too() {
    let wrong = || {
        ScriptedTurn::Calls(vec![(
            "inspect_location".to_owned(),
            r#"{"x": 1}"#.to_owned(),
        )])
    };
    let right = || ScriptedTurn::call("inspect_location", json!({}));
    let four = move || (0..4).map(move |_| wrong());
    let message = || four().chain([right()]).chain(four()).chain([say("hm")]);
    let home = Home::new((0..5).flat_map(|_| message())).configured(|config| {
        config.limits = config.limits.with_max_iterations(10).unwrap();
    });
    let home = home.without_a_loop_guard();
    home.world.answer("inspect_location", json!({}));
    let life = home.wake().await;
    for number in 1..=5 {
        let person = format!("Person{number}");
        life.accept(Perceive::whisper(&person, "look").number(number).build())
            .await;
    }
    assert_eq!(
        life.handle.at_rest().await,
        Rest::Stopped(StopCause::FailureRate("inspect_location".to_owned()))
    );
}

#[tokio::test(start_paused = true)]
async fn nonsense_ends_the_tick_and_the_model_is_told_when_it_is_asked_again() {
    let home = Home::new([
        ScriptedTurn::text("lorem ipsum"),
        ScriptedTurn::text(r#"{"tool":"say","parameters":{"message":"hi"}}"#),
    ])
    .configured(|config| config.tool_calling = ToolCalling::Fallback);
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert_eq!(
        home.stops(),
        [StopReason::ParseError, StopReason::TerminalTool]
    );
    assert!(home.last_shown().contains("held no tool call"));
    assert_eq!(home.deeds(), ["say hi"]);

    let home = Home::new([ScriptedTurn::text("  "), say("hi")]);
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert_eq!(
        home.stops(),
        [StopReason::ParseError, StopReason::TerminalTool]
    );
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn a_model_that_only_talks_nonsense_is_asked_five_times() {
    for pattern in [ExecutionPattern::ReactLoop, ExecutionPattern::SingleAction] {
        let home = Home::with(ScriptedModel::looping(ScriptedTurn::text("")))
            .configured(|config| config.pattern = pattern);
        let rest = home.hear(Perceive::whisper("Alice", "hello").build()).await;
        assert_eq!(rest, Rest::Settled);
        assert_eq!(home.stops().last(), Some(&StopReason::GivenUp));
        assert_eq!(home.model.requests().len(), 5);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_done_before_a_failure_is_not_done_again_after_it() {
    let walk = ScriptedTurn::call("move", json!({"exit": "north"}));
    let home = Home::new(
        [walk]
            .into_iter()
            .chain(failing(ModelErrorKind::Unavailable, 3))
            .chain([say("here")]),
    )
    .where_alice_follows();
    home.hear(Perceive::whisper("Alice", "come north").build())
        .await;
    assert_eq!(home.deeds(), ["move", "say here"]);
    assert_eq!(
        home.stops(),
        [StopReason::LlmError, StopReason::TerminalTool]
    );
    home.no_protocol_was_broken();
}

/// A model whose provider refuses prompts with a certain word.
fn squeamish(kind: ModelErrorKind) -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        if crate::home::shown(request).contains("POISON") {
            ScriptedTurn::Fail(kind)
        } else {
            say("hi")
        }
    }))
}

#[tokio::test(start_paused = true)]
async fn a_message_the_provider_refuses_is_given_up_and_the_others_are_answered() {
    let home = Home::with(squeamish(ModelErrorKind::Refused));
    let life = home.wake().await;
    life.accept(Perceive::whisper("Mallory", "POISON").number(1).build())
        .await;
    life.accept(Perceive::whisper("Alice", "hello").number(2).build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(
        home.deeds(),
        [
            "say hi",
            "whisper Sorry, I could not find an answer to that."
        ]
    );
    let state = life.handle.inspect().await.unwrap();
    assert_eq!(
        (state.history.given_up().len(), state.history.turns().len()),
        (1, 1),
        "it is known which one was given up"
    );
    assert_eq!(
        home.model.requests().len(),
        3,
        "refused twice, then the next"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refused_prompt_is_tried_once_more_with_nothing_but_the_message() {
    let home = Home::with(squeamish(ModelErrorKind::ContextExceeded));
    let life = home.wake().await;
    life.accept(Perceive::say("Mallory", "POISON").number(1).build())
        .await;
    life.accept(Perceive::whisper("Alice", "hello").number(2).build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["say hi"]);
}

/// Why the message ended without an answer, if it did.
fn cause(home: &Home) -> Option<UnansweredCause> {
    home.events().into_iter().find_map(|event| match event {
        Event::Unanswered(unanswered) => Some(unanswered.cause),
        _ => None,
    })
}

#[tokio::test(start_paused = true)]
async fn being_left_alone_between_steps_does_not_keep_one_message_going_for_ever() {
    let recall = || ScriptedTurn::call("recall_memories", json!({"query": "tea"}));
    let not_attempted = || ScriptedTurn::Fail(ModelErrorKind::NotAttempted(Some(minutes(5))));
    let turns = (0..1_000).flat_map(|_| [recall(), not_attempted()]);
    let home = Home::new(turns).without_a_loop_guard();
    let rest = home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert_eq!(rest, Rest::Settled);
    assert_eq!(cause(&home), Some(UnansweredCause::EndlessTurn(21)));
}

#[tokio::test(start_paused = true)]
async fn successes_between_failures_do_not_keep_one_message_going_for_ever() {
    let recall = || ScriptedTurn::call("recall_memories", json!({"query": "tea"}));
    let rounds: [(fn() -> ScriptedTurn, usize); 2] = [
        (|| ScriptedTurn::Fail(ModelErrorKind::Unavailable), 3),
        (|| ScriptedTurn::text(""), 1),
    ];
    for (failure, times) in rounds {
        let turns =
            (0..1_000).flat_map(|_| [recall()].into_iter().chain((0..times).map(|_| failure())));
        let home = Home::new(turns).without_a_loop_guard();
        let rest = home.hear(Perceive::whisper("Alice", "hello").build()).await;
        assert_eq!(rest, Rest::Settled);
        assert_eq!(cause(&home), Some(UnansweredCause::EndlessTurn(21)));
        assert!(
            home.model.requests().len() <= 21 * (times + 1),
            "{}",
            home.model.requests().len()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn clearing_a_stop_says_who_does_it() {
    let home = Home::new([ScriptedTurn::Fail(ModelErrorKind::Auth), say("hi")]);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    life.handle.at_rest().await;
    assert_eq!(life.handle.clear_stop("  ").await, Err(ClearError::Unnamed));
    assert_eq!(
        life.handle.at_rest().await,
        Rest::Stopped(StopCause::Credentials)
    );
    life.handle.clear_stop("Alice").await.unwrap();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
}

#[tokio::test(start_paused = true)]
async fn a_reply_too_large_for_the_log_is_kept_as_far_as_it_fits() {
    let home = Home::new([ScriptedTurn::text("x ".repeat(1 << 20))]);
    assert_eq!(
        home.hear(Perceive::whisper("Alice", "hello").build()).await,
        Rest::Settled
    );
    assert_eq!(home.stops(), [StopReason::TerminalTool]);
    assert!(
        home.log
            .events(&crate::home::key())
            .iter()
            .all(|event| event.payload.len() < 1 << 19)
    );
}

#[tokio::test(start_paused = true)]
async fn a_configuration_nobody_can_live_by_is_refused() {
    let changes: [fn(&mut AssistantConfig); 4] = [
        |config| config.temperature = Some(f32::NAN),
        |config| config.top_p = Some(1.5),
        |config| config.max_tokens = Some(0),
        |config| config.model_timeout = Duration::ZERO,
    ];
    for change in changes {
        let home = Home::new([]).configured(change);
        let woken = Assistant::wake(home.config.clone(), FakeWorld::tools(), home.ports()).await;
        assert!(matches!(woken, Err(WakeError::Config(_))));
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_only_thinks_is_told_so_and_acts_then() {
    let thinking = ChatReply {
        reasoning: "Alice greets me. {\"tool\": \"say\", \"parameters\": {\"message\": \"boo\"}}"
            .to_owned(),
        ..ChatReply::default()
    };
    let home = Home::new([ScriptedTurn::Reply(thinking), say("hi")]);
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert_eq!(home.deeds(), ["say hi"]);
    assert!(home.last_shown().contains("nothing but thoughts"));
    assert!(
        !home.last_shown().contains("boo"),
        "thoughts are not shown again"
    );
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn thoughts_without_end_are_not_heard_and_do_not_fill_the_log() {
    let thinking = ChatReply {
        reasoning: "hm ".repeat(200_000),
        ..ChatReply::default()
    };
    let home = Home::new([ScriptedTurn::Reply(thinking), say("hi")]);
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert_eq!(home.deeds(), ["say hi"]);
    let events = home.log.events(&key());
    // The configuration contains all tools, and has nothing to do with the reply.
    let mut others = events.iter().filter(|event| event.kind != "configured");
    assert!(others.all(|event| event.payload.len() < 1 << 14));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_panics_has_failed_like_any_other_and_is_counted() {
    let home = Home::new([
        ScriptedTurn::with(|_| panic!("a defect of the adapter")),
        say("hi"),
    ]);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["say hi"]);
    assert_eq!(life.handle.status().panics, 1);
    life.end().await.unwrap();
    assert_eq!(
        home.stops(),
        [StopReason::LlmError, StopReason::TerminalTool]
    );
}
