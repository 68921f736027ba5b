//! A whole turn of five steps with everything on: over HTTP on this machine, on a disk, with goals, budgets and caches.
//! `cargo xtask bench turns`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a table for people"
)]

mod clock;
mod processor;
#[expect(dead_code, reason = "other measurements make several rounds")]
mod table;

#[path = "turning/server.rs"]
mod server;

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    sync::Arc,
    time::Duration,
};

use dormouse_contracts::{
    AssistantId, EntityId, ReadError, Seq, ToolSourceName, Words, each_event,
};
use dormouse_engine::Rest;
use dormouse_host::{DataFolder, Host, HostSettings, Resident, config::Config};
use dormouse_providers::Environment;
use dormouse_sandbox::{Act, Character, CharacterKind};
use dormouse_tests::Workshop;
use dormouse_tools::NamedToolSource;

use server::{STEPS, Server};

use clock::now;
use processor::processor_time;
use table::{Row, Table, middle};

/// How many turns are measured with each history, unless the variable says otherwise.
const TURNS: usize = 40;
const TURNS_VARIABLE: &str = "DORMOUSE_BENCH_TURNS";
/// Behind this argument is the number of earlier turns, if only one row is measured.
const HISTORY: &str = "--history";
/// How often a sync is measured, and how many bytes it has: as many as a page of the log.
const SYNCS: usize = 60;
const PAGE: usize = 4_096;

/// The budgets of a life, if it has any.
#[derive(Clone, Copy, Debug)]
enum Budgets {
    None,
    Tokens,
}

fn main() {
    if server::serves() {
        return;
    }
    if let Some((runtime, mut table)) = Table::begin_benchmark() {
        runtime.block_on(measure(&mut table));
    }
}

async fn measure(table: &mut Table) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let sync = sync(folder.path());
    let server = Server::start();
    let rows = match std::env::args().skip_while(|it| it != HISTORY).nth(1) {
        Some(history) => vec![(history.parse().unwrap(), Budgets::Tokens)],
        None => vec![
            (0, Budgets::Tokens),
            (50, Budgets::Tokens),
            (200, Budgets::Tokens),
            (50, Budgets::None),
        ],
    };
    for (history, budgets) in rows {
        let place = folder.path().join(format!("{history}{budgets:?}"));
        let took = turns(&place, &server, history, budgets).await;
        let bare = bare(&server).await;
        let per_turn = |of: u64| of as f64 / turns_measured() as f64;
        let with = match budgets {
            Budgets::Tokens => "",
            Budgets::None => ", no budget",
        };
        table.add(&Row {
            what: &format!("5-step turn over HTTP, {history} earlier turns{with}"),
            measured: took.wall,
            unit: "ms",
            baseline: "three times a bare client that sends the same bytes, and three syncs",
            baseline_measured: 3.0 * bare.wall + 3.0 * sync,
            note: format!(
                "bare {:.2} ms with {:.2} ms of processor time for {:.0} KB; a sync {sync:.2} ms; {:.2} ms of processor time a \
                 turn; {:.1} syncs of the log; {} further requests, to show the history shorter",
                bare.wall,
                bare.processor,
                took.bytes as f64 / 1e3,
                took.processor,
                per_turn(took.syncs),
                took.further,
            ),
        });
    }
}

/// The measured turns begin here. `cargo xtask bench instructions` counts from this function to the next.
#[inline(never)]
fn measuring_begins() {
    std::hint::black_box(());
}

/// The measured turns are over.
#[inline(never)]
fn measuring_ends() {
    std::hint::black_box(1);
}

fn turns_measured() -> usize {
    std::env::var(TURNS_VARIABLE).map_or(TURNS, |it| it.parse().unwrap())
}

/// What a turn took.
struct Took {
    /// The median, in milliseconds.
    wall: f64,
    /// On average, in milliseconds: the clock of a process may be coarse.
    processor: f64,
    /// Of all turns.
    syncs: u64,
    /// Of the requests of the last turn.
    bytes: usize,
    /// How many requests were made for facts and summaries, because the history got longer than prompts may show.
    further: u64,
}

