//! Forgetting: how long it takes and how large the files are, on the log of a year of visits: `cargo xtask bench forgetting`.
//!
//! One life of 365 days, with a visit each day, is lived. The log of each further assistant is a copy of it, until the log
//! has as many events as asked for (`-- --events 1000000`).
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a list for people"
)]

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use dormouse_contracts::{
    Append, AppendRequest, AssistantId, BoxError, Clock, EntityId, NewEvent, ReadEvents, Sender,
    Seq, StoredEvent, Timestamp,
};
use dormouse_engine::{
    AssistantConfig, Event, ForgetPlan, KnownPeople, LogRewrite, Person, Ports, Selection,
    catch_up, unreferred,
};
use dormouse_memory::Memory;
use dormouse_offline::OfflineModel;
use dormouse_providers::Estimate;
use dormouse_store::{RedbLog, RewriteEvents};
use dormouse_testing::{FakeWorld, FixedRandom, ManualClock, MemoryLog, Perceive};
use dormouse_tests::Resident;

const DAYS: u64 = 365;
const MESSAGES: u64 = 20;
const KEPT_DAYS: u64 = 180;
const DAY: Duration = Duration::from_secs(86_400);
const BORN: Timestamp = Timestamp::from_micros(1_795_219_200_000_000);
const PEOPLE: u64 = 40;

fn key(number: usize) -> AssistantId {
    AssistantId::try_new(format!("dormouse{number}")).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn now() -> Instant {
    Instant::now()
}

fn main() {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--events");
    let events = arguments
        .nth(1)
        .map_or(1_000_000, |count| count.parse().unwrap());
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(measure(events));
}

async fn measure(events: usize) {
    let begun = now();
    let clock = ManualClock::new(BORN);
    let life = Box::pin(a_year(&clock)).await;
    println!(
        "{DAYS} visits of {MESSAGES} messages: {} events, lived in {:.0?}",
        life.len(),
        begun.elapsed()
    );
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = folder.path();

    // What is due after a year.
    let log = RedbLog::open(&folder.join("year.redb")).unwrap();
    write(&log, 0, &life).await;
    let begun = now();
    let before = BORN.plus(DAY * u32::try_from(DAYS - KEPT_DAYS).unwrap());
    let messages = unreferred(&log, &key(0), before).await.unwrap();
    let due = messages.len();
    let selection = Selection::Unreferred { before, messages };
    forget(folder, "year.redb", log, 1, selection, begun).await;
    println!("  {due} messages older than {KEPT_DAYS} days that nothing refers to");

    // One person of many, in a long log.
    let log = RedbLog::open(&folder.join("log.redb")).unwrap();
    let assistants = events.div_ceil(life.len());
    for number in 0..assistants {
        write(&log, number, &life).await;
    }
    println!(
        "{} events of {assistants} assistants",
        life.len() * assistants
    );
    let begun = now();
    let person = Person::of_ids(BTreeSet::from([EntityId::try_new("player:p7").unwrap()]));
    forget(
        folder,
        "log.redb",
        log,
        assistants,
        Selection::Person(person),
        begun,
    )
    .await;
}

/// Plans and rewrites, and makes the memory of one assistant again.
async fn forget(
    folder: &Path,
    name: &str,
    log: RedbLog,
    assistants: usize,
    selection: Selection,
    begun: Instant,
) {
    let keys: Vec<_> = (0..assistants).map(key).collect();
    let mut people = KnownPeople::default();
    for key in &keys {
        people.read(&log, key).await.unwrap();
    }
    let plans = ForgetPlan::of_each(&log, &keys, &[], selection, &people)
        .await
        .unwrap();
    let lost: u64 = plans.values().map(ForgetPlan::events).sum();
    let planned = begun.elapsed();
    let begun = now();
    let into = folder.join("new.redb");
    let mut rewrite = Rewrite {
        plans: &plans,
        under_way: None,
    };
    log.rewrite(&into, &mut rewrite).unwrap();
    let rewritten = begun.elapsed();
    let size = |path: &Path| fs::metadata(path).unwrap().len() >> 20;
    let (old, new) = (size(&folder.join(name)), size(&into));
    drop(log);
    let begun = now();
    let log = RedbLog::open_existing(&into).unwrap();
    let path = folder.join("memory.redb");
    let memory = Memory::builder(key(0), ManualClock::new(BORN))
        .open(&path)
        .await
        .unwrap();
    catch_up(&log, &key(0), &memory).await.unwrap();
    println!(
        "{name}: {lost} events lose words; planned in {planned:.1?}, rewritten in {rewritten:.1?}, one memory made again in {:.1?}",
        begun.elapsed()
    );
    println!(
        "  {old} MiB before, {new} MiB after, {} MiB needed meanwhile; at most {} MiB of memory in use",
        old + new,
        peak_mib()
    );
    drop((log, memory));
    fs::remove_file(into).unwrap();
    for file in Memory::files(&path) {
        drop(fs::remove_file(file));
    }
}

/// The most memory that this process has used, in MiB; 0 where the system does not say.
fn peak_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|peak| peak.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or_default() >> 10
}

