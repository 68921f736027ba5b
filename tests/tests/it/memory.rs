//! A memory whose process is killed, whose disk is full, or whose vector index dies.

mod asking;
mod dreaming;
mod dying;
mod fold;
#[cfg(unix)]
mod full;
mod held;
mod ledger;
mod life;
mod migrating;
mod projections;
mod qdrant;
mod writing;

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use dormouse_contracts::{AssistantId, Embedder, Random};
use dormouse_memory::{Memory, MemoryBuilder};
use dormouse_testing::{HashedEmbedder, SeededRandom};
use dormouse_tests::RunningClock;
use serde_json::Value;

/// What notes are made of, so that questions find some of them and not others.
const WORDS: [&str; 12] = [
    "tea", "boat", "key", "kettle", "harbour", "garden", "lantern", "honey", "cellar", "letter",
    "market", "walnut",
];

fn builder() -> MemoryBuilder {
    let assistant = AssistantId::try_new("dormouse").unwrap();
    Memory::builder(assistant, RunningClock::start())
}

fn encoder() -> HashedEmbedder {
    HashedEmbedder::new(32)
}

fn with(encoder: &HashedEmbedder) -> MemoryBuilder {
    let encoder: Arc<dyn Embedder> = Arc::new(encoder.clone());
    builder().encoder(encoder)
}

/// Random, drawn from as numbers and members.
#[derive(Debug)]
struct Dice(SeededRandom);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(SeededRandom::new(seed))
    }

    fn below(&self, limit: u64) -> u64 {
        // A draw is below 1, so the product is below the limit.
        (self.0.unit() * limit as f64) as u64
    }

    fn one_of<'a, T>(&self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }

    /// Some words, and at the end a mark that no other note has.
    fn text(&self, mark: &str) -> String {
        let words = (0..3 + self.below(4)).map(|_| *self.one_of(&WORDS));
        let words: Vec<&str> = words.collect();
        format!("{} {mark}", words.join(" "))
    }
}

/// A process of this same program that runs only the test `name`, with `parameters` in the variable `variable`.
fn process(name: &str, variable: &str, parameters: &Value) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args([&format!("memory::{name}"), "--exact", "--nocapture"])
        .env(variable, parameters.to_string())
        .stderr(Stdio::null());
    command
}

/// The parameters of a process that was started in this way.
fn parameters(variable: &str) -> Option<Value> {
    let parameters = env::var(variable).ok()?;
    Some(serde_json::from_str(&parameters).unwrap())
}

/// Prints a line for the process that started this one. libtest has printed half a line before the first.
fn say(line: &Value) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    // If nobody reads any more, this process is about to be killed.
    drop(write!(out, "\n{line}\n").and_then(|()| out.flush()));
}

/// A line that was said, as opposed to what libtest prints.
fn heard(line: &[u8]) -> Option<Value> {
    line.starts_with(b"{").then(|| {
        let read = serde_json::from_slice(line);
        read.unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(line)))
    })
}

/// Waits until the parent kills this process, or ends.
fn wait_for_the_end() {
    use std::io::Read;
    say(&serde_json::json!({ "done": true }));
    drop(std::io::stdin().read_to_end(&mut Vec::new()));
}

/// A single runtime for the processes that are killed.
fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(work);
}

fn file_in(folder: &Path) -> std::path::PathBuf {
    folder.join("memory.redb")
}