/// How long it takes to write a page and to be sure of it, in milliseconds.
fn sync(folder: &Path) -> f64 {
    let mut file = File::create(folder.join("synced")).unwrap();
    let mut once = || {
        let started = now();
        file.write_all(&[7; PAGE]).unwrap();
        file.sync_data().unwrap();
        milliseconds(started.elapsed())
    };
    let mut all: Vec<f64> = (0..SYNCS).map(|_| once()).collect();
    middle(&mut all)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The requests of the last turn once more, by a client that only reads the answers.
async fn bare(server: &Server) -> Took {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let bodies = server.last_bodies(&client).await;
    let url = format!("{}/chat/completions", server.url);
    let (mut walls, busy) = (Vec::new(), processor_time());
    for _ in 0..turns_measured() {
        let started = now();
        for body in &bodies {
            let request = client.post(&url).header("content-type", "application/json");
            let answer = request.body(body.clone()).send().await.unwrap();
            assert!(answer.bytes().await.unwrap().len() > 100);
        }
        walls.push(milliseconds(started.elapsed()));
    }
    Took {
        processor: milliseconds(processor_time() - busy) / walls.len() as f64,
        wall: middle(&mut walls),
        syncs: 0,
        further: 0,
        bytes: bodies.iter().map(Vec::len).sum(),
    }
}

async fn turns(folder: &Path, server: &Server, history: usize, budgets: Budgets) -> Took {
    let visit = Visit::begin(folder, server, history, budgets).await;
    visit.say("keep a goal").await;
    // At least one turn, so that connections are open and files have grown.
    for number in 0..=history {
        visit.say(&format!("what is new, friend {number}?")).await;
    }
    let mut walls = Vec::new();
    let (replies, before) = (visit.replies(), visit.last().await);
    measuring_begins();
    let (busy, synced) = (processor_time(), visit.host.log().stats().syncs);
    for number in 0..turns_measured() {
        let started = now();
        visit.say(&format!("what is next, friend {number}?")).await;
        walls.push(milliseconds(started.elapsed()));
    }
    let (busy, synced) = (
        processor_time() - busy,
        visit.host.log().stats().syncs - synced,
    );
    measuring_ends();
    let further = visit.further_requests(before).await;
    let taken = visit.replies() - replies;
    assert_eq!(taken, STEPS as u64 * walls.len() as u64 + further);
    let took = Took {
        processor: milliseconds(busy) / walls.len() as f64,
        syncs: synced,
        further,
        wall: middle(&mut walls),
        bytes: {
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            let bodies = server.last_bodies(&client).await;
            bodies.iter().map(Vec::len).sum()
        },
    };
    visit.end().await;
    took
}

/// An assistant on a disk, and Alice, who pages it.
struct Visit {
    host: Host,
    resident: Resident,
    alice: EntityId,
}

impl Visit {
    async fn begin(folder: &Path, server: &Server, history: usize, budgets: Budgets) -> Self {
        fs::create_dir_all(folder).unwrap();
        let budgets = match budgets {
            Budgets::None => String::new(),
            Budgets::Tokens => {
                "[budgets]\ntokens_per_hour = 1000000000\ntokens_per_day = 1000000000\n".to_owned()
            }
        };
        let text = format!(
            "[provider]\nkind = \"local\"\nmodel = \"tiny\"\nbase_url = \"{}\"\n\
             [limits]\nmax_iterations_per_tick = 8\nmax_context_tokens = 400000\nmax_history = {history}\n\
             [memory]\nembedder = \"none\"\n[journal]\nreflection_interval = 0\n{budgets}",
            server.url
        );
        let file = folder.join("dormouse.toml");
        fs::write(&file, text).unwrap();
        let (config, _) = Config::load(Some(&file), &file, []).unwrap();
        let mut settings = HostSettings::of(config, Environment::of(|_| None)).unwrap();
        settings.tool_sources = vec![NamedToolSource {
            name: ToolSourceName::try_new("bench").unwrap(),
            source: Arc::new(Workshop::open(folder.join("receipts"))),
        }];
        let data = DataFolder::at(folder).unwrap();
        let host = Host::open(settings, &data).await.unwrap();
        let alice = EntityId::try_new("player:alice").unwrap();
        let character = Character {
            id: alice.clone(),
            name: "Alice".to_owned(),
            kind: CharacterKind::Player,
        };
        host.world().join(character).await.unwrap();
        let key = AssistantId::try_new("dormouse").unwrap();
        let resident = host.wake(&key).await.unwrap();
        Self {
            host,
            resident,
            alice,
        }
    }

    /// Says something and waits until it is answered and everything is on disk.
    async fn say(&self, words: &str) {
        let act = Act::Page {
            to: "Dormouse".to_owned(),
            words: Words::try_new(words).unwrap(),
        };
        let acted = self.host.world().act(&self.alice, act).await.unwrap();
        self.resident.heard(&acted.deliveries).await.unwrap();
        assert_eq!(self.resident.handle().at_rest().await, Rest::Settled);
    }

    fn replies(&self) -> u64 {
        self.resident.handle().status().spent.replies
    }

    async fn last(&self) -> Seq {
        let state = self.resident.handle().inspect().await.unwrap();
        state.seq
    }

    /// How many replies after this event are no steps of a turn.
    async fn further_requests(&self, after: Seq) -> u64 {
        let key = AssistantId::try_new("dormouse").unwrap();
        let mut further = 0;
        let range = after.next()..;
        let counted = each_event(self.host.log(), &key, range, |stored| {
            let is_further = ["consulted", "history_summarized"].contains(&&*stored.kind);
            further += u64::from(is_further);
            Ok::<_, ReadError>(())
        });
        counted.await.unwrap();
        further
    }

    async fn end(self) {
        drop(self.resident);
        self.host.close().await;
    }
}
