//! An operator who stops an assistant.

use dormouse_contracts::Message;
use dormouse_engine::{
    AssistantConfig, ClearError, Event, ResetError, Rest, StopCause, StopError, StopReason,
};
use dormouse_testing::{Behaviour, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::home::{Home, Life, key, minutes};

#[tokio::test(start_paused = true)]
async fn an_operator_does_not_wait_for_a_model_and_loses_no_message() {
    let home = Home::new([
        ScriptedTurn::Hang,
        ScriptedTurn::call("say", json!({"message": "here I am"})),
        ScriptedTurn::call("noop", json!({})),
    ]);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello?").build())
        .await;
    tokio::task::yield_now().await;
    let begun = tokio::time::Instant::now();
    assert_eq!(life.handle.stop(" ", "").await, Err(StopError::Unnamed));
    life.handle.stop("Carol", "").await.unwrap();
    let stopped = Rest::Stopped(StopCause::Operator("Carol".to_owned()));
    assert_eq!(life.handle.at_rest().await, stopped);
    assert!(begun.elapsed().is_zero(), "{:?}", begun.elapsed());
    assert_eq!(life.handle.stop("Dan", "").await, Err(StopError::AlreadyOn));
    life.end().await.unwrap();

    let life = home.wake().await;
    assert_eq!(life.handle.at_rest().await, stopped, "also after a restart");
    life.handle.clear_stop("Carol").await.unwrap();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), [NOTICE, "say here I am"]);
    life.end().await.unwrap();
    home.no_protocol_was_broken();
}

const NOTICE: &str =
    "say I have been stopped for now. What you say to me is kept until I may go on.";

/// Five people each ask for something that a tool always refuses, and the model only calls that tool.
async fn five_people_ask(home: &Home) -> Life {
    home.world.refuse("move", "the door is jammed");
    let life = home.wake().await;
    for number in 1..=5 {
        let person = format!("Person{number}");
        life.accept(Perceive::whisper(&person, "go!").number(number).build())
            .await;
    }
    life
}

fn always_moving() -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::call("move", json!({"exit": "north"})))
}

#[tokio::test(start_paused = true)]
async fn five_failing_calls_of_a_tool_stop_it_and_it_says_so_and_asks_nobody_until_a_name_clears_it()
 {
    let home = Home::with(always_moving()).configured(|config| {
        config.apology.clear();
    });
    let life = five_people_ask(&home).await;
    let stopped = Rest::Stopped(StopCause::ConsecutiveErrors(5));
    assert_eq!(life.handle.at_rest().await, stopped);
    let status = life.handle.status();
    assert_eq!(
        (status.safety.stops, status.safety.consecutive_errors),
        (1, 5)
    );
    assert_eq!(status.safety.failures[0].tool, "move");
    assert_eq!(home.deeds(), [NOTICE], "nothing else was done");

    let seen = |home: &Home| {
        let world = &home.world;
        let requests = (
            world.attempts().len(),
            world.queries().len(),
            world.inquiries().len(),
        );
        (home.model.requests().len(), requests)
    };
    let before = seen(&home);
    life.accept(Perceive::whisper("Zoe", "hello?").number(6).build())
        .await;
    tokio::time::sleep(minutes(600)).await;
    life.crash().await;
    let life = home.wake().await;
    assert_eq!(life.handle.at_rest().await, stopped);
    tokio::time::sleep(minutes(600)).await;
    assert_eq!(
        seen(&home),
        before,
        "neither model nor world is asked while it is stopped"
    );

    assert_eq!(life.handle.clear_stop(" ").await, Err(ClearError::Unnamed));
    life.handle.clear_stop("Carol").await.unwrap();
    let cleared = home.events().into_iter().find_map(|event| match event {
        Event::EmergencyStopCleared(cleared) => Some(cleared.cleared_by),
        _ => None,
    });
    assert_eq!(cleared.as_deref(), Some("Carol"));
    life.crash().await;
    let notices = home.deeds().into_iter().filter(|deed| deed == NOTICE);
    assert_eq!(notices.count(), 1, "cleared, it says nothing more");
}

