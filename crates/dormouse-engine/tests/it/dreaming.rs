//! Turns in the sleep of an assistant.

use std::{sync::Mutex, time::Duration};

use dormouse_contracts::{ChatRequest, Purpose};
use dormouse_engine::{
    AssistantConfig, ContextType, Event, Rest, SleepSettings, State, StopReason, WakeCause, WokeUp,
    restore,
};
use dormouse_testing::{Gate, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;
use tokio::time::sleep;

use crate::{
    budgets::hourly,
    home::{Home, key, minutes},
};

/// The clock of a home begins at midnight UTC: this is a night from one to five.
fn dreams(turns: u32) -> impl FnOnce(&mut AssistantConfig) {
    move |config| {
        config.sleep = SleepSettings {
            enabled: true,
            start_hour: 1,
            turns,
            ..SleepSettings::default()
        }
    }
}

/// Whether a request is for a turn in its sleep: only there the tool that wakes it is offered.
fn is_dream(request: &ChatRequest) -> bool {
    request
        .tools
        .iter()
        .any(|tool| tool.name.as_str() == "wake_up")
}

/// A model that finds nothing to consolidate, answers everybody, and takes these turns in its sleep.
fn dreaming(turns: impl IntoIterator<Item = ScriptedTurn>) -> ScriptedModel {
    let turns: Vec<_> = turns.into_iter().collect();
    let turns = Mutex::new(turns.into_iter());
    ScriptedModel::looping(ScriptedTurn::with(move |request| match request.purpose {
        Purpose::Consolidation => ScriptedTurn::text("[]"),
        _ if is_dream(request) => turns.lock().unwrap().next().unwrap_or_else(noop),
        _ => ScriptedTurn::call("say", json!({"message": "Squeak."})),
    }))
}

fn noop() -> ScriptedTurn {
    ScriptedTurn::call("noop", json!({}))
}

fn dreamt(home: &Home) -> Vec<ChatRequest> {
    let requests = home.model.requests().into_iter();
    requests.filter(is_dream).collect()
}

/// The ends of the ticks in its sleep.
fn ends(home: &Home) -> Vec<StopReason> {
    let mut is_here = false;
    let events = home.events().into_iter();
    let ends = events.filter_map(|event| match event {
        Event::TickStarted(it) => {
            is_here = it.context == ContextType::SleepConsolidate;
            None
        }
        Event::TickEnded(it) if is_here => Some(it.reason),
        _ => None,
    });
    ends.collect()
}

fn woken(home: &Home) -> Vec<WokeUp> {
    let events = home.events().into_iter();
    let woken = events.filter_map(|event| match event {
        Event::WokeUp(it) => Some(it),
        _ => None,
    });
    woken.collect()
}

async fn lived(home: &Home) -> State {
    restore(&home.log, &key()).await.unwrap()
}

/// Waits until the model is asked in its sleep for the n-th time.
async fn dreams_begun(home: &Home, count: usize) {
    while dreamt(home).len() < count {
        sleep(Duration::from_secs(1)).await;
    }
}

fn hours(count: u64) -> Duration {
    Duration::from_secs(3_600 * count)
}

#[tokio::test(start_paused = true)]
async fn when_its_work_is_done_it_thinks_in_its_sleep_as_often_as_is_set() {
    let home = Home::with(dreaming([
        ScriptedTurn::call("recall_memories", json!({"query": "boat"})),
        ScriptedTurn::call(
            "store_memory",
            json!({"text": "Alice keeps her boat in Berlin"}),
        ),
        noop(),
    ]))
    .configured(dreams(2));
    home.hear(Perceive::whisper("Alice", "I keep my boat in Berlin").build())
        .await;
    let life = home.wake().await;
    sleep(hours(4)).await;
    life.end().await.unwrap();
    let requests = dreamt(&home);
    let offered: Vec<_> = requests[0]
        .tools
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(
        offered,
        [
            "store_memory",
            "recall_memories",
            "get_entity_profile",
            "add_entity_observation",
            "update_entity_profile",
            "update_relationship",
            "add_journal_entry",
            "search_journal",
            "review_journal",
            "wake_up",
            "noop",
        ]
    );
    let shown = crate::home::shown(&requests[0]);
    assert!(shown.contains("You are asleep"), "{shown}");
    assert!(
        !shown.contains("boat"),
        "nothing is looked up for it: {shown}"
    );
    assert_eq!(ends(&home), [StopReason::Noop, StopReason::Noop]);
    let state = lived(&home).await;
    assert_eq!(state.sleep.last_night().unwrap().turns, 2);
    let kept = home.memory.records(None, 100).await.unwrap();
    assert!(
        kept.iter()
            .any(|it| it.text == "Alice keeps her boat in Berlin"),
        "{kept:?}"
    );
    // One sleep tick lies between the work of the night and each turn.
    let began = home.log.events(&key()).into_iter().filter(|event| {
        matches!(Event::decode(event).unwrap(), Event::TickStarted(it) if it.context == ContextType::SleepConsolidate)
    });
    let began: Vec<_> = began.map(|event| event.at).collect();
    assert!(began[1].since(began[0]) >= minutes(1), "{began:?}");
}

#[tokio::test(start_paused = true)]
async fn without_the_setting_it_never_thinks_in_its_sleep() {
    let home = Home::with(dreaming([])).configured(dreams(0));
    let life = home.wake().await;
    sleep(hours(30)).await;
    life.end().await.unwrap();
    assert_eq!(lived(&home).await.sleep.nights().len(), 2);
    assert!(dreamt(&home).is_empty() && ends(&home).is_empty());
}

#[tokio::test(start_paused = true)]
async fn it_wakes_by_its_own_decision_says_why_and_stays_awake() {
    let home = Home::with(dreaming([ScriptedTurn::call(
        "wake_up",
        json!({"reason": "the roses need water"}),
    )]))
    .configured(dreams(3));
    let life = home.wake().await;
    sleep(hours(3)).await;
    assert!(!life.handle.inspect().await.unwrap().sleep.is_asleep());
    life.accept(Perceive::whisper("Alice", "awake?").build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    sleep(hours(4)).await;
    life.end().await.unwrap();
    let woken = woken(&home);
    let [
        WokeUp {
            night: 1,
            cause: WakeCause::Tool(_),
            reason: Some(reason),
        },
    ] = &woken[..]
    else {
        panic!("{woken:?}");
    };
    assert_eq!(reason.text, "the roses need water");
    assert_eq!(ends(&home), [StopReason::TerminalTool]);
    // While awake it cannot wake up, and the tool for that is not offered.
    let awake = home
        .model
        .requests()
        .into_iter()
        .rfind(|request| !is_dream(request));
    let offered = awake.unwrap().tools;
    let mut offered = offered.iter();
    assert!(offered.any(|tool| tool.name.as_str() == "go_to_sleep"));
    assert_eq!(dreamt(&home).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_calls_does_not_wait_for_a_thought_in_its_sleep() {
    let never = Gate::new();
    let home = Home::with(dreaming([ScriptedTurn::after(&never, noop())])).configured(dreams(1));
    let life = home.wake().await;
    dreams_begun(&home, 1).await;
    life.accept(Perceive::whisper("Alice", "help!").build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["say Squeak."]);
    sleep(hours(4)).await;
    life.end().await.unwrap();
    assert_eq!(ends(&home), [StopReason::Woken]);
    let causes: Vec<_> = woken(&home).into_iter().map(|it| it.cause).collect();
    assert!(
        matches!(causes[..], [WakeCause::Message(_), WakeCause::Time]),
        "{causes:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_turn_in_its_sleep_that_was_killed_goes_on_and_one_that_is_stopped_waits() {
    let never = Gate::new();
    let stuck = || ScriptedTurn::after(&never, noop());
    let home = Home::with(dreaming([stuck(), stuck()])).configured(dreams(1));
    let life = home.wake().await;
    dreams_begun(&home, 1).await;
    life.crash().await;
    let life = home.wake().await;
    dreams_begun(&home, 2).await;
    life.handle.stop("Carol", "").await.unwrap();
    sleep(minutes(30)).await;
    assert_eq!(dreamt(&home).len(), 2, "it waits");
    life.handle.clear_stop("Carol").await.unwrap();
    sleep(minutes(1)).await;
    assert_eq!(dreamt(&home).len(), 3);
    assert_eq!(ends(&home), [StopReason::Noop]);
    assert_eq!(lived(&home).await.sleep.last_night().unwrap().turns, 1);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_a_budget_does_not_allow_is_not_thought_and_ends_with_the_night() {
    let home = Home::with(dreaming([])).configured(|config| {
        dreams(1)(config);
        config.budgets = hourly(10);
    });
    let life = home.wake().await;
    sleep(hours(8)).await;
    life.end().await.unwrap();
    assert!(dreamt(&home).is_empty());
    let ends = ends(&home);
    assert_eq!(ends.first(), Some(&StopReason::BudgetSpent));
    assert_eq!(ends.last(), Some(&StopReason::Woken), "{ends:?}");
    let state = lived(&home).await;
    assert!(!state.sleep.is_asleep() && state.turns.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_is_asked_again_and_keeps_it_from_nothing() {
    let home = Home::with(ScriptedModel::looping(ScriptedTurn::Fail(
        dormouse_contracts::ModelErrorKind::Unavailable,
    )))
    .configured(|config| {
        dreams(1)(config);
        config.retry_for = Duration::ZERO;
    });
    let life = home.wake().await;
    sleep(hours(6)).await;
    let state = life.handle.inspect().await.unwrap();
    assert!(!state.sleep.is_asleep() && state.turns.is_empty() && !state.stop.is_on());
    life.end().await.unwrap();
    let ends = ends(&home);
    assert!(
        ends.len() > 1 && ends[0] == StopReason::LlmError,
        "{ends:?}"
    );
}
