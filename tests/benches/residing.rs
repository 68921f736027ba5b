//! Many residents in one process: what one that is put away holds in memory, and how fast a message wakes it.

use std::{fs, path::Path, sync::Arc, time::Duration};

use dormouse_contracts::{
    AssistantId, BoxStream, ChatDelta, ChatModel, ChatRequest, EntityId, ModelError, ModelName,
    ProviderId, Words,
};
use dormouse_host::{DataFolder, Host, HostSettings, config::Config, provider::Models};
use dormouse_offline::OfflineModel;
use dormouse_providers::Environment;
use dormouse_sandbox::{Act, Character, CharacterKind};
use tokio::{
    runtime::Handle,
    sync::mpsc,
    time::{Instant, sleep},
};

use crate::table::{Row, Table};

/// How many residents, unless the variable says otherwise. All of them live in one room, and each arrival there wakes everybody
/// who was put away, so making them takes the square of their number.
const RESIDENTS: usize = 100;
const RESIDENTS_VARIABLE: &str = "DORMOUSE_BENCH_RESIDENTS";
/// How many of them are woken by a message, one after the other.
const WOKEN: usize = 200;
/// How many are awake at the same time while they are made.
const AT_ONCE: usize = 8;
/// For how long nothing happens while wake-ups are counted.
const IDLE: Duration = Duration::from_secs(20);

pub(crate) async fn measure(table: &mut Table) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let residents = std::env::var(RESIDENTS_VARIABLE).map_or(RESIDENTS, |it| it.parse().unwrap());
    let keys: Vec<_> = (0..residents)
        .map(|number| AssistantId::try_new(format!("resident-{number}")).unwrap())
        .collect();
    make(folder.path(), &keys).await;
    let (model, mut asked) = Watched::new();
    let empty = resident_bytes();
    let host = open(folder.path(), Arc::new(model)).await;
    let opened = resident_bytes();
    let started = Instant::now();
    for key in &keys {
        host.take_in(key).await.unwrap();
    }
    // Everybody waits for the world when it has answered a question that comes after theirs.
    all_away(&host).await;
    let took = started.elapsed();
    let bytes = resident_bytes().saturating_sub(opened);
    table.add(&Row {
        what: &format!("a resident put away, of {residents}"),
        measured: bytes as f64 / residents as f64,
        unit: "bytes",
        baseline: "its key, its state's two numbers and a time",
        baseline_measured: 64.0,
        note: format!(
            "all move in within {:.0} ms; log, world and models hold {:.1} MB",
            took.as_secs_f64() * 1e3,
            opened.saturating_sub(empty) as f64 / 1e6
        ),
    });
    let metrics = Handle::current().metrics();
    let parked = metrics.worker_park_count(0);
    sleep(IDLE).await;
    let woken = metrics.worker_park_count(0) - parked;
    table.add(&Row {
        what: "wake-ups while nothing happens",
        measured: woken as f64,
        unit: "times",
        baseline: "the measurement's own timer",
        baseline_measured: 1.0,
        note: format!("in {} s", IDLE.as_secs()),
    });
    let mut latencies = Vec::new();
    for key in keys.iter().take(WOKEN) {
        let started = Instant::now();
        page(&host, key).await;
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
    host.close().await;
}

/// Lets everybody live once.
async fn make(folder: &Path, keys: &[AssistantId]) {
    let host = open(folder, Arc::new(OfflineModel::new())).await;
    admit_alice(&host).await;
    for some in keys.chunks(AT_ONCE) {
        for key in some {
            drop(host.wake(key).await.unwrap());
        }
        all_away(&host).await;
    }
    host.close().await;
}

async fn open(folder: &Path, model: Arc<dyn ChatModel>) -> Host {
    let environment = Environment::of(|_| None);
    let models = Models::of(model);
    let mut settings = HostSettings::with_models(Config::default(), environment, models);
    settings.put_away_after = Duration::from_millis(20);
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
        self.asked.send(()).unwrap();
        self.model.stream(request)
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        self.model.identity()
    }
}

/// How much memory this process has resident, in bytes; 0 where that cannot be known.
fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kilobytes.map_or(0, |number| 1_024 * number.trim().parse::<u64>().unwrap())
}