#[tokio::test(start_paused = true)]
async fn failing_calls_of_one_person_alone_stop_nobody() {
    let home = Home::with(always_moving());
    home.world.refuse("move", "the door is jammed");
    let life = home.wake().await;
    for number in 1..=8 {
        let message = Perceive::whisper("Alice", "go!").number(number);
        life.accept(message.build()).await;
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
    }
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_notice_is_said_at_most_once_whenever_it_is_killed() {
    for behaviour in [
        Behaviour::Do,
        Behaviour::DoneButHangs,
        Behaviour::Hang,
        Behaviour::DoneButUnanswered,
        Behaviour::Reject("nobody may speak here".to_owned()),
        Behaviour::NotReached,
    ] {
        let home = Home::new([]);
        home.world.then(behaviour);
        let life = home.wake().await;
        life.handle
            .stop("Carol", "the roof is on fire")
            .await
            .unwrap();
        tokio::task::yield_now().await;
        life.crash().await;
        let life = home.wake().await;
        assert!(matches!(life.handle.at_rest().await, Rest::Stopped(_)));
        life.end().await.unwrap();
        let life = home.wake().await;
        assert!(matches!(life.handle.at_rest().await, Rest::Stopped(_)));
        life.end().await.unwrap();
        assert!(home.deeds().len() <= 1, "{:?}", home.deeds());
        assert_eq!(home.world.reused_keys(), []);
        let events = home.events();
        let stops = events.iter().find_map(|event| match event {
            Event::EmergencyStopTriggered(it) => it.reason.as_deref(),
            _ => None,
        });
        assert_eq!(stops, Some("the roof is on fire"));
        let settled = |event: &&Event| matches!(event, Event::StopNoticeSettled(_));
        assert_eq!(events.iter().filter(settled).count(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_notice_says_nothing_and_a_notice_under_way_ends_with_the_stop() {
    let home = Home::new([]).configured(|config| config.stop_notice = " ".to_owned());
    let life = home.wake().await;
    life.handle.stop("Carol", "").await.unwrap();
    assert!(matches!(life.handle.at_rest().await, Rest::Stopped(_)));
    life.end().await.unwrap();
    assert_eq!(home.deeds(), [""; 0]);

    let home = Home::new([ScriptedTurn::call("say", json!({"message": "here I am"}))]);
    home.world.then(Behaviour::Hang);
    let life = home.wake().await;
    life.handle.stop("Carol", "").await.unwrap();
    tokio::task::yield_now().await;
    life.handle.clear_stop("Carol").await.unwrap();
    life.accept(Perceive::whisper("Alice", "hello?").build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["say here I am"]);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn resetting_the_history_shows_no_earlier_turn_and_clears_the_stop() {
    let home = Home::new([
        ScriptedTurn::call("say", json!({"message": "the moon is made of cheese"})),
        ScriptedTurn::call("say", json!({"message": "I do not know"})),
    ]);
    let life = home.wake().await;
    life.accept(
        Perceive::whisper("Alice", "what is the moon?")
            .number(1)
            .build(),
    )
    .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    life.handle.stop("Carol", "").await.unwrap();
    assert_eq!(
        life.handle.reset_history("").await,
        Err(ResetError::Unnamed)
    );
    life.handle.reset_history("Carol").await.unwrap();
    let state = life.handle.inspect().await.unwrap();
    assert_eq!(
        (state.history.turns().len(), state.stop.is_on()),
        (0, false)
    );
    life.accept(Perceive::whisper("Alice", "and now?").number(2).build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let messages = home.model.requests().pop().unwrap().messages;
    assert!(
        !messages
            .iter()
            .any(|message| matches!(message, Message::Assistant { .. }))
    );
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_same_call_with_the_same_result_ends_the_loop_and_its_sender_hears_so() {
    let inspect = |arguments: &str| {
        ScriptedTurn::Calls(vec![("inspect_location".to_owned(), arguments.to_owned())])
    };
    let model = || ScriptedModel::looping(inspect("{}"));
    for (limit, calls) in [(2, 2), (3, 3), (4, 4)] {
        let home = Home::with(model()).configured(|config| {
            config.limits = config.limits.with_max_repeated_calls(limit).unwrap();
            config.limits = config.limits.with_max_iterations(10).unwrap();
        });
        home.world
            .answer("inspect_location", json!({"roses": "red"}));
        home.hear(Perceive::whisper("Alice", "hello").build()).await;
        assert_eq!(home.world.queries().len(), calls, "at most {limit}");
        assert_eq!(home.stops(), [StopReason::RepeatedCall]);
        assert_eq!(
            home.deeds(),
            ["whisper Sorry, I could not find an answer to that."]
        );
    }
    let out_of_range = AssistantConfig::new(key())
        .limits
        .with_max_repeated_calls(1);
    assert!(out_of_range.is_err());

    // Other arguments, or another result, are not the same call.
    let home = Home::new([
        ScriptedTurn::call("sing", json!({"a": 1, "b": 2})),
        ScriptedTurn::call("sing", json!({"b": 2, "a": 1})),
        ScriptedTurn::call("sing", json!({"a": 1})),
        ScriptedTurn::call("say", json!({"message": "I cannot sing."})),
    ]);
    home.hear(Perceive::whisper("Alice", "sing").build()).await;
    assert_eq!(home.stops(), [StopReason::TerminalTool]);
}
