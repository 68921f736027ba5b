//! Falling asleep, the work of a night, and waking.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{
    AppendRequest, Author, ChatRequest, Clock, ModelErrorKind, Purpose, Task, TaskLine, Timestamp,
};
use dormouse_engine::{
    Activity, AssistantConfig, Event, FellAsleep, NightStepped, OperatingMode, Rest, SleepError,
    SleepPhase, SleepSettings, SleepStep, SleepWish, State, StepEnd, WakeCause, WokeUp, restore,
};
use dormouse_journal::Importance;
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;
use tokio::time::sleep;

use crate::{
    budgets::hourly,
    home::{Home, Life, key},
};

/// The clock of a home begins at midnight UTC: this is a night from one to five.
fn from_one_to_five() -> SleepSettings {
    SleepSettings {
        enabled: true,
        start_hour: 1,
        ..SleepSettings::default()
    }
}

fn sleeps(config: &mut AssistantConfig) {
    config.sleep = from_one_to_five();
}

/// A model that answers everybody, and makes a fact from each line that it is shown while the assistant sleeps.
fn model() -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(model_turn))
}

fn model_turn(request: &ChatRequest) -> ScriptedTurn {
    match request.purpose {
        Purpose::Consolidation => {
            let shown = crate::home::shown(request);
            let lines = shown.lines().filter(|line| line.starts_with('['));
            let facts = lines.map(|line| {
                let id = line.trim_start_matches('[').split(']').next().unwrap();
                json!({"text": format!("Alice keeps boat {id} in the harbour of Berlin"), "from": [id]})
            });
            ScriptedTurn::text(json!(facts.collect::<Vec<_>>()).to_string())
        }
        _ => ScriptedTurn::call("say", json!({"message": "Squeak."})),
    }
}

fn hours(count: u64) -> Duration {
    Duration::from_secs(3_600 * count)
}

async fn state(life: &Life) -> State {
    life.handle.inspect().await.unwrap()
}

fn slept(home: &Home) -> Vec<FellAsleep> {
    let events = home.events().into_iter();
    let asleep = events.filter_map(|event| match event {
        Event::FellAsleep(it) => Some(it),
        _ => None,
    });
    asleep.collect()
}

fn woken(home: &Home) -> Vec<WakeCause> {
    let events = home.events().into_iter();
    let woken = events.filter_map(|event| match event {
        Event::WokeUp(WokeUp { cause, .. }) => Some(cause),
        _ => None,
    });
    woken.collect()
}

fn steps(home: &Home) -> Vec<NightStepped> {
    let events = home.events().into_iter();
    let steps = events.filter_map(|event| match event {
        Event::NightStepped(it) => Some(it),
        _ => None,
    });
    steps.collect()
}

