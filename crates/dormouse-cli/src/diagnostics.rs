//! What the program logs about itself: to standard error, filtered by `RUST_LOG`. By default it logs only what is not
//! reported elsewhere.

use std::{
    env,
    io::{self, IsTerminal, Write},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use dormouse_contracts::Clock;
use dormouse_host::SystemClock;
use tracing::{Level, Metadata, callsite::Identifier};
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    fmt::{self, MakeWriter},
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

mod flood;
mod stderr;

use flood::Floods;
use stderr::StderrActor;

use crate::{item::Item, lines::Lines, screen::Screen};

/// By default only errors of these modules are logged. Other modules also log warnings. If a model does not answer, or
/// the log, the world or the memory cannot be written, that is an event or a state of the assistant and is printed as
/// such. The warnings of these modules would repeat it.
const ERRORS_ONLY: [&str; 8] = [
    "dormouse_resilience",
    "dormouse_engine",
    "dormouse_memory::store",
    "dormouse_memory::memory::inner",
    "dormouse_providers::failover",
    "dormouse_store::committer",
    "dormouse_store::wal::writer",
    "dormouse_sandbox::actor",
];

/// The filter in `RUST_LOG`, or the default if it is not set or invalid.
fn filter() -> Targets {
    let asked = env::var("RUST_LOG")
        .ok()
        .and_then(|asked| asked.parse().ok());
    asked.unwrap_or_else(|| {
        Targets::new()
            .with_default(LevelFilter::WARN)
            .with_targets(ERRORS_ONLY.map(|target| (target, LevelFilter::ERROR)))
            // The client or the command reports problems with third-party clients and servers, in words for people.
            .with_target("rmcp", LevelFilter::OFF)
    })
}

/// Where log lines go. While somebody types at a terminal, they go through the screen, above the line that is being
/// typed, if standard error is that terminal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Diagnostics {
    screen: Arc<Mutex<Option<Screen>>>,
    floods: Arc<Mutex<Floods<Identifier>>>,
    stderr: Arc<OnceLock<StderrActor>>,
}

impl Diagnostics {
    /// Starts logging.
    pub(crate) fn start() -> Self {
        let diagnostics = Self::default();
        let lines = fmt::layer()
            .with_writer(diagnostics.clone())
            .without_time()
            .with_target(false);
        let logging = tracing_subscriber::registry()
            .with(lines)
            .with(filter())
            .try_init();
        if let Err(error) = logging {
            drop(writeln!(
                io::stderr(),
                "logging could not be started: {error}"
            ));
        }
        diagnostics
    }

    /// Prints what was held back because there were too many lines.
    pub(crate) fn finish(&self) {
        let left = self.floods().end();
        left.iter().for_each(|line| self.print(line));
        if let Some(stderr) = self.stderr.get() {
            stderr.finish();
        }
    }

    /// From now on, writing waits only briefly for a reader of standard error that has stopped reading. A program that
    /// handles termination signals needs this: otherwise a signal could not end it while it waits.
    pub(crate) fn limit_waiting(&self) -> io::Result<()> {
        if self.stderr.get().is_none() {
            drop(self.stderr.set(StderrActor::start()?));
        }
        Ok(())
    }

    /// Prints a text of one or more lines to standard error, as it is.
    pub(crate) fn report(&self, text: &str) {
        let text = format!("{text}\n");
        match self.stderr.get() {
            Some(stderr) => stderr.write(text),
            // If standard error is closed, there is nobody to report to.
            None => drop(io::stderr().write_all(text.as_bytes())),
        }
    }

    /// Sends lines through the screen from now on.
    pub(crate) fn divert(&self, screen: &Screen) {
        if io::stderr().is_terminal() {
            *self.lock() = Some(screen.clone());
        }
    }

    /// Sends lines to standard error again.
    pub(crate) fn restore(&self) {
        *self.lock() = None;
    }

    fn floods(&self) -> std::sync::MutexGuard<'_, Floods<Identifier>> {
        self.floods.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn print(&self, line: &str) {
        let screen = self.lock().clone();
        match screen {
            Some(screen) => screen.try_show(Item::Notice {
                text: line.to_owned(),
            }),
            None => self.report(&Lines::from(line).to_string()),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Screen>> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MakeWriter<'_> for Diagnostics {
    type Writer = LogLine;

    fn make_writer(&self) -> LogLine {
        LogLine {
            diagnostics: self.clone(),
            place: None,
            bytes: Vec::new(),
        }
    }

    fn make_writer_for(&self, metadata: &Metadata<'_>) -> LogLine {
        // If the user has asked for more than warnings, no line is held back.
        let is_warning = *metadata.level() <= Level::WARN;
        let mut line = self.make_writer();
        line.place = is_warning.then(|| metadata.callsite());
        line
    }
}

/// One line of the program's log. It is written when it is complete.
#[derive(Debug)]
pub(crate) struct LogLine {
    diagnostics: Diagnostics,
    /// The place in the code that wrote it, if such lines may come in floods.
    place: Option<Identifier>,
    bytes: Vec<u8>,
}

impl Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.bytes);
        let text = text.trim();
        match self.place.take() {
            None => self.diagnostics.print(text),
            Some(place) => {
                let lines = self
                    .diagnostics
                    .floods()
                    .take(place, text, SystemClock.now());
                lines.iter().for_each(|line| self.diagnostics.print(line));
            }
        }
    }
}
