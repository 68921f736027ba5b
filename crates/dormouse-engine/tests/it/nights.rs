//! An interrupted night ends with the same result as an undisturbed one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{
    Audience, Author, ChatRequest, Clock, EntityId, ModelErrorKind, Origin, Purpose, Random, Seq,
    Task, TaskLine, Trust,
};
use dormouse_engine::{
    AssistantConfig, BudgetSpan, ConsultationFailure, Event, NightCounts, ProbeStage, Rest,
    SleepSettings, SleepStep, StepEnd, StepFailure, StepProgress, restore,
};
use dormouse_entities::{
    EntityChange, EntityType, Name, NewObservation, ObservationSource, ObservationText,
};
use dormouse_journal::Importance;
use dormouse_memory::{Derivation, ExtractedFact, MemoryChange, Note, write::Decision};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn, SeededRandom, effort};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    budgets::hourly,
    consolidating::{consolidator, logged},
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

fn hours(count: u64) -> Duration {
    Duration::from_secs(3_600 * count)
}

/// Something whose places three people mention.
const THING: &str = "little red boat lies in the old harbour of";

/// A model that repeats the subject of each line at length, and loses the one important word.
fn wordy() -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(|request: &ChatRequest| {
        match request.purpose {
            Purpose::Consolidation => {
                let shown = crate::home::shown(request);
                let lines = shown.lines().filter(|line| line.starts_with('['));
                let facts = lines.map(|line| {
                    let id = line.trim_start_matches('[').split(']').next().unwrap();
                    let thing = if line.contains(THING) { THING } else { "night" };
                    // Only words that a search counts, so that a passage has as many of them as it can.
                    let words = thing.split_whitespace();
                    let words = words.filter(|word| !["in", "the", "of"].contains(word));
                    let text = words.collect::<Vec<_>>().join(" ");
                    json!({"text": format!("{} {id}", [text.as_str()].repeat(24).join(" ")), "from": [id]})
                });
                ScriptedTurn::text(json!(facts.collect::<Vec<_>>()).to_string())
            }
            _ => ScriptedTurn::call("noop", json!({})),
        }
    }))
}

/// What happens in the night.
#[derive(Clone, Copy, Debug)]
enum Interruption {
    /// The log dies after so many writes of the night, and the assistant wakes again.
    Kill(usize),
    /// Somebody speaks after so many writes of the night.
    Message(usize),
}

/// A home with this model ten minutes before its night, in which three people have said where things are.
async fn where_things_are(model: ScriptedModel) -> (Home, Life) {
    let home = Home::with(model).configured(|config| config.sleep = from_one_to_five());
    let life = home.wake().await;
    let harbours = [
        "Berlin", "Hamburg", "Bremen", "Kiel", "Lisbon", "Porto", "Genoa", "Naples", "Oslo",
        "Bergen", "Malmo", "Riga",
    ];
    for (number, harbour) in harbours.into_iter().enumerate() {
        let who = ["Alice", "Bob", "Carol"][number % 3];
        let said = format!("the {THING} {harbour}");
        let said = Perceive::whisper(who, &said).number(number as u64 + 1);
        life.accept(said.build()).await;
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
    }
    sleep(Duration::from_secs(3_000)).await;
    (home, life)
}

/// The facts that are made of it in the night lose what mattered.
async fn a_night_that_loses(interruption: Option<Interruption>) -> Home {
    let (home, life) = where_things_are(wordy()).await;
    let before = home.log.appends();
    match interruption {
        None => {
            sleep(hours(6)).await;
            life.end().await.unwrap();
        }
        Some(Interruption::Kill(writes)) => {
            home.log.close_after(writes);
            sleep(hours(1)).await;
            life.crash().await;
            home.log.reopen();
            let life = home.wake().await;
            sleep(hours(5)).await;
            life.end().await.unwrap();
        }
        Some(Interruption::Message(writes)) => {
            while home.log.appends() < before + writes {
                sleep(Duration::from_millis(10)).await;
            }
            let said = Perceive::whisper("Dora", "are you awake?").number(13);
            life.accept(said.build()).await;
            sleep(hours(6)).await;
            life.end().await.unwrap();
        }
    }
    home
}

