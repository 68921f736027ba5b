//! Facts and attributes that a model makes: each reply is an event, and so is each result of it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{
    Append, AppendRequest, Author, ChatRequest, EntityId, Message, ModelErrorKind, NewEvent,
    Origin, Purpose, Seq, Trust,
};
use dormouse_engine::{
    ConsolidateError, Consolidated, ConsolidationEnd, ConsolidationSettings, Consolidator,
    DecideAgainError, Event, FirstDifference, LoggedMemory, decide_again, restore,
};
use dormouse_entities::{
    ConsolidationPolicy, EntityChange, EntityType, Name, NewObservation, ObservationSource,
    ObservationText,
};
use dormouse_memory::{
    MemoryChange, Note, Record, RecordKind, RecordStatus, write::ExtractionSettings,
};
use dormouse_resilience::RetryBudget;
use dormouse_testing::{CountTokens, FixedRandom, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::{Value, json};

use crate::{
    home::{Home, every_decision_is_the_same_again, key, shown},
    memory::contents,
};

pub(crate) type Logged = LoggedMemory<dormouse_testing::MemoryLog>;

pub(crate) async fn logged(home: &Home) -> Logged {
    let opened = LoggedMemory::open(home.log.clone(), home.memory.clone(), home.clock.clone());
    opened.await.unwrap()
}

pub(crate) fn consolidator(home: &Home, model: ScriptedModel) -> Consolidator {
    Consolidator {
        model: Arc::new(model),
        clock: home.clock.clone(),
        random: Arc::new(FixedRandom::new(0.5)),
        counter: Arc::new(CountTokens),
        settings: ConsolidationSettings {
            extraction: ExtractionSettings {
                batch: 2,
                ..ExtractionSettings::default()
            },
            people: ConsolidationPolicy::default(),
            max_requests: 1_000,
            author: by(),
            timeout: Duration::from_secs(60),
            retry_for: Duration::ZERO,
            retry_budget: RetryBudget::default(),
        },
    }
}

fn by() -> Author {
    Author::Operator("florian".to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_consolidation_asks_no_model_while_the_assistant_is_stopped() {
    let home = Home::new([ScriptedTurn::call("noop", json!({}))]);
    home.hear(Perceive::whisper("Alice", "my boat lies in Berlin").build())
        .await;
    let life = home.wake().await;
    life.handle.stop("Carol", "").await.unwrap();
    life.end().await.unwrap();
    let by = consolidator(&home, ScriptedModel::new([]));
    let mut memory = logged(&home).await;
    assert_eq!(
        by.run(&mut memory).await.unwrap().end,
        ConsolidationEnd::Stopped
    );
    let began = |event: &Event| matches!(event, Event::ConsolidationBegan(_));
    assert!(
        !home.events().iter().any(began),
        "nothing is written either"
    );
}

/// The text that a request shows.
fn asked(request: &ChatRequest) -> String {
    match request.messages.last() {
        Some(Message::User { content }) => content.clone(),
        other => panic!("{other:?}"),
    }
}

/// A model that makes a fact from each line it is shown, says that doubtful facts replace known ones, and finds that
/// everybody likes tea. No two facts have the same wording.
fn diligent(calls: &Arc<AtomicU64>) -> ScriptedModel {
    let calls = Arc::clone(calls);
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        assert_eq!(request.purpose, Purpose::Consolidation);
        let call = calls.fetch_add(1, Ordering::Relaxed);
        let shown = asked(request);
        ScriptedTurn::text(if shown.starts_with('[') {
            let facts = shown.lines().enumerate().map(|(number, line)| {
                let id = line.trim_start_matches('[').split(']').next().unwrap();
                json!({"text": format!("Alice keeps boat{call}x{number} in the harbour of Berlin"), "from": [id]})
            });
            json!(facts.collect::<Vec<_>>()).to_string()
        } else if shown.starts_with('c') {
            json!(verdicts(&shown)).to_string()
        } else {
            json!({"interests": ["tea"]}).to_string()
        })
    }))
}

fn verdicts(shown: &str) -> Vec<Value> {
    let mut verdicts: Vec<Value> = Vec::new();
    for line in shown.lines() {
        let word = line.split_whitespace().next().unwrap();
        if line.starts_with('c') {
            verdicts.push(json!({"fact": word, "action": "supersede", "reason": "newer"}));
        } else if let Some(last) = verdicts.last_mut()
            && last["record"].is_null()
        {
            last["record"] = word.into();
        }
    }
    verdicts
}

