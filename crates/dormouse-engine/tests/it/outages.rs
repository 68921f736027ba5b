//! Providers that are away or ask for a pause: nothing is lost, no provider is flooded with requests, and the assistant
//! continues by itself.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use dormouse_contracts::ModelErrorKind;
use dormouse_engine::{Activity, Rest, RetryError};
use dormouse_resilience::{BreakerPolicy, CircuitBreaker, Health};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;
use tokio::time;

use crate::home::{Home, Life, minutes};

fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": text}))
}

#[tokio::test(start_paused = true)]
async fn a_pause_the_provider_asks_for_is_kept() {
    let pause = Duration::from_secs(25);
    let home = Home::new([
        ScriptedTurn::Fail(ModelErrorKind::RateLimited(Some(pause))),
        say("hi"),
    ]);
    let before = time::Instant::now();
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert!(before.elapsed() >= pause);
}

#[tokio::test(start_paused = true)]
async fn no_provider_can_ask_for_a_pause_of_centuries() {
    let pause = Duration::from_secs(10_000_000_000);
    let home = Home::new([
        ScriptedTurn::Fail(ModelErrorKind::RateLimited(Some(pause))),
        say("hi"),
    ]);
    let before = time::Instant::now();
    let mut life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    let rest = life.handle.at_rest().await;
    assert!(
        matches!(&rest, Rest::Paused(pause) if pause.by.as_str() == "scripted"),
        "{rest:?}"
    );
    while life.handle.status().waiting > 0 {
        life.handle.status_changed().await.unwrap();
    }
    assert_eq!(
        home.deeds().last().unwrap(),
        "say hi",
        "it goes on by itself"
    );
    assert!(before.elapsed() <= Duration::from_secs(3_601));
}

#[tokio::test(start_paused = true)]
async fn a_retry_ends_a_pause_at_once_and_is_refused_where_nothing_waits() {
    let pause = ModelErrorKind::RateLimited(Some(minutes(30)));
    let home = Home::new([ScriptedTurn::Fail(pause), say("hi")]);
    let life = home.wake().await;
    let nothing = life.handle.retry("Alice").await;
    assert_eq!(nothing, Err(RetryError::NotWaiting));
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    assert!(matches!(life.handle.at_rest().await, Rest::Paused(_)));
    assert_eq!(life.handle.retry(" ").await, Err(RetryError::Unnamed));
    let before = time::Instant::now();
    life.handle.retry("Alice").await.unwrap();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert_eq!(home.deeds(), ["say hi"]);
}

#[tokio::test(start_paused = true)]
async fn whoever_looks_right_after_waking_sees_what_it_waits_for() {
    let pause = ModelErrorKind::RateLimited(Some(minutes(30)));
    let home = Home::new([ScriptedTurn::Fail(pause)]);
    let rest = home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert!(matches!(rest, Rest::Paused(_)));
    let life = home.wake().await;
    let activity = life.handle.status().activity;
    assert!(matches!(activity, Activity::Paused(_)), "{activity:?}");
}