#[tokio::test(start_paused = true)]
async fn it_sleeps_by_its_schedule_does_the_work_of_the_night_and_wakes() {
    let home = Home::with(model()).configured(sleeps);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "my boat lies in Berlin").build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    sleep(hours(2)).await;
    let asleep = state(&life).await;
    assert_eq!(asleep.sleep.mode, OperatingMode::Asleep);
    assert_eq!(asleep.sleep.phase(), Some(SleepPhase::Dreaming));
    let until = asleep.sleep.scheduled_wake_time().unwrap();
    assert_eq!(until.to_string(), "2026-11-21T05:00:00Z");
    let status = life.handle.status();
    assert!(
        matches!(
            status.activity,
            Activity::Asleep {
                is_working: false,
                ..
            }
        ),
        "{status:?}"
    );
    let tonight = asleep.sleep.tonight().unwrap();
    assert!(
        tonight
            .steps
            .iter()
            .all(|step| step.end == Some(StepEnd::Done)),
        "{tonight:?}"
    );
    assert_eq!(tonight.came_of_it.consolidated, 1);
    sleep(hours(4)).await;
    let awake = state(&life).await;
    assert_eq!(awake.sleep.mode, OperatingMode::Awake);
    assert_eq!(
        (slept(&home).len(), woken(&home)),
        (1, vec![WakeCause::Time])
    );
    let night = steps(&home);
    let order: Vec<_> = night.iter().map(|it| it.step).collect();
    assert!(order.is_sorted(), "{order:?}");
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_message_in_the_night_is_answered_and_the_night_goes_on() {
    let home = Home::with(model()).configured(sleeps);
    let life = home.wake().await;
    sleep(hours(2)).await;
    life.accept(Perceive::whisper("Alice", "are you awake?").build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["say Squeak."]);
    assert_eq!(state(&life).await.sleep.mode, OperatingMode::Awake);
    sleep(Duration::from_secs(11 * 60)).await;
    let again = state(&life).await;
    assert_eq!(again.sleep.mode, OperatingMode::Asleep);
    // It is the same night, so finished work is not repeated.
    assert_eq!(again.sleep.nights().len(), 1);
    sleep(hours(5)).await;
    assert_eq!(slept(&home).len(), 2);
    assert!(matches!(
        woken(&home)[..],
        [WakeCause::Message(_), WakeCause::Time]
    ));
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn without_a_schedule_it_never_sleeps_and_a_stopped_assistant_has_no_night() {
    let home = Home::with(model());
    let life = home.wake().await;
    sleep(hours(30)).await;
    life.end().await.unwrap();
    let home = home.configured(sleeps);
    let life = home.wake().await;
    life.handle.stop("Carol", "").await.unwrap();
    sleep(hours(30)).await;
    life.end().await.unwrap();
    assert_eq!(slept(&home), []);
}

#[tokio::test(start_paused = true)]
async fn a_week_of_nights_sleeps_seven_times_and_answers_what_came_at_night() {
    let home = Home::with(model()).configured(sleeps);
    for day in 0..7 {
        let life = home.wake().await;
        // At half past two in the night.
        sleep(hours(2) + Duration::from_secs(1_800)).await;
        let said = format!("my boat {day} lies in Berlin");
        life.accept(Perceive::whisper("Alice", &said).number(day + 1).build())
            .await;
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
        sleep(hours(21) + Duration::from_secs(1_800)).await;
        life.end().await.unwrap();
    }
    let at_end = restore(&home.log, &key()).await.unwrap();
    assert_eq!(home.deeds().len(), 7);
    assert_eq!(at_end.sleep.nights().len(), 7);
    let made: u64 = at_end
        .sleep
        .nights()
        .map(|night| night.came_of_it.consolidated)
        .sum();
    // Messages of the last night are left for the next one.
    assert_eq!(made, 6);
}

#[tokio::test(start_paused = true)]
async fn a_failing_model_skips_the_work_after_three_failures_and_the_night_goes_on() {
    let down = ScriptedModel::looping(ScriptedTurn::with(|request| match request.purpose {
        Purpose::Consolidation => ScriptedTurn::Fail(ModelErrorKind::Unavailable),
        _ => ScriptedTurn::call("say", json!({"message": "Squeak."})),
    }));
    let home = Home::with(down).configured(sleeps);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "my boat lies in Berlin").build())
        .await;
    sleep(hours(2)).await;
    let tonight = state(&life).await.sleep.tonight().unwrap().clone();
    let end = |step| tonight.steps.iter().find(|it| it.step == step).unwrap().end;
    assert_eq!(end(SleepStep::ConsolidateMemory), Some(StepEnd::Skipped));
    assert_eq!(end(SleepStep::ClearConversations), Some(StepEnd::Done));
    assert_eq!(tonight.author, Author::Sleep(1));
    life.end().await.unwrap();
}

/// A model like [`model`], which counts its calls while the assistant sleeps.
fn counting(calls: &Arc<AtomicU64>) -> ScriptedModel {
    let calls = Arc::clone(calls);
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        if request.purpose == Purpose::Consolidation {
            calls.fetch_add(1, Ordering::Relaxed);
        }
        model_turn(request)
    }))
}