pub(crate) fn alice() -> EntityId {
    EntityId::try_new("alice").unwrap()
}

fn noticed(what: &str) -> EntityChange {
    EntityChange::Observed {
        entity: alice(),
        observation: NewObservation {
            content: ObservationText::shortened(what).unwrap(),
            source: ObservationSource::shortened("direct").unwrap(),
            trust: Trust::FULL,
            origin: Some(Origin::event(Seq(1))),
            audience: None,
            sources: dormouse_contracts::Sources::default(),
        },
    }
}

/// A home whose memory holds five lines in two conversations, a note, and five observations of Alice.
async fn full() -> Home {
    let home = Home::new([]);
    let mut memory = logged(&home).await;
    let stored = Note::new("Alice keeps a boat in the harbour of Berlin")
        .kind(RecordKind::Fact)
        .derivation(dormouse_memory::Derivation::Stored)
        .trusted(Trust::try_new(0.5).unwrap());
    let said = |number: u8| {
        let thread = if number < 4 { "around" } else { "with/alice" };
        Note::new(format!("I sailed on day {number}"))
            .said_by("Alice")
            .in_thread(thread)
    };
    for note in std::iter::once(stored).chain((1..=5).map(said)) {
        let notes = vec![note];
        let change = MemoryChange::Added { notes };
        memory.change(change, by(), "in a test").await.unwrap();
    }
    let created = EntityChange::Created {
        entity: alice(),
        entity_type: EntityType::Player,
        name: Name::try_new("Alice").unwrap(),
    };
    let observed = (1..=5).map(|number| noticed(&format!("drank tea {number}")));
    for change in std::iter::once(created).chain(observed) {
        let changed = memory.change_entity(change, by(), "in a test").await;
        changed.unwrap();
    }
    home
}

async fn facts(home: &Home) -> Vec<Record> {
    let records = home.memory.records(None, 1_000).await.unwrap().into_iter();
    records
        .filter(|record| !record.provenance.derived_from.is_empty())
        .collect()
}

fn consulted(home: &Home) -> Vec<&'static str> {
    let purposes = home.events().into_iter().filter_map(|event| match event {
        Event::Consulted(consulted) => Some(consulted.about.purpose()),
        _ => None,
    });
    purposes.collect()
}

async fn run(home: &Home, by: &Consolidator) -> Result<Consolidated, ConsolidateError> {
    let came_of_it = by.run(&mut logged(home).await).await;
    every_decision_is_the_same_again(&home.log).await;
    came_of_it
}

#[tokio::test(start_paused = true)]
async fn replies_and_what_follows_from_them_are_events_and_the_memory_comes_out_of_them() {
    let mut home = full().await;
    let calls = Arc::new(AtomicU64::new(0));
    let by = consolidator(&home, diligent(&calls));
    let forecast = by.forecast(logged(&home).await.memory()).await.unwrap();
    assert_eq!(
        (forecast.requests, forecast.records, forecast.people),
        (4, 5, 1)
    );
    assert!(forecast.prompt_tokens > 0);
    assert_eq!(calls.load(Ordering::Relaxed), 0, "a forecast asks nobody");

    let came_of_it = run(&home, &by).await.unwrap();
    assert_eq!(came_of_it.end, ConsolidationEnd::Done);
    assert_eq!((came_of_it.records, came_of_it.added), (5, 5));
    assert!(came_of_it.superseded > 0, "{came_of_it:?}");
    assert_eq!(came_of_it.people, [alice()]);
    assert_eq!(came_of_it.requests, calls.load(Ordering::Relaxed));
    assert_eq!(consulted(&home).len() as u64, came_of_it.requests);

    let state = restore(&home.log, &key()).await.unwrap();
    assert_eq!(state.spent.replies, came_of_it.requests);
    assert_eq!(state.spent.prompt_tokens, came_of_it.prompt_tokens);
    assert_eq!(
        state.consultations,
        dormouse_engine::Consultations::default()
    );

    let lived = contents(&home.memory).await;
    home.lose_memory();
    logged(&home).await;
    assert_eq!(contents(&home.memory).await, lived);

    let again = run(&home, &by).await.unwrap();
    assert_eq!(again, Consolidated::default(), "nothing is left");
}