#[tokio::test(start_paused = true)]
async fn a_message_outlives_a_provider_that_is_left_alone_for_hours() {
    let five_minutes = ModelErrorKind::NotAttempted(Some(minutes(5)));
    let failing = (0..100).map(|_| ScriptedTurn::Fail(five_minutes));
    let home = Home::new(failing.chain([say("there you are")]));
    let before = time::Instant::now();
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    while life.handle.at_rest().await == Rest::Waiting {
        time::sleep(Duration::from_secs(1)).await;
    }
    let rest = life.handle.at_rest().await;
    assert_eq!(
        rest,
        Rest::Settled,
        "a call that was not made is no error of the assistant's"
    );
    assert_eq!(home.deeds().last().unwrap(), "say there you are");
    assert!(
        before.elapsed() >= 100 * minutes(5),
        "nobody asks sooner than it is worth while"
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_outlives_an_outage_behind_a_breaker_and_hardly_anybody_calls_meanwhile() {
    let breaker = CircuitBreaker::new("provider", BreakerPolicy::service());
    let well_at = time::Instant::now() + minutes(180);
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let home = Home::with(ScriptedModel::looping(ScriptedTurn::with(move |_| {
        let permit = match breaker.admit() {
            Ok(permit) => permit,
            Err(open) => return ScriptedTurn::Fail(ModelErrorKind::NotAttempted(open.retry_in)),
        };
        counted.fetch_add(1, Relaxed);
        if time::Instant::now() < well_at {
            permit.record(Health::Unhealthy);
            return ScriptedTurn::Fail(ModelErrorKind::Unreachable);
        }
        permit.record(Health::Healthy);
        say("I was away")
    })));
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    assert_eq!(
        life.handle.at_rest().await,
        Rest::Waiting,
        "nobody has to wait so long"
    );
    while life.handle.at_rest().await != Rest::Settled {
        time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(home.deeds().last().unwrap(), "say I was away");
    assert!(well_at.elapsed() < minutes(6), "one cooldown later at most");
    let calls = calls.load(Relaxed);
    assert!(calls < 50, "{calls} calls in three hours");
}

/// Waits until the status reports a long wait, and returns when that happened.
async fn slow(life: &mut Life) -> time::Instant {
    while life.handle.status().slow_since.is_none() {
        life.handle.status_changed().await.unwrap();
    }
    time::Instant::now()
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_while_nothing_is_under_way_sees_when_that_ends() {
    let pauses = [
        ModelErrorKind::NotAttempted(Some(minutes(5))),
        ModelErrorKind::RateLimited(Some(minutes(5))),
    ];
    for pause in pauses {
        let home = Home::with(ScriptedModel::looping(ScriptedTurn::Fail(pause)));
        let mut life = home.wake().await;
        let begun = time::Instant::now();
        life.accept(Perceive::whisper("Alice", "hello").number(1).build())
            .await;
        let seen = slow(&mut life).await;
        assert_eq!((seen - begun).as_secs(), 20, "{pause:?}");
        let status = life.handle.status();
        let state = life.handle.inspect().await.unwrap();
        let heard_at = state.turns.current().unwrap().trigger.since();
        assert_eq!(status.waiting_since, Some(heard_at));
        let until = match status.activity {
            Activity::Waiting(until) => until,
            Activity::Paused(pause) => pause.until,
            other => panic!("{other:?}"),
        };
        assert_eq!(until.since(heard_at), minutes(5));

        // Later senders hear of it, too.
        time::sleep(minutes(1)).await;
        let begun = time::Instant::now();
        life.accept(Perceive::whisper("Bob", "hello").number(2).build())
            .await;
        assert_eq!(life.handle.status().slow_since, None);
        let seen = slow(&mut life).await;
        assert_eq!((seen - begun).as_secs(), 20, "{pause:?}");
        life.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_has_answered_and_then_knows_no_such_model_is_an_outage() {
    let begun = time::Instant::now();
    let home = Home::with(ScriptedModel::looping(ScriptedTurn::with(move |_| {
        if (minutes(1)..minutes(180)).contains(&begun.elapsed()) {
            ScriptedTurn::Fail(ModelErrorKind::NotFound)
        } else {
            say("hi")
        }
    })));
    home.hear(Perceive::whisper("Alice", "hello").number(1).build())
        .await;
    time::sleep(minutes(2)).await;
    let life = home.wake().await;
    for (number, who) in (2..).zip(["Alice", "Bob"]) {
        life.accept(Perceive::whisper(who, "hello").number(number).build())
            .await;
    }
    time::sleep(minutes(150)).await;
    let state = life.handle.inspect().await.unwrap();
    assert_eq!((state.stop.is_on(), state.errors.consecutive), (false, 0));
    time::sleep(minutes(60)).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let answers = home.deeds().iter().filter(|deed| *deed == "say hi").count();
    assert_eq!(answers, 3, "{:?}", home.deeds());
    life.end().await.unwrap();
}
