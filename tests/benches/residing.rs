//! Many residents in one process: how long a start takes, what one that is put away holds in memory, what an idle minute costs,
//! and how long it takes from a message to the request to the model while many are spoken to. `cargo xtask bench residents
//! --count N`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a table for people"
)]

mod clock;
mod processor;
mod resident_bytes;
#[expect(dead_code, reason = "other measurements make several rounds")]
mod table;

#[path = "residing/making.rs"]
mod making;
#[path = "residing/speaking.rs"]
mod speaking;

use std::{
    alloc::System,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use cap::Cap;

use dormouse_contracts::{AssistantId, ChatModel, EntityId};
use dormouse_engine::Rest;
use dormouse_host::{DataFolder, Host, HostSettings, config::Config, provider::Models};
use dormouse_providers::Environment;
use dormouse_sandbox::{Act, Character, CharacterKind, Sandbox};
use tokio::{
    runtime::{Builder, Runtime},
    time::sleep,
};

use processor::processor_time;
use resident_bytes::resident_bytes;
use speaking::{Asked, Spoken, speak};
use table::{Row, Table};

/// Counts the bytes that are in use, which pages of the system are too coarse for.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// How many residents, unless `--residents` says otherwise.
const RESIDENTS: usize = 100;
/// How many events the log has of each of them.
const EVENTS: u64 = 100;
/// How many of them are awake at the same time in the end.
const AWAKE: usize = 256;
/// After a start it takes so long until the vocabulary of the tokeniser is loaded, on a machine that is busy, too.
const SETTLED_AFTER: Duration = Duration::from_secs(15);
/// For how long nothing happens while wake-ups are counted.
const IDLE: Duration = Duration::from_secs(60);
/// How many messages a second, and for how long.
const RATE: usize = 200;
const SPOKEN_FOR: Duration = Duration::from_secs(10);
/// In the community, so many are in conversation, and get four of five messages.
const TALKING: usize = 200;
/// After this time at rest an assistant is put away. So within the time in which they are spoken to, most of those who wake are
/// put away, too.
const PUT_AWAY_AFTER: Duration = Duration::from_secs(2);
/// The memory of the process that counts as its own, and not as that of its residents.
const OF_THE_PROCESS: f64 = 25e6;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("measured by `cargo bench`");
        return;
    }
    let residents = argument("--residents").map_or(RESIDENTS, |it| it.parse().expect("a number"));
    let keys: Vec<_> = (0..residents).map(key).collect();
    if let Some(folder) = argument("--in") {
        measure(&PathBuf::from(folder), &keys);
        return;
    }
    // A folder that is named stays, and is used as it is if it is there: making ten thousand lives takes minutes.
    let temporary = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = argument("--kept").map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    if folder.join("log.redb").exists() {
        measure(&folder, &keys);
        return;
    }
    let started = clock::now();
    let events = multi_threaded().block_on(making::make(&folder, &keys));
    println!(
        "{residents} residents, whose log has {events} events, were made within {:.0} s\n",
        started.elapsed().as_secs_f64()
    );
    // In a process of its own, so that nothing is measured that making them left in memory.
    let measured = Command::new(std::env::current_exe().unwrap())
        .args(["--bench", "--residents", &residents.to_string(), "--in"])
        .arg(&folder)
        .status();
    assert!(measured.unwrap().success());
}

/// What follows this argument.
fn argument(name: &str) -> Option<String> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1)
}

/// A runtime as the program has it.
fn multi_threaded() -> Runtime {
    Builder::new_multi_thread().enable_all().build().unwrap()
}