/// What the night did: the end of its step, the events that made facts, the events that were taken back, and whether any fact is left.
async fn lost(home: &Home) -> (bool, Vec<u64>, Vec<u64>, bool) {
    let at_end = restore(&home.log, &key()).await.unwrap();
    let night = at_end.sleep.last_night().unwrap();
    let mut steps = night.steps.iter();
    let step = steps.find(|it| it.step == SleepStep::ConsolidateMemory);
    let end = step.unwrap().end;
    let is_taken_back =
        matches!(end, Some(StepEnd::TakenBack(it)) if it.after < it.before && it.kept == 0);
    let (mut made, mut taken_back) = (Vec::new(), Vec::new());
    for stored in home.log.events(&key()) {
        if let Event::MemoryChanged(it) = Event::decode(&stored).unwrap() {
            assert_eq!(it.author, Author::Sleep(1));
            match it.change {
                MemoryChange::Extracted { facts, .. } => {
                    let is_ignored =
                        |fact: &ExtractedFact| matches!(fact.decision, Decision::Ignore { .. });
                    // A fact that was not kept need not be taken back.
                    made.extend((!facts.iter().all(is_ignored)).then_some(stored.seq.0));
                }
                MemoryChange::Undone { event } => taken_back.push(event.0),
                _ => {}
            }
        }
    }
    taken_back.reverse();
    let records = home.memory.records(None, 1_000).await.unwrap();
    let mut facts = records
        .iter()
        .filter(|it| it.provenance.derivation != Derivation::Heard);
    let is_any_left = facts.any(|fact| fact.is_in_use());
    (is_taken_back, made, taken_back, is_any_left)
}

