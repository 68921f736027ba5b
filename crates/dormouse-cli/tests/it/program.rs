//! Running the program in a folder of its own.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use dormouse_contracts::Seq;
use dormouse_engine::{ConfiguredModel, decide_again};
use dormouse_providers::token_counter_for;
use dormouse_store::LogView;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

/// A data folder of its own.
pub(crate) struct Home {
    folder: tempfile::TempDir,
    leaves_its_log: AtomicBool,
}

/// Each life of the log is decided again at the end of its test, so that every test also proves that what the program decided
/// follows from its log alone.
impl Drop for Home {
    fn drop(&mut self) {
        let is_left = self.leaves_its_log.load(Ordering::Relaxed);
        if std::thread::panicking() || is_left || !self.file("log.redb").exists() {
            return;
        }
        let path = self.file("log.redb");
        // Some tests drop their home within a runtime of their own.
        let decided = std::thread::scope(|scope| {
            let again = || block_on(every_decision_is_the_same_again(&path));
            scope.spawn(again).join()
        });
        if let Err(panic) = decided {
            std::panic::resume_unwind(panic);
        }
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(future)
}

async fn every_decision_is_the_same_again(path: &Path) {
    let log = LogView::open(path).unwrap();
    for (key, _) in log.assistants().unwrap() {
        let counter = |model: &ConfiguredModel| token_counter_for(&model.provider, &model.name);
        let again = decide_again(&log, &key, Seq(u64::MAX), counter).await;
        assert!(again.is_ok(), "the life of {key}: {again:?}");
    }
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    /// The lines of the output, parsed.
    pub(crate) fn items(&self) -> Vec<Value> {
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The lines of this type.
    pub(crate) fn of_type(&self, kind: &str) -> Vec<Value> {
        self.items()
            .into_iter()
            .filter(|item| item["type"] == kind)
            .collect()
    }

    /// How the visit ended, and how many messages wait.
    pub(crate) fn end(&self) -> (String, u64) {
        let end = self.of_type("end").pop().unwrap();
        let reason = end.get("reason").and_then(Value::as_str).unwrap();
        let waiting = end.get("waiting").and_then(Value::as_u64).unwrap();
        (reason.to_owned(), waiting)
    }

    /// The messages that the assistant did not ignore: text, classification and rule.
    pub(crate) fn heard(&self) -> Vec<(String, String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        self.of_type("message")
            .iter()
            .filter(|message| !message["seq"].is_null())
            .map(|message| {
                (
                    text(&message["text"]),
                    text(&message["classification"]),
                    text(&message["rule"]),
                )
            })
            .collect()
    }

    /// What the assistant said, as the player perceived it.
    pub(crate) fn answers(&self) -> Vec<String> {
        self.of_type("world")
            .iter()
            .filter(|item| item["by"] == "Dormouse" && item["kind"].is_string())
            .map(|item| item["text"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            leaves_its_log: AtomicBool::new(false),
        }
    }

    /// Excludes the log of this home from being decided again, because the test damages it or wrote it by hand.
    pub(crate) fn leave_its_log(&self) {
        self.leaves_its_log.store(true, Ordering::Relaxed);
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The program, without the environment variables of this machine that could change its result.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dormouse"));
        command.args(args);
        if !args.contains(&"--data") {
            command.arg("--data").arg(self.path());
        }
        for name in [
            "DORMOUSE_BASE_URL",
            "DORMOUSE_API_KEY",
            "DORMOUSE_API_KEY_FILE",
            "OPENAI_API_KEY",
            "OPENAI_API_KEY_FILE",
            "OPENAI_BASE_URL",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_API_KEY_FILE",
            "ANTHROPIC_BASE_URL",
            "OPENROUTER_API_KEY",
            "OPENROUTER_API_KEY_FILE",
            "OLLAMA_HOST",
            "RUST_LOG",
        ] {
            command.env_remove(name);
        }
        // Servers of the tests have no embeddings.
        command.env("DORMOUSE_MEMORY__EMBEDDER", "none");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).spawn().unwrap()
    }

    /// Runs to the end, with this input.
    pub(crate) fn run(&self, args: &[&str], input: impl AsRef<[u8]>) -> Run {
        finish(self.spawn(args), input.as_ref())
    }

    /// `play --json` with this input.
    pub(crate) fn play(&self, input: impl AsRef<[u8]>) -> Run {
        self.run(&["play", "--json"], input)
    }
}

/// Writes all input, ends it, and waits for the end of the program.
pub(crate) fn finish(mut child: Child, input: &[u8]) -> Run {
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // The program may end before it has read everything.
        stdin.write_all(&input).ok();
    });
    let watched = watch(&child);
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    drop(watched);
    writer.join().unwrap();
    Run {
        code: status.code(),
        out: String::from_utf8(stdout).unwrap(),
        err: String::from_utf8(stderr).unwrap(),
    }
}

/// The longest time that a run may take.
const LIMIT: Duration = Duration::from_secs(300);

/// Fails if something that takes less than a second on an idle machine is slow in every attempt. A busy machine may be
/// slow, so one slow attempt is allowed; [`watch`] detects a hang.
pub(crate) fn assert_quick(mut time: impl FnMut() -> Duration) {
    let quickest = (0..3).map(|_| time()).min().unwrap();
    assert!(quickest <= Duration::from_secs(20), "{quickest:?}");
}

/// Ends the child if it has not ended within [`LIMIT`], so that a hang is a failed test and not an endless one. Drop
/// the returned sender once the child has ended.
pub(crate) fn watch(child: &Child) -> mpsc::Sender<()> {
    let (ended, waiting) = mpsc::channel();
    let id = Pid::from_raw(child.id().try_into().unwrap());
    std::thread::spawn(move || {
        if waiting.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
            kill(id, Signal::SIGKILL).ok();
        }
    });
    ended
}
