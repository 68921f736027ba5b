//! Many residents in one process: what one that is put away holds in memory, and one that is awake, what an idle hour costs, and
//! how fast a message wakes one of them. `cargo xtask bench residents --count N`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a table for people"
)]

mod clock;
mod processor;
mod resident_bytes;
#[expect(dead_code, reason = "other measurements make several rounds")]
mod table;

use std::{alloc::System, path::Path, sync::Arc, time::Duration};

use cap::Cap;

use dormouse_contracts::{
    AssistantId, BoxStream, ChatDelta, ChatModel, ChatRequest, EntityId, ModelError, ModelName,
    PERCEPTIONS_PAGE, ProviderId, Senses, Words,
};
use dormouse_engine::{Rest, restore};
use dormouse_host::{DataFolder, Host, HostSettings, config::Config, provider::Models};
use dormouse_offline::OfflineModel;
use dormouse_providers::Environment;
use dormouse_sandbox::{Act, Character, CharacterKind};
use tokio::{
    runtime::Handle,
    sync::mpsc,
    time::{Instant, pause, resume, sleep},
};

use processor::processor_time;
use resident_bytes::resident_bytes;
use table::{Row, Table};

/// Counts the bytes that are in use, which pages of the system are too coarse for.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// How many residents, unless `--residents` says otherwise.
const RESIDENTS: usize = 100;
/// How many of them are woken by a message, one after the other.
const WOKEN: usize = 200;
/// How many of them are awake at the same time in the end.
const AWAKE: usize = 256;
/// How many are awake at the same time while they are made.
const AT_ONCE: usize = 8;
/// For how long nothing happens while wake-ups are counted, in virtual time.
const IDLE: Duration = Duration::from_secs(3_600);

fn main() {
    let Some((runtime, mut table)) = Table::begin_benchmark() else {
        return;
    };
    let residents = residents();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let keys: Vec<_> = (0..residents)
        .map(|number| AssistantId::try_new(format!("resident-{number}")).unwrap())
        .collect();
    let started = clock::now();
    runtime.block_on(make(folder.path(), &keys));
    let made = started.elapsed();
    let (empty, _) = runtime.block_on(idle_hour());
    let (model, asked) = Watched::new();
    let host = runtime.block_on(open(folder.path(), Arc::new(model)));
    let away = runtime.block_on(putting_away(&mut table, &host, &keys, made));
    runtime.block_on(idling(&mut table, &host, empty));
    runtime.block_on(waking(&mut table, &host, &keys, asked));
    runtime.block_on(being_awake(&mut table, &host, &keys, away));
    runtime.block_on(host.close());
}

/// The number after `--residents`.
fn residents() -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--residents");
    (arguments.nth(1)).map_or(RESIDENTS, |number| number.parse().expect("a number"))
}

