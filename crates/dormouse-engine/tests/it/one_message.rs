//! A message that always fails delays nobody for long, stops nobody, and ends with a notice to its sender.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use dormouse_contracts::{ChatReply, ChatRequest, FinishReason, Message, ModelErrorKind};
use dormouse_engine::{Rest, StopCause};
use dormouse_resilience::{BreakerPolicy, CircuitBreaker, Health};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;
use tokio::time;

use crate::home::{Home, Life, in_virtual_time, minutes};

const SORRY: &str = "whisper Sorry, I could not find an answer to that.";
/// The notice for somebody who waits through an outage.
const WAITING: &str = "whisper I cannot think at the moment. I will answer as soon as I can.";

fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": text}))
}

/// Whether the message to be answered contains this.
fn asks(request: &ChatRequest, what: &str) -> bool {
    let mut users = request.messages.iter().filter_map(|message| match message {
        Message::User { content } => Some(content),
        _ => None,
    });
    let is_last_step = |content: &&String| content.starts_with("(This is your last step");
    users
        .rfind(|content| !is_last_step(content))
        .is_some_and(|content| content.contains(what))
}

/// A model that behaves differently for messages with the word POISON.
fn poisoned_by(poison: impl Fn() -> ScriptedTurn + Send + Sync + 'static) -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        if asks(request, "POISON") {
            poison()
        } else {
            say("hi")
        }
    }))
}

fn filtered() -> ScriptedTurn {
    ScriptedTurn::Reply(ChatReply {
        finish: FinishReason::ContentFilter,
        ..ChatReply::default()
    })
}