/// Three lines are heard before a night; the log dies after so many events of the night, and the assistant wakes again.
async fn night_killed_after(events: Option<usize>) -> (Home, u64) {
    let calls = Arc::new(AtomicU64::new(0));
    let home = Home::with(counting(&calls)).configured(sleeps);
    let life = home.wake().await;
    for number in 1..=3 {
        let said = format!("my boat {number} lies in Berlin");
        life.accept(Perceive::whisper("Alice", &said).number(number).build())
            .await;
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
    }
    sleep(Duration::from_secs(3_000)).await;
    if let Some(events) = events {
        home.log.close_after(events);
        sleep(hours(1)).await;
        life.crash().await;
        home.log.reopen();
        let life = home.wake().await;
        sleep(hours(5)).await;
        life.end().await.unwrap();
    } else {
        sleep(hours(6)).await;
        life.end().await.unwrap();
    }
    let calls = calls.load(Ordering::Relaxed);
    (home, calls)
}

async fn facts(home: &Home) -> Vec<String> {
    let records = home.memory.records(None, 1_000).await.unwrap().into_iter();
    let made = records.filter(|record| !record.provenance.derived_from.is_empty());
    made.map(|record| record.text).collect()
}

#[tokio::test(start_paused = true)]
async fn a_night_killed_after_any_event_ends_the_same_and_pays_for_no_call_twice() {
    let (whole, paid) = night_killed_after(None).await;
    let made = facts(&whole).await;
    assert!(paid > 0 && !made.is_empty());
    for events in 1..=12 {
        let (home, calls) = night_killed_after(Some(events)).await;
        assert_eq!(calls, paid, "killed after {events} events");
        assert_eq!(facts(&home).await, made, "killed after {events} events");
        let at_end = restore(&home.log, &key()).await.unwrap();
        let night = at_end.sleep.last_night().unwrap();
        assert!(night.steps.iter().all(|it| it.end == Some(StepEnd::Done)));
        assert_eq!(
            (slept(&home).len(), woken(&home)),
            (1, vec![WakeCause::Time])
        );
    }
}

