//! Ticks: how close together they begin, what their end records, and that none begins without a reason.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use dormouse_contracts::{Clock, Timestamp};
use dormouse_engine::{
    Assistant, ContextType, Event, GoalMoment, Ports, Rest, TickEnded, TickStarted,
};
use dormouse_testing::{FakeWorld, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::{
    goals::set_goal,
    home::{Home, key, minutes},
    trust::noop,
};

fn say(message: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": message}))
}

/// Each tick: when it began, and which kind it was.
fn begun(home: &Home) -> Vec<(Timestamp, ContextType)> {
    let events = home.log.events(&key()).into_iter();
    let begun = events.filter_map(|stored| match Event::decode(&stored).unwrap() {
        Event::TickStarted(TickStarted { context, .. }) => Some((stored.at, context)),
        _ => None,
    });
    begun.collect()
}

#[tokio::test(start_paused = true)]
async fn turns_that_nobody_asked_for_begin_one_tick_rate_apart_and_a_message_goes_between() {
    let home = Home::with(ScriptedModel::looping(noop())).configured(|config| {
        config.limits = config.limits.with_tick_rate_seconds(60).unwrap();
    });
    let due = GoalMoment::At(home.clock.now());
    for goal in ["sweep", "bake", "sing"] {
        set_goal(&home, goal, due, None).await;
    }
    let life = home.wake().await;
    tokio::time::sleep(minutes(1) / 2).await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    life.end().await.unwrap();
    let begun = begun(&home);
    let at = |kind: ContextType| {
        let of_kind = begun.iter().filter(move |(_, context)| *context == kind);
        let from = |at: &Timestamp| at.since(begun[0].0).as_secs();
        of_kind.map(|(at, _)| from(at)).collect::<Vec<_>>()
    };
    assert_eq!(at(ContextType::TickAutonomous), [0, 60, 120]);
    assert_eq!(at(ContextType::TickEvent), [30], "at once");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_tick_says_which_one_it_was_how_long_it_took_and_what_it_did() {
    let turns = [
        ScriptedTurn::call("inspect_location", json!({})),
        say("It is dark."),
        noop(),
    ];
    let home = Home::new(turns);
    let life = home.wake().await;
    for number in [1, 2] {
        let message = Perceive::whisper("Alice", "look").number(number);
        life.accept(message.build()).await;
        life.handle.at_rest().await;
    }
    life.end().await.unwrap();
    let mut began = Timestamp::EPOCH;
    let mut ends = Vec::new();
    for stored in home.log.events(&key()) {
        match Event::decode(&stored).unwrap() {
            Event::TickStarted(_) => began = stored.at,
            Event::TickEnded(TickEnded {
                tick,
                duration_ms,
                action,
                ..
            }) => {
                let lasted = stored.at.since(began).as_secs_f64() * 1_000.0;
                assert_eq!(duration_ms, Some(lasted));
                ends.push((tick, action));
            }
            _ => {}
        }
    }
    let said = Some("say".to_owned());
    assert_eq!(ends, [(Some(1), said), (Some(2), None)]);
}

#[tokio::test(start_paused = true)]
async fn an_assistant_at_rest_looks_at_no_clock_until_something_comes() {
    let home = Home::with(ScriptedModel::looping(noop()));
    let looks = Arc::new(AtomicU64::new(0));
    let (clock, counter) = (Arc::clone(&home.clock), Arc::clone(&looks));
    let ports = Ports {
        clock: Arc::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
            clock.now()
        }),
        ..home.ports()
    };
    let woken = Assistant::wake(home.config.clone(), FakeWorld::tools(), ports);
    let (assistant, handle) = Box::pin(woken).await.unwrap();
    let mut run = tokio::task::JoinSet::new();
    run.spawn(assistant.run());
    tokio::time::sleep(minutes(1)).await;
    let before = looks.load(Ordering::Relaxed);
    tokio::time::sleep(minutes(24 * 60)).await;
    assert_eq!(looks.load(Ordering::Relaxed), before, "it woke");
    let skipped = handle.status().skipped;
    assert_eq!(
        skipped.idle,
        24 * 60 * 12 + 12,
        "and yet its ticks are counted"
    );
    let message = Perceive::whisper("Alice", "hello").build();
    handle.perceive(message).await.unwrap();
    assert_eq!(handle.at_rest().await, Rest::Settled);
    assert_eq!(home.model.requests().len(), 1);
    handle.shut_down().await;
    run.join_next().await.unwrap().unwrap().unwrap();
}