#[tokio::test(start_paused = true)]
async fn work_that_lost_is_taken_back_once_whatever_interrupts_it_at_any_write() {
    let (is_taken_back, made, taken_back, is_any_left) =
        lost(&a_night_that_loses(None).await).await;
    assert!(is_taken_back && !is_any_left);
    assert!(made.len() > 1, "an interruption may come between them");
    assert_eq!(taken_back, made);
    let expected = made.len();
    let kills = (1..=20).map(Interruption::Kill);
    let messages = (1..=18).map(Interruption::Message);
    for interruption in kills.chain(messages) {
        let home = a_night_that_loses(Some(interruption)).await;
        let (is_taken_back, made, taken_back, is_any_left) = lost(&home).await;
        assert!(is_taken_back && !is_any_left, "{interruption:?}");
        assert_eq!(taken_back, made, "{interruption:?}");
        assert_eq!(made.len(), expected, "{interruption:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_said_while_a_piece_of_work_is_interrupted_is_not_blamed_on_it() {
    let careful = || {
        ScriptedModel::looping(ScriptedTurn::with(|request: &ChatRequest| {
            match request.task.as_deref() {
                Some(Task::Extraction { lines }) => {
                    let fact = |line: &TaskLine| {
                        let text = format!("It is known that {}", line.text);
                        json!({"text": text, "from": [line.id]})
                    };
                    let facts: Vec<_> = lines.iter().map(fact).collect();
                    ScriptedTurn::text(Value::Array(facts).to_string())
                }
                Some(_) => ScriptedTurn::text("[]"),
                None => ScriptedTurn::call("noop", json!({})),
            }
        }))
    };
    let mut were_interrupted = false;
    for writes in 4..=14 {
        let (home, life) = where_things_are(careful()).await;
        let before = home.log.appends();
        while home.log.appends() < before + writes {
            sleep(Duration::from_millis(10)).await;
        }
        // Dora says so much of the same that nothing else is found within the tokens of a question.
        for number in 0..60_u64 {
            let said = format!("the {THING} Atlantis {number}");
            let said = match number {
                0 => Perceive::whisper("Dora", &said),
                _ => Perceive::say("Dora", &said),
            };
            life.accept(said.number(13 + number).build()).await;
        }
        sleep(hours(6)).await;
        life.end().await.unwrap();
        let state = restore(&home.log, &key()).await.unwrap();
        let mut steps = state.sleep.last_night().unwrap().steps.iter();
        let step = steps.find(|it| it.step == SleepStep::ConsolidateMemory);
        assert_eq!(
            step.unwrap().end,
            Some(StepEnd::Done),
            "after {writes} writes"
        );
        let asleep = home
            .events()
            .into_iter()
            .filter(|it| matches!(it, Event::FellAsleep(_)));
        were_interrupted |= asleep.count() > 1;
    }
    assert!(were_interrupted);
}

/// A model that writes three entries and answers by day, and does all work of a night. It counts the requests of the night.
fn thorough(paid: &Arc<AtomicU64>) -> ScriptedModel {
    let (paid, said) = (Arc::clone(paid), AtomicU64::new(0));
    ScriptedModel::looping(ScriptedTurn::with(move |request: &ChatRequest| {
        let Some(task) = request.task.as_deref() else {
            let said = said.fetch_add(1, Ordering::Relaxed);
            let entry = [
                "Alice has the key of the gate and opens the gate in the morning",
                "Bob sells honey at the bridge",
                "The mill burned down in the night",
            ];
            return match entry.get(usize::try_from(said / 2).unwrap()) {
                Some(entry) if said % 2 == 0 => {
                    ScriptedTurn::call("add_journal_entry", json!({"content": entry}))
                }
                _ => ScriptedTurn::call("say", json!({"message": "yes indeed"})),
            };
        };
        paid.fetch_add(1, Ordering::Relaxed);
        let each = |lines: &[TaskLine], one: fn(&TaskLine) -> Value| {
            let all: Vec<Value> = lines.iter().map(one).collect();
            ScriptedTurn::text(Value::Array(all).to_string())
        };
        match task {
            Task::Extraction { lines } => each(lines, |line| {
                let words: Vec<&str> = line.text.split_whitespace().take(7).collect();
                json!({"text": format!("It is known that {}", words.join(" ")), "from": [line.id]})
            }),
            Task::Scoring { lines } => each(lines, |line| json!({"id": line.id, "score": 4})),
            Task::Questions { .. } => ScriptedTurn::text("[\"Who has the key of the gate?\"]"),
            Task::Reflection { lines } => {
                let ids: Vec<&str> = lines.iter().map(|line| line.id.as_str()).collect();
                let insight = "The key of the gate is needed in the morning";
                ScriptedTurn::text(json!([{"insight": insight, "from": ids}]).to_string())
            }
            Task::Traits { .. } => ScriptedTurn::text("{\"interests\": [\"tea\"]}"),
            Task::Summary { .. } => ScriptedTurn::text("Alice spoke of kettles."),
            _ => ScriptedTurn::text("[]"),
        }
    }))
}

fn has_work_for_every_step(config: &mut AssistantConfig) {
    config.sleep = from_one_to_five();
    config.limits = config.limits.with_max_context_tokens(12_288).unwrap();
    config.memory_tokens = 0;
    config.compaction.sleep_percent = 10;
    config.compaction.preserve = 4;
    let keeping = &mut config.journal.keeping;
    keeping.reflection.threshold = 4;
    keeping.pruning.importance = Importance::try_new(4.0).unwrap();
    keeping.pruning.age_days = 0;
}

/// Five observations of Alice.
async fn notice(home: &Home) {
    let entity = || EntityId::try_new("player:Alice").unwrap();
    let created = EntityChange::Created {
        entity: entity(),
        entity_type: EntityType::Player,
        name: Name::try_new("Alice").unwrap(),
    };
    let observed = (1..=5).map(|number| EntityChange::Observed {
        entity: entity(),
        observation: NewObservation {
            content: ObservationText::shortened(&format!("drank tea {number}")).unwrap(),
            source: ObservationSource::shortened("direct").unwrap(),
            trust: Trust::FULL,
            origin: Some(Origin::event(Seq(1))),
            audience: None,
            sources: dormouse_contracts::Sources::default(),
        },
    });
    let mut memory = logged(home).await;
    for change in std::iter::once(created).chain(observed) {
        let by = Author::Operator("florian".to_owned());
        memory.change_entity(change, by, "in a test").await.unwrap();
    }
}

/// A home ten minutes before a night with work for every step.
async fn evening(paid: &Arc<AtomicU64>) -> (Home, Life) {
    let home = Home::with(thorough(paid)).configured(has_work_for_every_step);
    notice(&home).await;
    let life = home.wake().await;
    for number in 1..=14_u64 {
        let said = format!(
            "my boat number {number} lies in Berlin {}",
            "kettle ".repeat(90)
        );
        let said = Perceive::whisper("Alice", &said).number(number);
        life.accept(said.build()).await;
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
    }
    sleep(Duration::from_secs(3_000)).await;
    (home, life)
}

/// The result in the morning, without times: records, profiles, journal, summaries and the diary.
async fn morning(home: &Home) -> (Vec<String>, String, String, Vec<String>, Diary) {
    let records = home.memory.records(None, 10_000).await.unwrap();
    let texts: BTreeMap<String, String> = records
        .iter()
        .map(|record| (record.id.to_string(), record.text.clone()))
        .collect();
    let plain = |value: Value| timeless(value, &texts).to_string();
    let record = |record| plain(serde_json::to_value(record).unwrap());
    let mut records: Vec<String> = records.iter().map(record).collect();
    records.sort();
    let profiles = plain(serde_json::to_value(home.memory.entities()).unwrap());
    let state = restore(&home.log, &key()).await.unwrap();
    let journal = plain(serde_json::to_value(state.journal.journal()).unwrap());
    let summaries = state.compactions.summaries();
    let summaries = summaries.map(|summary| summary.text.clone()).collect();
    let night = state.sleep.last_night().unwrap();
    let steps = night.steps.iter();
    let steps = steps.map(|it| (it.step, it.end, it.failures)).collect();
    let diary = (state.sleep.nights().len(), steps, night.came_of_it);
    (records, profiles, journal, summaries, diary)
}

/// The number of nights, and the steps and counts of the last one.
type Diary = (usize, Vec<(SleepStep, Option<StepEnd>, u32)>, NightCounts);

/// The value without times, and with the text of each record in place of its id, which is the place of an event.
fn timeless(value: Value, texts: &BTreeMap<String, String>) -> Value {
    match value {
        Value::Array(all) => all.into_iter().map(|it| timeless(it, texts)).collect(),
        Value::Object(all) => {
            let all = all.into_iter();
            Value::Object(all.map(|(key, it)| (key, timeless(it, texts))).collect())
        }
        Value::String(text) => Value::String(texts.get(&text).cloned().unwrap_or(text)),
        // Microseconds since 1970.
        Value::Number(number) if number.as_u64().is_some_and(|it| it > 1_700_000_000_000_000) => {
            Value::Null
        }
        other => other,
    }
}

/// Draws places of kills.
fn drawn(random: &SeededRandom, below: usize) -> usize {
    (random.unit() * below as f64) as usize
}

#[tokio::test(start_paused = true)]
async fn a_night_killed_at_random_moments_ends_as_one_left_alone_and_pays_for_no_call_twice() {
    let paid = Arc::new(AtomicU64::new(0));
    let (home, life) = evening(&paid).await;
    let before = home.log.appends();
    sleep(hours(6)).await;
    life.end().await.unwrap();
    let writes = home.log.appends() - before;
    let expected = morning(&home).await;
    let (_, _, _, _, (_, steps, counts)) = &expected;
    assert!(
        steps.len() == 8 && steps.iter().all(|(_, end, _)| *end == Some(StepEnd::Done)),
        "{steps:?}"
    );
    let NightCounts {
        consolidated,
        linked,
        people,
        rescored,
        concluded,
        pruned,
        compacted,
        requests,
        ..
    } = *counts;
    let all = [
        consolidated,
        linked,
        people,
        rescored,
        concluded,
        pruned,
        compacted,
    ];
    assert!(all.iter().all(|count| *count > 0), "{counts:?}");
    let expected_calls = paid.load(Ordering::Relaxed);
    assert_eq!(requests, expected_calls);

    for case in 0..u64::from(effort(100)) {
        let random = SeededRandom::new(case);
        paid.store(0, Ordering::Relaxed);
        let (mut home, mut life) = evening(&paid).await;
        let mut kills = Vec::new();
        for _ in 0..=drawn(&random, 3) {
            let after = drawn(&random, writes);
            kills.push(after);
            home.log.close_after(after);
            sleep(Duration::from_secs(1_500)).await;
            life.crash().await;
            home.log.reopen();
            // The memory and the snapshots can be rebuilt from the log.
            match drawn(&random, 4) {
                0 => home.lose_memory(),
                1 => home.log.lose_snapshots(),
                _ => {}
            }
            life = home.wake().await;
        }
        sleep(hours(5)).await;
        life.end().await.unwrap();
        assert_eq!(
            morning(&home).await,
            expected,
            "killed after {kills:?} writes"
        );
        let calls = paid.load(Ordering::Relaxed);
        assert_eq!(calls, expected_calls, "killed after {kills:?} writes");
    }
}

/// A home that has heard about a boat, with a model that replies like this in the night.
async fn about_a_boat(
    night: impl Fn(&ChatRequest) -> ScriptedTurn + Send + Sync + 'static,
) -> Home {
    let model = ScriptedModel::looping(ScriptedTurn::with(move |request| match request.purpose {
        Purpose::Answer => ScriptedTurn::call("noop", json!({})),
        _ => night(request),
    }));
    let home = Home::with(model).configured(|config| config.sleep = from_one_to_five());
    home.hear(Perceive::whisper("Alice", "my boat lies in Berlin").build())
        .await;
    home
}

/// Lives for this many hours, and returns the progress of this step in the last night.
async fn step_after(home: &Home, count: u64, step: SleepStep) -> StepProgress {
    let life = home.wake().await;
    sleep(hours(count)).await;
    let state = life.handle.inspect().await.unwrap();
    life.end().await.unwrap();
    let night = state.sleep.last_night().unwrap();
    let found = night.steps.iter().find(|it| it.step == step);
    found.unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn a_request_that_failed_gives_back_what_it_reserved_and_the_log_says_so() {
    let home = about_a_boat(|_| ScriptedTurn::Fail(ModelErrorKind::Unavailable)).await;
    let home = home.configured(|config| config.budgets = hourly(100_000));
    let spent = |state: &dormouse_engine::State| {
        let now = home.clock.now();
        state.ledger.spent(BudgetSpan::Day, now)
    };
    let before = spent(&restore(&home.log, &key()).await.unwrap());
    step_after(&home, 2, SleepStep::PruneJournal).await;
    let state = restore(&home.log, &key()).await.unwrap();
    assert_eq!(spent(&state), before);
    let (mut reserved, mut failed) = (0, 0);
    for event in home.events() {
        match event {
            Event::CallReserved(_) => reserved += 1,
            Event::ConsultationFailed(it) => {
                let unavailable = ConsultationFailure::Unanswered(ModelErrorKind::Unavailable);
                assert_eq!(it.cause, unavailable);
                failed += 1;
            }
            _ => {}
        }
    }
    assert_eq!((reserved, failed), (3, 3));
}

#[tokio::test(start_paused = true)]
async fn work_that_panics_counts_as_failed_and_is_skipped_after_three_failures() {
    let home = about_a_boat(|_| panic!("a defect of a model, as it should be in this test")).await;
    let step = step_after(&home, 2, SleepStep::ConsolidateMemory).await;
    assert_eq!(
        (step.end, step.failures, step.failure),
        (Some(StepEnd::Skipped), 3, Some(StepFailure::Panicked))
    );
    let last = step_after(&home, 0, SleepStep::PruneJournal).await;
    assert_eq!(last.end, Some(StepEnd::Done), "the night goes on");
}

#[tokio::test(start_paused = true)]
async fn a_night_goes_on_at_its_pace_after_somebody_set_the_clock_back_by_hours() {
    let home = about_a_boat(|_| ScriptedTurn::text("[]")).await;
    let life = home.wake().await;
    sleep(hours(1) + Duration::from_secs(30)).await;
    let asleep = life.handle.inspect().await.unwrap();
    assert!(asleep.sleep.is_asleep() && asleep.sleep.tonight().unwrap().next_step().is_some());
    home.set_clock(-3);
    sleep(Duration::from_secs(150)).await;
    let asleep = life.handle.inspect().await.unwrap();
    assert!(
        asleep.sleep.tonight().unwrap().next_step().is_some(),
        "not all at once"
    );
    sleep(Duration::from_secs(1_200)).await;
    let asleep = life.handle.inspect().await.unwrap();
    let night = asleep.sleep.tonight().unwrap();
    assert!(night.steps.iter().all(|it| it.end == Some(StepEnd::Done)));
    assert_eq!(night.next_step(), None, "{night:?}");
    let now = home.clock.now();
    assert!(night.steps.last().unwrap().at <= now);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_a_model_refused_three_times_is_asked_about_by_no_night_again_but_by_an_operator() {
    let refused = |_: &ChatRequest| ScriptedTurn::Fail(ModelErrorKind::Refused);
    let home = about_a_boat(refused).await;
    let asked = || home.model.requests().len();
    let before = asked();
    step_after(&home, 6, SleepStep::ConsolidateMemory).await;
    assert_eq!(asked() - before, 3);
    let step = step_after(&home, 22, SleepStep::ConsolidateMemory).await;
    assert_eq!((step.end, asked() - before), (Some(StepEnd::Done), 3));
    let state = restore(&home.log, &key()).await.unwrap();
    assert_eq!(state.sleep.nights().len(), 2);
    let willing = consolidator(&home, ScriptedModel::looping(ScriptedTurn::text("[]")));
    let ran = willing.run(&mut logged(&home).await).await.unwrap();
    assert_eq!((ran.requests, ran.records), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn of_more_than_a_thousand_records_some_of_each_time_are_asked_about() {
    let home = Home::with(wordy()).configured(|config| config.sleep = from_one_to_five());
    let mut memory = logged(&home).await;
    for page in 0..12 {
        let said = |number| {
            let text = format!("the little boat number {page}x{number} lies in the harbour");
            Note::new(text).said_by("Alice").in_thread("around")
        };
        let notes = (0..100).map(said).collect();
        let change = MemoryChange::Added { notes };
        let by = Author::Operator("florian".to_owned());
        memory.change(change, by, "in a test").await.unwrap();
    }
    drop(memory);
    let life = home.wake().await;
    sleep(hours(1) + Duration::from_secs(150)).await;
    life.crash().await;
    let probed = home.events().into_iter().find_map(|event| match event {
        Event::NightProbed(it) => Some(it.stage),
        _ => None,
    });
    let Some(ProbeStage::Before(answers)) = probed else {
        panic!("{probed:?}")
    };
    let evidence = answers.iter().map(|it| it.evidence.seq().0);
    let evidence: Vec<u64> = evidence.collect();
    let pages: BTreeSet<u64> = evidence.iter().copied().collect();
    assert_eq!((evidence.len(), pages.len()), (40, 12), "{evidence:?}");
}

#[tokio::test(start_paused = true)]
async fn conclusions_of_what_two_people_said_apart_are_known_to_one_of_them_each() {
    let said = AtomicU64::new(0);
    let model = ScriptedModel::looping(ScriptedTurn::with(
        move |request: &ChatRequest| match request.task.as_deref() {
            Some(Task::Questions { .. }) => {
                ScriptedTurn::text("[\"What is needed in the morning?\"]")
            }
            Some(Task::Reflection { lines }) => {
                let ids: Vec<&str> = lines.iter().map(|line| line.id.as_str()).collect();
                let first = lines[0].text.split_whitespace().take(8);
                let first: Vec<&str> = first.collect();
                let insight = format!("It matters that {}", first.join(" "));
                ScriptedTurn::text(json!([{"insight": insight, "from": ids}]).to_string())
            }
            Some(_) => ScriptedTurn::text("[]"),
            None => {
                let said = said.fetch_add(1, Ordering::Relaxed);
                let content = match said {
                    0 => "the key of the gate is needed in the morning",
                    2 => "the honey of the bridge is needed in the morning",
                    _ => return ScriptedTurn::call("noop", json!({})),
                };
                ScriptedTurn::call("add_journal_entry", json!({"content": content}))
            }
        },
    ));
    let home = Home::with(model).configured(|config| {
        config.sleep = from_one_to_five();
        config.journal.keeping.reflection.threshold = 4;
    });
    for (number, (who, words)) in [("Alice", "key of the gate"), ("Bob", "honey of the bridge")]
        .into_iter()
        .enumerate()
    {
        let said = format!("the {words} is needed in the morning");
        let said = Perceive::whisper(who, &said).number(number as u64 + 1);
        home.hear(said.build()).await;
    }
    step_after(&home, 26, SleepStep::PruneJournal).await;
    let state = restore(&home.log, &key()).await.unwrap();
    let entries: Vec<_> = state.journal.journal().entries().collect();
    let known_to = |depth: u8| -> Vec<Audience> {
        let entries = entries.iter().filter(|it| it.provenance.depth == depth);
        entries.map(|it| it.provenance.audience.clone()).collect()
    };
    let (written, concluded) = (known_to(0), known_to(1));
    assert_eq!((written.len(), concluded.len()), (2, 2), "{entries:?}");
    assert!(!concluded.contains(&Audience::nobody()), "{concluded:?}");
    assert_ne!(concluded[0], concluded[1]);
}