#[tokio::test(start_paused = true)]
async fn messages_every_second_while_it_compacts_wake_it_within_a_minute_and_none_is_lost() {
    // A model that takes an hour in the night, so that no commit point comes.
    let slow = ScriptedModel::looping(ScriptedTurn::with(|request| match request.purpose {
        Purpose::Consolidation => ScriptedTurn::Hang,
        _ => ScriptedTurn::call("say", json!({"message": "Squeak."})),
    }));
    let home = Home::with(slow).configured(|config| {
        sleeps(config);
        config.model_timeout = hours(1);
    });
    let life = home.wake().await;
    life.accept(
        Perceive::whisper("Alice", "my boat lies in Berlin")
            .number(1)
            .build(),
    )
    .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    sleep(hours(1) + Duration::from_secs(300)).await;
    assert_eq!(
        state(&life).await.sleep.phase(),
        Some(SleepPhase::Compacting)
    );
    for number in 2..=90 {
        sleep(Duration::from_secs(1)).await;
        let said = Perceive::whisper("Alice", "wake up").number(number).build();
        life.accept(said).await;
        let is_asleep = state(&life).await.sleep.is_asleep();
        assert_eq!(is_asleep, number < 62, "message {number}");
    }
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds().len(), 90);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn it_falls_asleep_by_its_own_decision_within_its_guards() {
    let tired = || json!({"reason": "I am tired", "until": "2026-11-21T03:00:00Z"});
    let turns = Mutex::new(VecDeque::from([
        ScriptedTurn::call("go_to_sleep", tired()),
        ScriptedTurn::call("say", json!({"message": "Not yet."})),
        ScriptedTurn::call("go_to_sleep", tired()),
        ScriptedTurn::call("say", json!({"message": "Good morning."})),
    ]));
    let home = Home::with(ScriptedModel::looping(ScriptedTurn::with(
        move |request| match request.purpose {
            Purpose::Consolidation => model_turn(request),
            _ => turns.lock().unwrap().pop_front().unwrap(),
        },
    )))
    .configured(|config| {
        sleeps(config);
        config.sleep.start_hour = 20;
        config.sleep.least_activity = 1;
    });
    let life = home.wake().await;
    for number in 1..=2 {
        let said = Perceive::whisper("Alice", "good night")
            .number(number)
            .build();
        life.accept(said).await;
        life.handle.at_rest().await;
    }
    let asleep = state(&life).await;
    let night = asleep.sleep.tonight().unwrap();
    assert_eq!(night.until.to_string(), "2026-11-21T03:00:00Z");
    assert_eq!(night.reason.as_ref().unwrap().text, "I am tired");
    assert!(matches!(night.author, Author::Tool(_)));
    let morning = Perceive::whisper("Alice", "good morning").number(3).build();
    life.accept(morning).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert!(home.deeds().contains(&"say Good morning.".to_owned()));
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn facts_that_bury_what_was_heard_are_taken_back_and_the_diary_says_so() {
    // A model that repeats the subject of each line at length, and loses the one important word.
    let wordy = ScriptedModel::looping(ScriptedTurn::with(|request| match request.purpose {
        Purpose::Consolidation => {
            let shown = crate::home::shown(request);
            let lines = shown.lines().filter(|line| line.starts_with('['));
            let facts = lines.enumerate().map(|(number, line)| {
                let id = line.trim_start_matches('[').split(']').next().unwrap();
                let text = "little red boat lies old harbour ".repeat(24);
                json!({"text": format!("{text} {number} {id}"), "from": [id]})
            });
            ScriptedTurn::text(json!(facts.collect::<Vec<_>>()).to_string())
        }
        _ => ScriptedTurn::call("say", json!({"message": "Squeak."})),
    }));
    let home = Home::with(wordy).configured(sleeps);
    let life = home.wake().await;
    let harbours = [
        "Berlin", "Hamburg", "Bremen", "Kiel", "Lisbon", "Porto", "Genoa", "Naples", "Oslo",
        "Bergen", "Malmo", "Riga",
    ];
    for (number, harbour) in harbours.into_iter().enumerate() {
        let said = format!("the little red boat lies in the old harbour of {harbour}");
        let said = Perceive::whisper("Alice", &said).number(number as u64 + 1);
        life.accept(said.build()).await;
        life.handle.at_rest().await;
    }
    sleep(hours(2)).await;
    let tonight = state(&life).await.sleep.tonight().unwrap().clone();
    let facts_step = tonight
        .steps
        .iter()
        .find(|it| it.step == SleepStep::ConsolidateMemory);
    let end = facts_step.unwrap().end;
    assert!(
        matches!(end, Some(StepEnd::TakenBack(result)) if result.after < result.before),
        "{tonight:?}"
    );
    assert!(tonight.came_of_it.taken_back > 0);
    let records = home.memory.records(None, 1_000).await.unwrap();
    let made = |record: &&dormouse_memory::Record| !record.provenance.derived_from.is_empty();
    assert!(
        records
            .iter()
            .filter(made)
            .all(|record| !record.is_in_use())
    );
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_leaves_the_work_for_another_night_and_asks_no_model() {
    let home = Home::with(model());
    home.hear(Perceive::whisper("Alice", "my boat lies in Berlin").build())
        .await;
    let asked = home.model.requests().len();
    let home = home.configured(|config| {
        sleeps(config);
        config.budgets = hourly(100);
    });
    let life = home.wake().await;
    sleep(hours(2)).await;
    let tonight = state(&life).await.sleep.tonight().unwrap().clone();
    let end = |step| tonight.steps.iter().find(|it| it.step == step).unwrap().end;
    assert_eq!(end(SleepStep::ConsolidateMemory), Some(StepEnd::OverBudget));
    assert_eq!(end(SleepStep::ClearConversations), Some(StepEnd::Done));
    assert_eq!(home.model.requests().len(), asked);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_operator_lets_it_sleep_without_a_schedule_and_wakes_it() {
    let home = Home::with(model());
    let life = home.wake_configured().await;
    let by = || Author::Operator("Carol".to_owned());
    let wish = |until: Option<Timestamp>| SleepWish {
        author: by(),
        until,
        reason: None,
    };
    let now = home.clock.now();
    let known = state(&life).await;
    let far = now.plus(hours(25));
    for until in [now, far] {
        let refused = known.fall_asleep(now, wish(Some(until)));
        assert_eq!(refused, Err(SleepError::Until(until)));
    }
    let asleep = known.fall_asleep(now, wish(None)).unwrap();
    assert_eq!(asleep.until, now.plus(hours(4)));
    append(&home, &life, Event::FellAsleep(asleep)).await;
    sleep(Duration::from_secs(600)).await;
    let known = state(&life).await;
    assert!(known.sleep.is_asleep() && known.sleep.tonight().unwrap().next_step().is_none());
    let again = known.fall_asleep(home.clock.now(), wish(None));
    assert!(matches!(again, Err(SleepError::AlreadyAsleep(_))));
    let woken = known.wake_up(WakeCause::Operator("Carol".to_owned()));
    append(&home, &life, Event::WokeUp(woken.unwrap())).await;
    sleep(hours(30)).await;
    assert!(!state(&life).await.sleep.is_asleep(), "it has no schedule");
    life.end().await.unwrap();
}

async fn append(home: &Home, life: &Life, event: Event) {
    let request = AppendRequest {
        assistant: key(),
        expected: state(life).await.seq,
        events: vec![event.encode(home.clock.now()).unwrap()],
    };
    life.handle.append(request).await.unwrap();
}

/// A model that writes an entry by day, and in the night scores it, asks one question, and concludes from what it is shown.
fn writer() -> ScriptedModel {
    let entry = "Alice has the key of the gate and opens the gate in the morning";
    let has_written = AtomicU64::new(0);
    ScriptedModel::looping(ScriptedTurn::with(move |request: &ChatRequest| {
        let ids = |lines: &[TaskLine]| -> Vec<String> {
            lines.iter().map(|line| line.id.clone()).collect()
        };
        match request.task.as_deref() {
            Some(Task::Scoring { lines }) => {
                let scores = ids(lines).into_iter();
                let scores = scores.map(|id| json!({"id": id, "score": 4}));
                ScriptedTurn::text(json!(scores.collect::<Vec<_>>()).to_string())
            }
            Some(Task::Questions { .. }) => {
                ScriptedTurn::text(json!(["Who has the key of the gate?"]).to_string())
            }
            Some(Task::Reflection { lines }) => {
                let insight = "The key of the gate is needed in the morning";
                let insights = json!([{"insight": insight, "from": ids(lines)}]);
                ScriptedTurn::text(insights.to_string())
            }
            Some(_) => ScriptedTurn::text("[]"),
            None if has_written.fetch_add(1, Ordering::Relaxed) == 0 => {
                ScriptedTurn::call("add_journal_entry", json!({"content": entry}))
            }
            None => ScriptedTurn::call("noop", json!({})),
        }
    }))
}

#[tokio::test(start_paused = true)]
async fn a_night_scores_concludes_and_prunes_the_journal() {
    let home = Home::with(writer()).configured(|config| {
        sleeps(config);
        config.journal.keeping.reflection.threshold = 4;
        config.journal.keeping.pruning.importance = Importance::try_new(4.0).unwrap();
        config.journal.keeping.pruning.age_days = 0;
        // The night reads the entry before it prunes.
        config.journal.keeping.pruning.preserve_consolidated = false;
    });
    let life = home.wake().await;
    let words = "I have the key of the gate, and I open the gate in the morning";
    life.accept(Perceive::whisper("Alice", words).build()).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    sleep(hours(2)).await;
    let asleep = state(&life).await;
    let counts = asleep.sleep.tonight().unwrap().came_of_it;
    assert_eq!(
        (counts.rescored, counts.concluded, counts.pruned),
        (1, 1, 1),
        "{counts:?}"
    );
    let left: Vec<_> = asleep.journal.journal().entries().collect();
    let left: Vec<_> = left
        .iter()
        .map(|it| (it.id.0, it.importance.get()))
        .collect();
    assert_eq!(left, [(2, 8)], "the conclusion stays");
    life.end().await.unwrap();
}