#[tokio::test(start_paused = true)]
async fn killed_after_any_event_it_goes_on_and_pays_for_no_call_twice() {
    let calls = Arc::new(AtomicU64::new(0));
    let home = full().await;
    let before = home.log.events(&key()).len();
    run(&home, &consolidator(&home, diligent(&calls)))
        .await
        .unwrap();
    let whole = home.log.events(&key()).len() - before;
    let (paid, made) = (calls.load(Ordering::Relaxed), facts(&home).await.len());
    assert!(whole > 8, "{whole} events");
    for killed_after in 1..whole {
        let calls = Arc::new(AtomicU64::new(0));
        let mut home = full().await;
        let by = consolidator(&home, diligent(&calls));
        let mut memory = logged(&home).await;
        home.log.close_after(killed_after);
        by.run(&mut memory).await.unwrap_err();
        home.log.reopen();
        if killed_after % 2 == 0 {
            home.lose_memory();
        }
        run(&home, &by).await.unwrap();
        assert_eq!(
            (calls.load(Ordering::Relaxed), facts(&home).await.len()),
            (paid, made),
            "killed after event {killed_after} of {whole}: {:?}",
            consulted(&home)
        );
        assert_eq!(home.log.events(&key()).len() - before, whole);
    }
}

#[tokio::test(start_paused = true)]
async fn a_recorded_reply_about_a_line_that_was_erased_since_leads_to_nothing() {
    let home = full().await;
    let calls = Arc::new(AtomicU64::new(0));
    let by = consolidator(&home, diligent(&calls));
    let mut memory = logged(&home).await;
    home.log.close_after(2);
    by.run(&mut memory).await.unwrap_err();
    home.log.reopen();
    let mut memory = logged(&home).await;
    let sources = home.memory.unread_sources(&by.settings.extraction, 1).await;
    let record = sources.unwrap()[0].id();
    let erased = MemoryChange::Erased { record };
    memory
        .change(erased, self::by(), "forgotten")
        .await
        .unwrap();
    let came_of_it = by.run(&mut memory).await.unwrap();
    assert_eq!((came_of_it.resumed, came_of_it.records), (0, 4));
    let derived = facts(&home).await.into_iter();
    let mut sources = derived.flat_map(|fact| fact.provenance.derived_from);
    assert!(!sources.any(|source| source == record));
}