/// What those who are put away hold, from `take_in` on. Everybody's snapshot and perceptions are read before, because the
/// caches of both files keep them, up to a fixed size and also for those who are no residents. Several threads take part, so
/// the whole process is looked at. Returns the bytes of one of the second half.
async fn putting_away(table: &mut Table, host: &Host, keys: &[AssistantId], made: Duration) -> f64 {
    for key in keys {
        drop(restore(host.log(), key).await.unwrap());
        let character = character(key);
        let perceptions = (host.world()).perceptions(&character, 0, PERCEPTIONS_PAGE);
        drop(perceptions.await.unwrap());
    }
    let (first, second) = keys.split_at(keys.len() / 2);
    let mut each = 0.0;
    for (part, which) in [(first, "first"), (second, "second")] {
        let (opened, pages) = (ALLOCATOR.allocated(), resident_bytes("self"));
        let started = clock::now();
        for key in part {
            host.take_in(key).await.unwrap();
        }
        // Everybody waits for the world when it has answered a question that comes after theirs.
        all_away(host).await;
        let took = started.elapsed();
        each = ALLOCATOR.allocated().saturating_sub(opened) as f64 / part.len() as f64;
        table.add(&Row {
            what: &format!("a resident put away, the {which} {}", part.len()),
            measured: each,
            unit: "bytes",
            baseline: "its key, its state's two numbers and a time",
            baseline_measured: 64.0,
            note: format!(
                "in pages of the system {} bytes; all moved in within {:.0} ms; all {} had lived once within {:.1} s",
                resident_bytes("self").saturating_sub(pages) / part.len() as u64,
                took.as_secs_f64() * 1e3,
                keys.len(),
                made.as_secs_f64(),
            ),
        });
    }
    each
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
        // Who has left hears nobody else arrive.
        host.world().leave(&character(key)).await.unwrap();
        awake.push(resident);
    }
    let mut add = |what: &str| {
        let now = (ALLOCATOR.allocated() as u64, resident_bytes("self"));
        table.add(&Row {
            what: &format!("{what}, {} of them", some.len()),
            measured: per_one(now.0.saturating_sub(held)),
            unit: "bytes",
            baseline: "one that was put away from the beginning",
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

/// How often the process wakes in an hour in which nothing happens, and the processor time that it takes. Time is virtual, so it
/// goes on from one timer to the next.
async fn idle_hour() -> (u64, Duration) {
    let metrics = Handle::current().metrics();
    let (parked, busy) = (metrics.worker_park_count(0), processor_time());
    pause();
    sleep(IDLE).await;
    resume();
    let woken = metrics.worker_park_count(0) - parked;
    (woken, processor_time() - busy)
}

async fn idling(table: &mut Table, host: &Host, empty: u64) {
    let before = host.residents().await;
    let (woken, busy) = idle_hour().await;
    assert_eq!(host.residents().await, before, "somebody was woken");
    table.add(&Row {
        what: "wake-ups in an idle hour",
        measured: woken as f64,
        unit: "times",
        baseline: "the same before the host was opened: the measurement's own timer",
        baseline_measured: empty as f64,
        note: format!("{:.1} ms of processor time", busy.as_secs_f64() * 1e3),
    });
}

/// How long it takes from a message until the model is asked, for somebody who was put away.
async fn waking(
    table: &mut Table,
    host: &Host,
    keys: &[AssistantId],
    mut asked: mpsc::UnboundedReceiver<()>,
) {
    let mut latencies = Vec::new();
    for key in keys.iter().take(WOKEN) {
        let started = Instant::now();
        page(host, key).await;
        asked.recv().await.unwrap();
        latencies.push(started.elapsed());
    }
    latencies.sort();
    let at = |part: usize| {
        let latency = latencies.get(latencies.len() * part / 100).unwrap();
        latency.as_secs_f64() * 1e3
    };
    table.add(&Row {
        what: "from a message to the request to the model, p50",
        measured: at(50),
        unit: "ms",
        baseline: "p99",
        baseline_measured: at(99),
        note: format!("of {} residents that were put away", latencies.len()),
    });
}

/// Lets everybody live once. Each leaves the room when it is put away, where only pages reach it: in one room with everybody
/// it would hear each of them arrive, and the measurement would be one of a crowd.
async fn make(folder: &Path, keys: &[AssistantId]) {
    let host = open(folder, Arc::new(OfflineModel::new())).await;
    admit_alice(&host).await;
    for some in keys.chunks(AT_ONCE) {
        for key in some {
            drop(host.wake(key).await.unwrap());
        }
        all_away(&host).await;
        for key in some {
            host.world().leave(&character(key)).await.unwrap();
        }
    }
    host.close().await;
}

async fn open(folder: &Path, model: Arc<dyn ChatModel>) -> Host {
    let environment = Environment::of(|_| None);
    let models = Models::of(model);
    let mut settings = HostSettings::with_models(Config::default(), environment, models);
    settings.put_away_after = Duration::from_millis(200);
    let folder = DataFolder::at(folder).unwrap();
    Host::open(settings, &folder).await.unwrap()
}

async fn all_away(host: &Host) {
    loop {
        let residents = host.residents().await;
        if residents.iter().all(|resident| !resident.is_awake) {
            return;
        }
        sleep(Duration::from_millis(5)).await;
    }
}

fn character(key: &AssistantId) -> EntityId {
    EntityId::try_new(format!("assistant:{key}")).unwrap()
}

fn alice() -> EntityId {
    EntityId::try_new("player:alice").unwrap()
}

async fn admit_alice(host: &Host) {
    let character = Character {
        id: alice(),
        name: "Alice".to_owned(),
        kind: CharacterKind::Player,
    };
    host.world().join(character).await.unwrap();
}

async fn page(host: &Host, key: &AssistantId) {
    let name = key.to_string().replacen('r', "R", 1);
    let words = Words::try_new("hello, are you there?").unwrap();
    host.world()
        .act(&alice(), Act::Page { to: name, words })
        .await
        .unwrap();
}

/// The offline model, which reports each request.
struct Watched {
    model: OfflineModel,
    asked: mpsc::UnboundedSender<()>,
}

impl Watched {
    fn new() -> (Self, mpsc::UnboundedReceiver<()>) {
        let (asked, requests) = mpsc::unbounded_channel();
        let model = OfflineModel::new();
        (Self { model, asked }, requests)
    }
}

impl ChatModel for Watched {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        // Nobody listens any more when the last who was woken asks for its second step.
        let _unheard = self.asked.send(());
        self.model.stream(request)
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        self.model.identity()
    }
}