/// A life with a visit each day. Each visit moves the clock on.
async fn a_year(clock: &ManualClock) -> Vec<NewEvent> {
    let (log, world) = (MemoryLog::new(), FakeWorld::new());
    let memory = Memory::builder(key(0), clock.clone()).ephemeral().unwrap();
    let mut number = 0;
    for day in 0..DAYS {
        let ports = Ports {
            log: Arc::new(log.clone()),
            model: Arc::new(OfflineModel::new()),
            world: Arc::new(world.clone()),
            clock: Arc::new(clock.clone()),
            random: Arc::new(FixedRandom::new(0.5)),
            counter: Arc::new(Estimate::default()),
            memory: memory.clone(),
        };
        let mut resident =
            Resident::wake(AssistantConfig::new(key(0)), FakeWorld::tools(), ports).await;
        for message in 0..MESSAGES {
            number += 1;
            clock.advance(Duration::from_secs(60));
            let who = (day + message * 7) % PEOPLE;
            let name = format!("Player{who}");
            let sender = Sender::Entity {
                id: EntityId::try_new(format!("player:p{who}")).unwrap(),
                name: name.clone(),
            };
            let text = match message % 10 {
                0 => format!(
                    "remember that drawer {number}q of the tall chest holds the tulip bulbs"
                ),
                _ => {
                    format!("The barge {number}q came late again with the letters for the miller.")
                }
            };
            let heard = Perceive::whisper(&name, &text).sender(sender);
            resident
                .hear(heard.number(number).at(clock.now()).build())
                .await;
            resident.rest().await;
        }
        resident.put_away().await;
        clock.advance(DAY - Duration::from_secs(60 * MESSAGES));
    }
    let stored = log.events(&key(0));
    let encode = |event: &StoredEvent| NewEvent {
        at: event.at,
        kind: Event::decode(event).unwrap().kind(),
        schema: event.schema,
        payload: event.payload.clone(),
    };
    stored.iter().map(encode).collect()
}

async fn write(log: &RedbLog, number: usize, life: &[NewEvent]) {
    let mut expected = Seq::ZERO;
    for events in life.chunks(2_000) {
        let request = AppendRequest {
            assistant: key(number),
            expected,
            events: events.to_vec(),
        };
        log.append(request).await.unwrap();
        expected = Seq(expected.0 + events.len() as u64);
    }
    assert!(
        !log.read(&key(number), Seq::ZERO, 1)
            .await
            .unwrap()
            .is_empty()
    );
}

/// Rewrites each log by its plan.
struct Rewrite<'p> {
    plans: &'p std::collections::BTreeMap<AssistantId, ForgetPlan>,
    under_way: Option<LogRewrite<'p>>,
}

impl RewriteEvents for Rewrite<'_> {
    fn payload(
        &mut self,
        assistant: &AssistantId,
        event: &StoredEvent,
    ) -> Result<Option<Vec<u8>>, BoxError> {
        let Some(plan) = self.plans.get(assistant) else {
            return Ok(None);
        };
        let rewrite = self.under_way.get_or_insert_with(|| LogRewrite::new(plan));
        Ok(rewrite.payload(event)?)
    }

    fn appended(&mut self, _: &AssistantId) -> Result<Vec<NewEvent>, BoxError> {
        let Some(rewrite) = self.under_way.take() else {
            return Ok(Vec::new());
        };
        Ok(vec![rewrite.end(
            BORN.plus(DAY * 366),
            "florian",
            "asked to",
        )?])
    }
}
