//! The event log on one server and on three servers of NATS, next to the one in a file: how long an append takes, and how many
//! are written in a second. `cargo xtask bench cluster`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a table for people"
)]

mod clock;
#[expect(dead_code, reason = "other measurements use more of it")]
mod table;

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use dormouse_contracts::{Append, AppendRequest, AssistantId, NewEvent, Seq, Timestamp};
use dormouse_nats::{NatsConfig, NatsDurability, NatsLog, NatsLogin};
use dormouse_store::RedbLog;
use futures_util::future::join_all;
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    runtime::Builder,
    time::sleep,
};

use table::{Row, Table, middle, now};

/// About the size of a usual event.
const PAYLOAD: usize = 300;
/// How many events one writer appends, one after the other.
const ALONE: u64 = 1_000;
/// How many writers append at once, each to its own life, and for how long.
const WRITERS: [usize; 2] = [16, 128];
const LONG: Duration = Duration::from_secs(4);
const ROUNDS: usize = 3;
const PASSWORD: &str = "pw";

fn main() {
    let Some((alone, mut table)) = Table::begin_benchmark() else {
        return;
    };
    drop(alone);
    let Some(program) = program() else {
        println!("skipped: nats (run `cargo xtask peers` to install it)");
        return;
    };
    // As the program has it.
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(measure(&mut table, &program));
}

/// Half and 99 % of the appends of one writer, and the rates of several writers, in each round.
type Measured = [Vec<f64>; 4];

async fn measure(table: &mut Table, program: &Path) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = RedbLog::open(&folder.path().join("log.redb")).unwrap();
    let one = Servers::start(program, 1).await;
    let three = Servers::start(program, 3).await;
    let logs: [(&str, &dyn Append); 3] = [
        ("a file", &file),
        ("one server", &one.log),
        ("three servers", &three.log),
    ];
    let mut measured: [Measured; 3] = Default::default();
    // In turn, so that all of them meet the same load of the machine.
    for round in 0..ROUNDS {
        for ((_, log), measured) in logs.iter().zip(&mut measured) {
            let mut taken = alone(*log, &format!("alone-{round}")).await;
            taken.sort_by(f64::total_cmp);
            measured[0].push(taken[taken.len() / 2]);
            measured[1].push(taken[taken.len() * 99 / 100]);
            for (writers, rates) in WRITERS.iter().zip(&mut measured[2..]) {
                rates.push(together(*log, *writers, round).await);
            }
        }
    }
    let figures = measured.map(|mut each| each.each_mut().map(|it| middle(it)));
    let what = [
        "one writer, half of the appends within".to_owned(),
        "one writer, 99 % of the appends within".to_owned(),
        format!("events of {} writers", WRITERS[0]),
        format!("events of {} writers", WRITERS[1]),
    ];
    for ((name, _), figures_of) in logs.iter().zip(&figures) {
        for (at, what) in what.iter().enumerate() {
            table.add(&Row {
                what: &format!("{name}: {what}"),
                measured: figures_of[at],
                unit: if at < 2 { "ms" } else { "per second" },
                baseline: "a file",
                baseline_measured: figures[0][at],
                note: String::new(),
            });
        }
    }
}

/// Appends one event after the other. Returns how many milliseconds each took.
async fn alone(log: &dyn Append, life: &str) -> Vec<f64> {
    let assistant = AssistantId::try_new(life).unwrap();
    let mut taken = Vec::new();
    for number in 0..ALONE {
        let started = now();
        append(log, &assistant, number).await;
        taken.push(now().duration_since(started).as_secs_f64() * 1_000.0);
    }
    taken
}

/// Writers that append at once. Returns how many events were written in a second.
async fn together(log: &dyn Append, writers: usize, round: usize) -> f64 {
    let started = now();
    let write = async |writer: usize| {
        let life = format!("together-{writers}-{round}-{writer}");
        let assistant = AssistantId::try_new(life).unwrap();
        let mut written = 0;
        while now().duration_since(started) < LONG {
            append(log, &assistant, written).await;
            written += 1;
        }
        written
    };
    let written: u64 = join_all((0..writers).map(write)).await.iter().sum();
    written as f64 / now().duration_since(started).as_secs_f64()
}

async fn append(log: &dyn Append, assistant: &AssistantId, number: u64) {
    let request = AppendRequest {
        assistant: assistant.clone(),
        expected: Seq(number),
        events: vec![NewEvent {
            at: Timestamp::EPOCH,
            kind: "written",
            schema: 1,
            payload: vec![b'x'; PAYLOAD],
        }],
    };
    log.append(request).await.unwrap();
}

/// Servers that sync each event, and a log on them.
struct Servers {
    log: NatsLog,
    _processes: Vec<Child>,
    _folder: TempDir,
}

impl Servers {
    async fn start(program: &Path, count: usize) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let held: Vec<_> = (0..2 * count)
            .map(|_| TcpListener::bind(("127.0.0.1", 0)).unwrap())
            .collect();
        let ports: Vec<u16> = held
            .iter()
            .map(|it| it.local_addr().unwrap().port())
            .collect();
        drop(held);
        let (clients, routes) = ports.split_at(count);
        let all = routes.iter().map(|port| format!("nats://127.0.0.1:{port}"));
        let all = all.collect::<Vec<_>>().join(", ");
        let mut processes = Vec::new();
        for (number, (client, route)) in clients.iter().zip(routes).enumerate() {
            let store = folder.path().join(format!("n{number}"));
            let config = folder.path().join(format!("n{number}.conf"));
            let mut text = format!(
                "server_name: n{number}\nlisten: 127.0.0.1:{client}\nmax_payload: 8MB\n\
                 jetstream {{ store_dir: {store:?}, sync_interval: always, max_file_store: 4GB }}\n\
                 accounts {{ D {{ jetstream: enabled, users: [ {{user: dormouse, password: {PASSWORD}}} ] }}\n\
                 SYS {{ users: [ {{user: sys, password: {PASSWORD}}} ] }} }}\nsystem_account: SYS\n"
            );
            if count > 1 {
                text += &format!(
                    "cluster {{ name: bench, listen: 127.0.0.1:{route}, routes: [ {all} ] }}\n"
                );
            }
            fs::write(&config, text).unwrap();
            let process = Command::new(program)
                .arg("-c")
                .arg(&config)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .kill_on_drop(true)
                .spawn();
            processes.push(process.unwrap());
        }
        let login = |user: &str| NatsLogin {
            user: user.to_owned(),
            password: PASSWORD.to_owned(),
        };
        let servers = clients
            .iter()
            .map(|port| format!("nats://127.0.0.1:{port}"));
        let mut config = NatsConfig::new(servers, NatsDurability::AskServers(login("sys")));
        config.login = Some(login("dormouse"));
        config.replicas = count;
        let started = now();
        let log = loop {
            match Box::pin(NatsLog::connect(&config)).await {
                Ok(log) => break log,
                Err(error) => {
                    let waited = now().duration_since(started);
                    assert!(waited < Duration::from_secs(60), "{error}");
                    sleep(Duration::from_millis(200)).await;
                }
            }
        };
        Self {
            log,
            _processes: processes,
            _folder: folder,
        }
    }
}

/// The program that `cargo xtask peers` installs.
fn program() -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/peers");
    let home = std::env::var_os("DORMOUSE_PEERS").map_or_else(default, PathBuf::from);
    let program = home.join("nats/bin/nats-server");
    program.is_file().then_some(program)
}