fn measure(folder: &Path, keys: &[AssistantId]) {
    let runtime = multi_threaded();
    let mut table = Table::begin();
    let (model, asked) = speaking::Watched::new();
    let host = runtime.block_on(starting(&mut table, folder, keys, Arc::new(model)));
    let away = runtime.block_on(being_away(&mut table, &host, keys.len()));
    runtime.block_on(idling(&mut table, &host));
    let everybody: Vec<_> = (0..RATE * SPOKEN_FOR.as_secs() as usize)
        .map(|number| &keys[number * 7_919 % keys.len()])
        .collect();
    let community: Vec<_> = (0..everybody.len())
        .map(|number| match number % 5 {
            0 => everybody[number],
            _ => &keys[number * 31 % TALKING.min(keys.len())],
        })
        .collect();
    for (to, what) in [
        (everybody, "all of them put away"),
        (
            community,
            "four of five to 200 in conversation, one to somebody put away",
        ),
    ] {
        let spoken = speak(host.world(), &to, RATE, &asked);
        report(&mut table, what, &spoken);
        runtime.block_on(all_away(&host));
    }
    runtime.block_on(being_awake(&mut table, &host, keys, away));
    runtime.block_on(host.close());
}

/// From opening the folder until everybody is a resident.
async fn starting(
    table: &mut Table,
    folder: &Path,
    keys: &[AssistantId],
    model: Arc<dyn ChatModel>,
) -> Host {
    let started = clock::now();
    let host = open(folder, model, PUT_AWAY_AFTER).await;
    let opened = started.elapsed();
    for (_, taken_in) in host.take_in_all(keys.to_vec()).await {
        taken_in.unwrap();
    }
    assert_eq!(host.residents().await.len(), keys.len());
    let took = started.elapsed();
    let log = std::fs::metadata(host.folder().log()).unwrap().len();
    table.add(&Row {
        what: "a start, until everybody is a resident",
        measured: took.as_secs_f64(),
        unit: "s",
        baseline: "of that, opening the log and the world",
        baseline_measured: opened.as_secs_f64(),
        note: format!("the log has {:.0} MB", log as f64 / 1e6),
    });
    host
}

/// What those who are put away hold. Returns the bytes in use for each of them.
async fn being_away(table: &mut Table, host: &Host, residents: usize) -> f64 {
    all_away(host).await;
    sleep(SETTLED_AFTER).await;
    let (used, pages) = (ALLOCATOR.allocated() as f64, resident_bytes("self") as f64);
    let each = |bytes: f64| bytes / residents as f64;
    table.add(&Row {
        what: "a resident put away, in pages of the system, beyond 25 MB of the process",
        measured: each((pages - OF_THE_PROCESS).max(0.0)),
        unit: "bytes",
        baseline: "the target",
        baseline_measured: 8_192.0,
        note: format!(
            "the process has {:.1} MB, of which {:.1} MB are in use",
            pages / 1e6,
            used / 1e6
        ),
    });
    each(used)
}

/// How often the process wakes in a minute in which nothing happens, and the processor time that it takes.
async fn idling(table: &mut Table, host: &Host) {
    let before = host.residents().await;
    let (switches, busy) = (voluntary_switches(), processor_time());
    sleep(IDLE).await;
    let (woken, busy) = (voluntary_switches() - switches, processor_time() - busy);
    assert_eq!(host.residents().await, before, "somebody was woken");
    table.add(&Row {
        what: "wake-ups in an idle minute, of all threads",
        measured: woken as f64,
        unit: "times",
        baseline: "the measurement's own timer",
        baseline_measured: 1.0,
        note: format!(
            "{:.1} ms of processor time, {:.4} % of a core",
            busy.as_secs_f64() * 1e3,
            100.0 * busy.as_secs_f64() / IDLE.as_secs_f64()
        ),
    });
}

/// How often a thread of this process gave the processor up to wait for something; zero where that cannot be known.
#[cfg(unix)]
fn voluntary_switches() -> i64 {
    use nix::sys::resource::{UsageWho, getrusage};

    let used = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    used.voluntary_context_switches()
}

#[cfg(not(unix))]
fn voluntary_switches() -> i64 {
    0
}