type Poison = (&'static str, fn() -> ScriptedTurn);

fn poisons() -> Vec<Poison> {
    vec![
        ("filtered", filtered),
        ("empty", || ScriptedTurn::text("")),
        ("unknown tool", || ScriptedTurn::call("sing", json!({}))),
        ("wrong arguments", || {
            ScriptedTurn::call("say", json!({"massage": "hi"}))
        }),
        ("unavailable", || {
            ScriptedTurn::Fail(ModelErrorKind::Unavailable)
        }),
        ("malformed", || {
            ScriptedTurn::Fail(ModelErrorKind::Malformed)
        }),
        ("interrupted", || ScriptedTurn::CutOff {
            text: "Once".to_owned(),
        }),
        ("hanging", || ScriptedTurn::Hang),
    ]
}

async fn whisper(life: &Life, from: &str, words: &str, number: u64) {
    life.accept(Perceive::whisper(from, words).number(number).build())
        .await;
}

/// How often something was said to somebody.
fn said(home: &Home, what: &str) -> usize {
    home.deeds().iter().filter(|deed| *deed == what).count()
}

#[tokio::test(start_paused = true)]
async fn a_message_that_always_fails_delays_the_next_one_for_a_few_minutes_at_most() {
    for (name, poison) in poisons() {
        let home = Home::with(poisoned_by(poison));
        let life = home.wake().await;
        whisper(&life, "Mallory", "POISON", 1).await;
        whisper(&life, "Alice", "hello", 2).await;
        time::sleep(minutes(10)).await;
        assert_eq!(said(&home, "say hi"), 1, "{name}: {:?}", home.deeds());
        life.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_always_fails_is_given_up_and_its_sender_is_told() {
    for (name, poison) in poisons() {
        let home = Home::with(poisoned_by(poison));
        let life = home.wake().await;
        whisper(&life, "Mallory", "POISON", 1).await;
        for number in 2..=31 {
            whisper(&life, "Alice", "hello", number).await;
            time::sleep(minutes(10)).await;
        }
        assert_eq!(life.handle.at_rest().await, Rest::Settled, "{name}");
        assert_eq!(
            said(&home, "say hi"),
            30,
            "{name}: every other one is answered"
        );
        let sorry: Vec<_> = home
            .deeds()
            .into_iter()
            .filter(|deed| deed.starts_with("whisper"))
            .collect();
        assert_eq!(
            sorry,
            ["whisper Sorry, I could not find an answer to that."],
            "{name}"
        );
        life.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_one_person_says_never_stops_the_assistant_for_another() {
    for (name, poison) in poisons() {
        let home = Home::with(poisoned_by(poison));
        let life = home.wake().await;
        for number in 1..=20 {
            whisper(&life, "Mallory", "POISON", number).await;
        }
        whisper(&life, "Alice", "hello", 21).await;
        time::sleep(minutes(600)).await;
        let state = life.handle.inspect().await.unwrap();
        assert!(!state.stop.is_on(), "{name}");
        assert_eq!(said(&home, "say hi"), 1, "{name}");
        life.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn however_many_messages_of_one_person_fail_another_waits_for_a_few_minutes_at_most() {
    for (name, poison) in poisons() {
        for ahead in [Duration::ZERO, Duration::from_secs(600)] {
            let home = Home::with(poisoned_by(poison));
            let life = home.wake().await;
            for number in 1..=20 {
                whisper(&life, "Mallory", "POISON", number).await;
            }
            time::sleep(ahead).await;
            whisper(&life, "Alice", "hello", 21).await;
            time::sleep(minutes(15)).await;
            assert_eq!(said(&home, "say hi"), 1, "{name} after {ahead:?}");
            life.end().await.unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nonsense_for_five_people_in_a_row_stops_the_assistant() {
    let home = Home::with(poisoned_by(filtered));
    let life = home.wake().await;
    for number in 1..=5 {
        whisper(&life, &format!("Person{number}"), "POISON", number).await;
    }
    assert_eq!(
        life.handle.at_rest().await,
        Rest::Stopped(StopCause::ConsecutiveErrors(5))
    );
    assert_eq!(
        home.deeds().len(),
        6,
        "each of them was told, and all that it stopped"
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_for_which_alone_there_is_no_such_model_stops_nobody_and_is_given_up() {
    let home = Home::with(poisoned_by(|| ScriptedTurn::Fail(ModelErrorKind::NotFound)));
    let life = home.wake().await;
    whisper(&life, "Alice", "hello", 1).await;
    whisper(&life, "Mallory", "POISON", 2).await;
    for number in 3..=20 {
        whisper(&life, "Alice", "hello", number).await;
        time::sleep(minutes(10)).await;
        assert_eq!(said(&home, "say hi") + 1, number as usize);
    }
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(said(&home, SORRY), 1, "{:?}", home.deeds());
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_no_message_can_have_caused_gives_none_up_while_others_are_answered() {
    for kind in [
        ModelErrorKind::RateLimited(None),
        ModelErrorKind::Unreachable,
    ] {
        let until = time::Instant::now() + minutes(120);
        let home = Home::with(poisoned_by(move || {
            if time::Instant::now() < until {
                ScriptedTurn::Fail(kind)
            } else {
                say("there you are")
            }
        }));
        let life = home.wake().await;
        whisper(&life, "Mallory", "POISON", 1).await;
        for number in 2..=30 {
            whisper(&life, "Alice", "hello", number).await;
            time::sleep(minutes(5)).await;
        }
        assert_eq!(life.handle.at_rest().await, Rest::Settled, "{kind:?}");
        assert_eq!(said(&home, "say hi"), 29, "{kind:?}");
        assert_eq!(said(&home, "say there you are"), 1, "{kind:?}");
        assert_eq!(said(&home, SORRY), 0, "{kind:?}");
        life.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_limits_the_rate_without_a_time_answers_nearly_as_often_as_it_can() {
    let breaker = CircuitBreaker::new("provider", BreakerPolicy::service());
    let next = Mutex::new(time::Instant::now());
    let home = Home::with(ScriptedModel::looping(ScriptedTurn::with(move |_| {
        let permit = match breaker.admit() {
            Ok(permit) => permit,
            Err(open) => return ScriptedTurn::Fail(ModelErrorKind::NotAttempted(open.retry_in)),
        };
        let (kind, now) = (ModelErrorKind::RateLimited(None), time::Instant::now());
        let mut next = next.lock().unwrap();
        if now < *next {
            permit.record(if kind.is_service_unhealthy() {
                Health::Unhealthy
            } else {
                Health::Irrelevant
            });
            return ScriptedTurn::Fail(kind);
        }
        *next = now + Duration::from_secs(10);
        permit.record(Health::Healthy);
        say("hi")
    })));
    let life = home.wake().await;
    for number in 1..=40 {
        whisper(&life, "Alice", "hello", number).await;
    }
    time::sleep(minutes(3)).await;
    // At most 18 were possible.
    assert!(said(&home, "say hi") >= 12, "{}", said(&home, "say hi"));
    life.end().await.unwrap();
}

/// The failures that a message may have caused, as long as no other message is tried.
fn causable() -> impl Iterator<Item = Poison> {
    let of_the_server = ["unavailable", "malformed", "interrupted", "hanging"];
    let poisons = poisons().into_iter();
    poisons.filter(move |(name, _)| of_the_server.contains(name))
}

#[tokio::test(start_paused = true)]
async fn a_message_that_fails_for_an_hour_while_nothing_else_is_asked_is_given_up_with_a_word() {
    for (name, poison) in causable() {
        for answered_before in [0, 2] {
            let home = Home::with(poisoned_by(poison));
            let life = home.wake().await;
            for number in 1..=answered_before {
                whisper(&life, "Alice", "hello", number).await;
                time::sleep(minutes(1)).await;
            }
            whisper(&life, "Mallory", "POISON", answered_before + 1).await;
            time::sleep(minutes(59)).await;
            assert_eq!(said(&home, SORRY), 0, "{name}: it may be an outage");
            time::sleep(minutes(15)).await;
            assert_eq!(life.handle.at_rest().await, Rest::Settled, "{name}");
            assert_eq!(said(&home, SORRY), 1, "{name}: {:?}", home.deeds());
            assert_eq!(said(&home, WAITING), 0, "{name}");
            let state = life.handle.inspect().await.unwrap();
            assert_eq!(
                state.errors.consecutive, 0,
                "{name}: no error of the assistant's"
            );
            let calls = home.model.requests().len();
            time::sleep(minutes(300)).await;
            assert_eq!(home.model.requests().len(), calls, "{name}: it is over");
            life.end().await.unwrap();
        }
    }
}

/// A model behind a circuit breaker whose server fails for messages that hold the word POISON, and answers all others.
fn poisoned_behind_a_breaker() -> ScriptedModel {
    let breaker = CircuitBreaker::new("provider", BreakerPolicy::service());
    ScriptedModel::looping(ScriptedTurn::with(move |request| match breaker.admit() {
        Err(open) => ScriptedTurn::Fail(ModelErrorKind::NotAttempted(open.retry_in)),
        Ok(permit) if asks(request, "POISON") => {
            permit.record(Health::Unhealthy);
            ScriptedTurn::Fail(ModelErrorKind::Unavailable)
        }
        Ok(permit) => {
            permit.record(Health::Healthy);
            say("hi")
        }
    }))
}

#[tokio::test(start_paused = true)]
async fn one_message_that_opens_the_circuit_again_and_again_keeps_nobody_waiting_for_long() {
    for others in ["Mallory", "Alice"] {
        let home = Home::with(poisoned_behind_a_breaker());
        let life = home.wake().await;
        whisper(&life, "Mallory", "POISON", 1).await;
        for number in 2..=60 {
            time::sleep(Duration::from_secs(30)).await;
            whisper(&life, others, "hello", number).await;
            let answered = said(&home, "say hi");
            // The wait is a few cooldowns of the circuit breaker.
            assert!(
                answered + 12 >= number as usize,
                "{others}: {answered} of {number} were answered"
            );
        }
        time::sleep(minutes(10)).await;
        assert_eq!(life.handle.at_rest().await, Rest::Settled, "{others}");
        assert_eq!(said(&home, "say hi"), 59, "{others}");
        assert_eq!(said(&home, SORRY), 1, "{others}: the sender is told");
        life.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn messages_that_open_the_circuit_in_turn_let_the_untried_ones_go_first() {
    let home = Home::with(poisoned_behind_a_breaker());
    let life = home.wake().await;
    whisper(&life, "Mallory", "POISON", 1).await;
    whisper(&life, "Trudy", "POISON", 2).await;
    for number in 3..=60 {
        time::sleep(Duration::from_secs(10)).await;
        whisper(&life, "Alice", "hello", number).await;
        let answered = said(&home, "say hi");
        // It takes no longer than the circuit breaker stays open at a time.
        assert!(
            answered + 8 >= number as usize,
            "{answered} of {number} were answered"
        );
    }
    time::sleep(minutes(10)).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(said(&home, "say hi"), 58);
    assert_eq!(said(&home, SORRY), 2, "both senders hear it");
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_message_alone_that_keeps_the_circuit_open_is_given_up_with_a_word_too() {
    let home = Home::with(poisoned_behind_a_breaker());
    let life = home.wake().await;
    whisper(&life, "Mallory", "POISON", 1).await;
    time::sleep(minutes(80)).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(said(&home, SORRY), 1, "{:?}", home.deeds());
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_time_that_the_program_was_off_gives_no_message_up() {
    let morning = time::Instant::now() + minutes(600);
    // The server loads its model in the evening, and again for some seconds in the morning.
    let (model, _) = out_until(
        morning + Duration::from_secs(15),
        ModelErrorKind::Unavailable,
    );
    let home = Home::with(model);
    let life = home.wake().await;
    whisper(&life, "Alice", "hello", 1).await;
    time::sleep(Duration::from_secs(10)).await;
    life.end().await.unwrap();
    time::sleep_until(morning).await;
    let life = home.wake().await;
    time::sleep(minutes(10)).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(said(&home, "say back"), 1, "{:?}", home.deeds());
    assert_eq!(said(&home, SORRY), 0);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_time_that_the_program_was_off_is_no_wait_in_an_outage() {
    let morning = time::Instant::now() + minutes(600);
    let (model, _) = out_until(morning + minutes(90), ModelErrorKind::Unavailable);
    let home = Home::with(model);
    let life = home.wake().await;
    for (number, who) in (1..).zip(["Alice", "Bob"]) {
        whisper(&life, who, "hello", number).await;
    }
    time::sleep(minutes(1)).await;
    life.end().await.unwrap();
    time::sleep_until(morning).await;
    let life = home.wake().await;
    time::sleep(minutes(59)).await;
    assert!(home.deeds().is_empty(), "{:?}", home.deeds());
    time::sleep(minutes(15)).await;
    assert_eq!(home.deeds(), [WAITING; 2]);
    time::sleep(minutes(60)).await;
    assert_eq!(home.deeds()[2..], ["say back"; 2]);
    life.end().await.unwrap();
}

/// A model whose server fails every request in this way until then.
fn out_until(well_at: time::Instant, kind: ModelErrorKind) -> (ScriptedModel, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let model = ScriptedModel::looping(ScriptedTurn::with(move |_| {
        counted.fetch_add(1, Relaxed);
        if time::Instant::now() < well_at {
            ScriptedTurn::Fail(kind)
        } else {
            say("back")
        }
    }));
    (model, calls)
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_hours_stops_nobody_and_loses_nothing_and_everybody_is_told_once() {
    for kind in [
        ModelErrorKind::Unreachable,
        ModelErrorKind::Unavailable,
        ModelErrorKind::Malformed,
        ModelErrorKind::TimedOut,
    ] {
        let (model, calls) = out_until(time::Instant::now() + minutes(300), kind);
        let home = Home::with(model);
        let life = home.wake().await;
        for (number, who) in (1..).zip(["Alice", "Bob", "Carol"]) {
            whisper(&life, who, "hello", number).await;
        }
        time::sleep(minutes(90)).await;
        assert_eq!(home.deeds(), [WAITING; 3], "{kind:?}");
        time::sleep(minutes(230)).await;
        assert_eq!(home.deeds()[3..], ["say back"; 3], "{kind:?}");
        let calls = calls.load(Relaxed);
        assert!(calls < 250, "{calls} calls in five hours");
        life.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_has_waited_for_an_hour_is_told_even_if_their_message_was_not_tried_before() {
    let (model, _) = out_until(
        time::Instant::now() + minutes(300),
        ModelErrorKind::Unavailable,
    );
    let home = Home::with(model);
    let life = home.wake().await;
    for number in 1..=20 {
        whisper(&life, &format!("Person{number}"), "hello", number).await;
    }
    // Each pause is at most five minutes, and messages that were not tried yet go first.
    time::sleep(minutes(80)).await;
    let performed = home.world.performed().into_iter();
    let told: Vec<_> = performed
        .map(|effect| effect.arguments["to"].clone())
        .collect();
    assert!(told.contains(&json!("Person20")), "{told:?}");
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_message_alone_outlives_what_it_cannot_have_caused_and_its_sender_is_told_once() {
    for kind in [
        ModelErrorKind::Unreachable,
        ModelErrorKind::RateLimited(None),
        ModelErrorKind::NotAttempted(Some(minutes(5))),
    ] {
        let (model, _) = out_until(time::Instant::now() + minutes(300), kind);
        let home = Home::with(model);
        let life = home.wake().await;
        whisper(&life, "Alice", "hello", 1).await;
        time::sleep(minutes(59)).await;
        assert!(home.deeds().is_empty(), "{kind:?}");
        time::sleep(minutes(11)).await;
        assert_eq!(home.deeds(), [WAITING], "{kind:?}");
        life.crash().await;
        let life = home.wake().await;
        time::sleep(minutes(240)).await;
        assert_eq!(home.deeds(), [WAITING, "say back"], "{kind:?}");
        let shown = home.last_shown();
        assert!(
            !shown.contains("I cannot think"),
            "the model never said that: {shown}"
        );
        let requests = home.model.requests();
        let turn = requests.last().and_then(|request| request.turn.as_ref());
        assert!(turn.is_none_or(|turn| turn.steps.is_empty()));
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
        life.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn of_an_outage_that_looks_like_one_message_no_more_than_that_one_is_given_up() {
    let (model, _) = out_until(
        time::Instant::now() + minutes(600),
        ModelErrorKind::Unavailable,
    );
    let home = Home::with(model);
    let life = home.wake().await;
    for number in 1..=6 {
        whisper(&life, &format!("Person{number}"), "hello", number).await;
        time::sleep(minutes(90)).await;
    }
    time::sleep(minutes(90)).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled, "and no stop");
    assert_eq!((said(&home, SORRY), said(&home, "say back")), (1, 5));
}

/// How the server behaves for a while, for every request.
#[derive(Clone, Copy, Debug)]
struct Weather {
    fails: Option<ModelErrorKind>,
    minutes: u64,
}

/// Somebody says something, some minutes after the message before.
#[derive(Clone, Copy, Debug)]
struct Said {
    by: &'static str,
    is_poison: bool,
    after_minutes: u64,
}

fn weather() -> impl Strategy<Value = Vec<Weather>> {
    use ModelErrorKind::{Interrupted, Malformed, RateLimited, TimedOut, Unavailable, Unreachable};
    let kinds = [
        Unreachable,
        Unavailable,
        Malformed,
        Interrupted,
        TimedOut,
        RateLimited(None),
    ];
    let fails = prop::option::weighted(0.6, prop::sample::select(kinds.to_vec()));
    let one = (fails, 1_u64..200).prop_map(|(fails, minutes)| Weather { fails, minutes });
    prop::collection::vec(one, 0..5)
}

fn sayings(people: &'static [&'static str]) -> impl Strategy<Value = Vec<Said>> {
    let one = (prop::sample::select(people), any::<bool>(), 0_u64..120);
    let one = one.prop_map(|(by, is_poison, after_minutes)| Said {
        by,
        is_poison,
        after_minutes,
    });
    prop::collection::vec(one, 1..8)
}

/// A model with this server, which also fails for each message with the word POISON.
fn in_weather(weather: &[Weather]) -> ScriptedModel {
    let mut at = time::Instant::now();
    let ends = weather.iter().map(|weather| {
        at += minutes(weather.minutes);
        (at, weather.fails)
    });
    let ends: Vec<_> = ends.collect();
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        let now = time::Instant::now();
        let here = ends.iter().find(|(end, _)| now < *end);
        match here.and_then(|(_, fails)| *fails) {
            Some(kind) => ScriptedTurn::Fail(kind),
            None if asks(request, "POISON") => ScriptedTurn::Fail(ModelErrorKind::Unavailable),
            None => say("hi"),
        }
    }))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(48)))]

    /// For all failures of servers and messages: once the service is healthy and has answered somebody, each message is
    /// answered or given up with a notice. A sender who waits longer than an hour gets a notice. Nothing that one
    /// person says ever stops the assistant.
    #[test]
    fn every_message_is_answered_or_given_up_with_a_word_and_nobody_alone_stops_the_assistant(
        weather in weather(),
        sayings in prop_oneof![sayings(&["Mallory"]), sayings(&["Mallory", "Bob"])],
    ) {
        in_virtual_time(async {
            let home = Home::with(in_weather(&weather));
            let life = home.wake().await;
            let mut number = 0;
            for said in &sayings {
                number += 1;
                time::sleep(minutes(said.after_minutes)).await;
                let words = if said.is_poison { "POISON" } else { "hello" };
                whisper(&life, said.by, words, number).await;
            }
            let over: u64 = weather.iter().map(|weather| weather.minutes).sum();
            time::sleep(minutes(over + 180)).await;
            let state = life.handle.inspect().await.unwrap();
            prop_assert!(!state.stop.is_on());
            let mut open = state.turns.open();
            prop_assert!(state.turns.waiting().len() == 0 && open.all(|turn| turn.is_delayed()));

            // The remaining messages all fail in the same way. Other messages show whether these or the service cause
            // that.
            let mut others = 0;
            while life.handle.status().waiting > 0 && others < 60 {
                others += 1;
                whisper(&life, "Alice", "hello", number + others).await;
                time::sleep(minutes(15)).await;
            }
            let state = life.handle.inspect().await.unwrap();
            prop_assert!(!state.stop.is_on());
            prop_assert_eq!(life.handle.at_rest().await, Rest::Settled);
            let (hi, sorry) = (said(&home, "say hi"), said(&home, SORRY));
            let all = number + others;
            prop_assert_eq!(hi + sorry, usize::try_from(all).unwrap(), "each once: {:?}", home.deeds());
            prop_assert_eq!(state.counts.unanswered, u64::try_from(sorry).unwrap());
            let is_fine = |weather: &Weather| weather.fails.is_none();
            if weather.iter().all(is_fine) {
                let poisons = sayings.iter().filter(|said| said.is_poison).count();
                prop_assert_eq!(sorry, poisons, "nothing else is given up");
            }
            Ok(())
        })?;
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_waits_for_another_try_survives_a_crash() {
    let home = Home::with(poisoned_by(|| {
        ScriptedTurn::Fail(ModelErrorKind::Unavailable)
    }));
    let life = home.wake().await;
    whisper(&life, "Mallory", "POISON", 1).await;
    whisper(&life, "Alice", "hello", 2).await;
    time::sleep(Duration::from_secs(60)).await;
    life.crash().await;
    let life = home.wake().await;
    for number in 3..=20 {
        whisper(&life, "Alice", "hello", number).await;
        time::sleep(minutes(10)).await;
    }
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(said(&home, "say hi"), 19);
    assert_eq!(home.deeds().len(), 20, "and Mallory was told, once");
}