#[tokio::test(start_paused = true)]
async fn an_extraction_is_undone_as_one_event_and_is_not_made_again() {
    let mut home = full().await;
    let calls = Arc::new(AtomicU64::new(0));
    let by = consolidator(&home, diligent(&calls));
    let came_of_it = run(&home, &by).await.unwrap();
    let mut memory = logged(&home).await;
    // The newest change comes first: each undo restores the state that the next one expects.
    for event in came_of_it.events.into_iter().rev() {
        let undone = MemoryChange::Undone { event };
        memory.change(undone, self::by(), "undone").await.unwrap();
    }
    let made = facts(&home).await;
    assert!(
        made.iter()
            .all(|fact| fact.status == RecordStatus::Withdrawn)
    );
    let stored = home.memory.record(Origin::event(Seq(1))).await.unwrap();
    let stored = stored.unwrap();
    assert_eq!(
        (stored.status, stored.valid_until),
        (RecordStatus::Live, None)
    );
    let again = by.run(&mut memory).await.unwrap();
    assert_eq!(again, Consolidated::default());
    let lived = contents(&home.memory).await;
    home.lose_memory();
    logged(&home).await;
    assert_eq!(contents(&home.memory).await, lived);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_down_ends_the_run_and_leaves_everything_for_later() {
    for kind in [
        ModelErrorKind::Unreachable,
        ModelErrorKind::Auth,
        ModelErrorKind::TimedOut,
        ModelErrorKind::NotAttempted(None),
    ] {
        let home = full().await;
        let by = consolidator(&home, ScriptedModel::looping(ScriptedTurn::Fail(kind)));
        let came_of_it = run(&home, &by).await.unwrap();
        let ConsolidationEnd::ModelFailed {
            kind: found,
            reason,
        } = &came_of_it.end
        else {
            panic!("{came_of_it:?}");
        };
        assert_eq!(*found, kind);
        assert!(!reason.is_empty());
        assert_eq!((came_of_it.records, came_of_it.skipped.len()), (0, 0));
        assert_eq!(consulted(&home).len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn unreadable_replies_and_refusals_skip_a_line_after_three_failures_and_no_other() {
    for turn in [
        || ScriptedTurn::text("I would rather talk about the weather."),
        || ScriptedTurn::Fail(ModelErrorKind::Refused),
    ] {
        let home = full().await;
        let model = ScriptedModel::looping(ScriptedTurn::with(move |request| {
            let shown = shown(request);
            let is_about_alice = shown.contains("Notes:");
            if shown.contains("day 2") || is_about_alice {
                turn()
            } else {
                ScriptedTurn::text("[]")
            }
        }));
        let by = consolidator(&home, model.clone());
        let came_of_it = run(&home, &by).await.unwrap();
        assert_eq!(came_of_it.end, ConsolidationEnd::Done);
        assert_eq!(came_of_it.records, 4);
        assert_eq!(came_of_it.skipped, ["3", "alice"]);
        // Three requests are about the line, the first of them with another line, which is asked about again. Three are
        // about Alice. Two are about the rest.
        assert_eq!(model.requests().len(), 3 + 1 + 3 + 2);
        // Another run tries them again.
        let again = run(&home, &by).await.unwrap();
        assert_eq!((again.records, again.skipped.len()), (0, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_requests_are_made_than_allowed_and_the_next_run_goes_on() {
    let home = full().await;
    let calls = Arc::new(AtomicU64::new(0));
    let mut by = consolidator(&home, diligent(&calls));
    by.settings.max_requests = 1;
    let mut ended = 0;
    for runs in 1..20 {
        let came_of_it = run(&home, &by).await.unwrap();
        assert_eq!(
            calls.load(Ordering::Relaxed),
            runs.min(calls.load(Ordering::Relaxed))
        );
        if came_of_it.end == ConsolidationEnd::Done {
            ended = runs;
            break;
        }
        assert_eq!(came_of_it.end, ConsolidationEnd::MaxRequests);
        assert_eq!(came_of_it.requests, 1);
    }
    let once = full().await;
    let calls_once = Arc::new(AtomicU64::new(0));
    run(&once, &consolidator(&once, diligent(&calls_once)))
        .await
        .unwrap();
    assert_eq!(
        calls.load(Ordering::Relaxed),
        calls_once.load(Ordering::Relaxed)
    );
    assert!(ended > 1);
    assert_eq!(facts(&home).await.len(), facts(&once).await.len());
}

#[tokio::test(start_paused = true)]
async fn two_logs_of_one_assistant_never_feed_one_memory() {
    let one = full().await;
    let other = full().await;
    let calls = Arc::new(AtomicU64::new(0));
    run(&one, &consolidator(&one, diligent(&calls)))
        .await
        .unwrap();
    let stranger = LoggedMemory::open(other.log.clone(), one.memory.clone(), one.clock.clone());
    let refused = stranger.await.unwrap_err();
    assert!(refused.is_mismatch(), "{refused}");
    assert!(
        refused
            .to_string()
            .contains("make the memory again from this log"),
        "{refused}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_failed_follows_from_the_log_and_a_killed_run_does_not_ask_about_it_more_often() {
    // The number of model calls, and what is skipped, without a kill.
    let home = full().await;
    let before = home.log.events(&key()).len();
    let whole = run(&home, &consolidator(&home, weatherly())).await.unwrap();
    let events = home.log.events(&key()).len() - before;
    assert_eq!(whole.skipped, ["3", "alice"]);
    for killed_after in 1..events {
        let mut home = full().await;
        let model = weatherly();
        let by = consolidator(&home, model.clone());
        home.log.close_after(killed_after);
        by.run(&mut logged(&home).await).await.unwrap_err();
        home.log.reopen();
        if killed_after % 2 == 0 {
            home.lose_memory();
        }
        let resumed = run(&home, &by).await.unwrap();
        assert_eq!(
            resumed.skipped, whole.skipped,
            "killed after {killed_after}"
        );
        assert_eq!(
            home.log.events(&key()).len() - before,
            events,
            "killed after {killed_after}"
        );
        // A refusal is not a reply, so a request that was refused before the kill is made once more.
        assert!(
            model.requests().len() <= 3 + 1 + 3 + 2 + 1,
            "killed after {killed_after}"
        );
        let state = restore(&home.log, &key()).await.unwrap();
        let expected = dormouse_engine::Consultations {
            given_up: ["3".to_owned()].into(),
            ..dormouse_engine::Consultations::default()
        };
        assert_eq!(state.consultations, expected);
    }
}

/// A model that finds no facts, gives an unreadable reply about lines of the second day, and refuses to write about
/// Alice.
fn weatherly() -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(|request| {
        let shown = shown(request);
        if shown.contains("Notes:") {
            ScriptedTurn::Fail(ModelErrorKind::Refused)
        } else if shown.contains("day 2") {
            ScriptedTurn::text("I would rather talk about the weather.")
        } else {
            ScriptedTurn::text("[]")
        }
    }))
}

#[tokio::test(start_paused = true)]
async fn what_follows_from_other_settings_or_another_reply_is_found_by_deciding_again() {
    let home = full().await;
    run(&home, &consolidator(&home, diligent(&Arc::default())))
        .await
        .unwrap();
    for (kind, from, to, differs) in [
        (
            "consolidation_began",
            "\"reply_tokens\":2000",
            "\"reply_tokens\":1999",
            "consulted",
        ),
        (
            "consolidation_began",
            "\"min_observations\":5",
            "\"min_observations\":6",
            "consulted",
        ),
        (
            "memory_changed",
            "I sailed on day 2",
            "I sailed on day 7",
            "consulted",
        ),
        ("entity_changed", "drank tea 2", "drank tea 7", "consulted"),
        // A fact of the reply is doubtful, so the model was asked about it.
        ("consulted", "boat0x0", "boat0x9", "consulted"),
        ("consulted", "supersede", "link", "memory_changed"),
        (
            "consulted",
            "\"found\":[[\"1\"",
            "\"found\":[[\"3\"",
            "consulted",
        ),
        (
            "memory_changed",
            "\"found\":[[\"1\"",
            "\"found\":[[\"3\"",
            "memory_changed",
        ),
        // The outcome of each fact, and which facts were judged with which records.
        (
            "memory_changed",
            "{\"old\":\"1\"}",
            "{\"old\":\"16.1\"}",
            "memory_changed",
        ),
        ("consulted", "[\"2\",\"3\"]", "[\"3\",\"4\"]", "consulted"),
        (
            "consulted",
            "\"extraction\":14",
            "\"extraction\":13",
            "consulted",
        ),
        ("memory_changed", "boat0x0", "boat0x9", "memory_changed"),
        ("consulted", "\\\"tea\\\"", "\\\"mead\\\"", "entity_changed"),
        ("entity_changed", "\"tea\"", "\"mead\"", "entity_changed"),
    ] {
        let first = first_difference(&home, kind, from, to).await;
        assert_eq!(first.recorded.kind(), differs, "{kind} {from}: {first}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_could_be_read_after_all_is_found_by_deciding_again() {
    let home = full().await;
    run(&home, &consolidator(&home, weatherly())).await.unwrap();
    let poem = "I would rather talk about the weather.";
    let first = first_difference(&home, "consulted", poem, "[]").await;
    assert_eq!(first.recorded.kind(), "consultation_failed", "{first}");
}

/// The first difference in a replay of a log in which one text is replaced in all events of this kind.
async fn first_difference(home: &Home, kind: &str, from: &str, to: &str) -> FirstDifference {
    let log = dormouse_testing::MemoryLog::new();
    for (seq, event) in (0..).zip(home.log.events(&key())) {
        let payload = String::from_utf8(event.payload.clone()).unwrap();
        let changed = NewEvent {
            at: event.at,
            kind: Event::decode(&event).unwrap().kind(),
            schema: event.schema,
            payload: match event.kind == kind {
                true => payload.replace(from, to).into_bytes(),
                false => event.payload,
            },
        };
        let request = AppendRequest {
            assistant: key(),
            expected: Seq(seq),
            events: vec![changed],
        };
        log.append(request).await.unwrap();
    }
    match decide_again(&log, &key(), Seq(u64::MAX), |_| Arc::new(CountTokens)).await {
        Err(DecideAgainError::Different(first)) => *first,
        again => panic!("{from}: {again:?}"),
    }
}