fn report(table: &mut Table, to: &str, spoken: &[Spoken]) {
    let asked: Vec<_> = spoken.iter().filter_map(|one| one.asked.as_ref()).collect();
    let percentile = |part: usize, of: fn(&Asked) -> Duration| {
        let mut all: Vec<_> = asked.iter().map(|asked| of(asked)).collect();
        all.sort();
        let latency = all.get((all.len() * part / 100).min(all.len().saturating_sub(1)));
        latency.map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e3)
    };
    let busy: Duration = spoken.iter().map(|one| one.busy).sum();
    table.add(&Row {
        what: &format!("from a perception to the request to the model, p99, {RATE} messages a second, {to}"),
        measured: percentile(99, |asked| asked.since_perceived),
        unit: "ms",
        baseline: "p50",
        baseline_measured: percentile(50, |asked| asked.since_perceived),
        note: format!(
            "the longest {:.1} ms; from the message p50 {:.1} ms, p99 {:.1} ms; {:.1} ms of processor time for each message; of {} \
             messages {} led to no request within {} s",
            percentile(100, |asked| asked.since_perceived),
            percentile(50, |asked| asked.since_spoken),
            percentile(99, |asked| asked.since_spoken),
            busy.as_secs_f64() * 1e3 / spoken.len() as f64,
            spoken.len(),
            spoken.len() - asked.len(),
            speaking::PATIENCE.as_secs(),
        ),
    });
}

/// What those hold who are awake and have nothing to do, and what of it is left when they are put away again.
async fn being_awake(table: &mut Table, host: &Host, keys: &[AssistantId], away: f64) {
    all_away(host).await;
    let some: Vec<_> = keys.iter().take(AWAKE).collect();
    let per_one = |bytes: u64| bytes as f64 / some.len() as f64;
    let (held, pages) = (ALLOCATOR.allocated() as u64, resident_bytes("self"));
    let mut awake = Vec::new();
    for key in &some {
        let resident = host.wake(key).await.unwrap();
        assert_eq!(resident.handle().at_rest().await, Rest::Settled);
        awake.push(resident);
    }
    let mut add = |what: &str| {
        let now = (ALLOCATOR.allocated() as u64, resident_bytes("self"));
        table.add(&Row {
            what: &format!("{what}, {} of them", some.len()),
            measured: per_one(now.0.saturating_sub(held)),
            unit: "bytes",
            baseline: "all bytes in use at the start, for each resident put away",
            baseline_measured: away,
            note: format!(
                "in pages of the system {:.0} bytes; the process has {:.1} MB, of which {:.1} MB are in use",
                per_one(now.1.saturating_sub(pages)),
                now.1 as f64 / 1e6,
                now.0 as f64 / 1e6
            ),
        });
    };
    add("a resident awake");
    drop(awake);
    all_away(host).await;
    add("a resident put away again, beyond what it held before");
}

async fn open(folder: &Path, model: Arc<dyn ChatModel>, put_away_after: Duration) -> Host {
    let environment = Environment::of(|_| None);
    let models = Models::of(model);
    let mut settings = HostSettings::with_models(Config::default(), environment, models);
    settings.put_away_after = put_away_after;
    let folder = DataFolder::at(folder).unwrap();
    Host::open(settings, &folder).await.unwrap()
}

async fn all_away(host: &Host) {
    loop {
        let residents = host.residents().await;
        if residents.iter().all(|resident| !resident.is_awake) {
            return;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

fn key(number: usize) -> AssistantId {
    AssistantId::try_new(format!("resident-{number:05}")).unwrap()
}

/// The name of its character.
fn name(key: &AssistantId) -> String {
    key.to_string().replacen('r', "R", 1)
}

fn character(key: &AssistantId) -> EntityId {
    EntityId::try_new(format!("assistant:{key}")).unwrap()
}

fn guest(number: usize) -> EntityId {
    EntityId::try_new(format!("player:guest {number}")).unwrap()
}

/// Lets the people in who speak to the residents, from the garden: each page reaches one, and only the residents are in their
/// room.
async fn admit_guests(world: &Sandbox) {
    for number in 0..speaking::GUESTS {
        let character = Character {
            id: guest(number),
            name: format!("Guest {number}"),
            kind: CharacterKind::Player,
        };
        world.join(character).await.unwrap();
        let direction = "north".to_owned();
        world
            .act(&guest(number), Act::Move { direction })
            .await
            .unwrap();
    }
}
