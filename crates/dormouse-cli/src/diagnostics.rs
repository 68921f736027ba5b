//! What the program logs about itself: to standard error, as `RUST_LOG` says, and by default what nothing else tells.

use std::{
    io::{self, IsTerminal, Write},
    sync::{Arc, Mutex, PoisonError},
};

use tracing_subscriber::{EnvFilter, fmt::MakeWriter};

use crate::{
    item::Item,
    neutralise::{indented, neutralise},
    screen::Screen,
};

/// What is logged unless `RUST_LOG` says otherwise. A model that does not answer is an event of the assistant, and told
/// as such; what these log about it on the way would tell it three times more.
const DEFAULT: &str =
    "warn,dormouse_resilience=error,dormouse_engine=error,dormouse_providers::failover=error";

/// Where log lines go. While somebody types at a terminal they go through the screen, above the line that is being
/// typed, if standard error is that terminal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Diagnostics {
    screen: Arc<Mutex<Option<Screen>>>,
}

impl Diagnostics {
    /// Starts logging.
    pub(crate) fn start() -> Self {
        let diagnostics = Self::default();
        let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT));
        let logging = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(diagnostics.clone())
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .try_init();
        if let Err(error) = logging {
            drop(writeln!(
                io::stderr(),
                "logging could not be started: {error}"
            ));
        }
        diagnostics
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

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Screen>> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MakeWriter<'_> for Diagnostics {
    type Writer = LogLine;

    fn make_writer(&self) -> LogLine {
        LogLine {
            diagnostics: self.clone(),
            bytes: Vec::new(),
        }
    }
}

/// One line of the log; written when it is complete.
#[derive(Debug)]
pub(crate) struct LogLine {
    diagnostics: Diagnostics,
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
        let screen = self.diagnostics.lock().clone();
        match screen {
            Some(screen) => screen.try_show(Item::Notice {
                text: text.to_owned(),
            }),
            // There is nobody left to tell if standard error is closed.
            None => drop(writeln!(io::stderr(), "{}", indented(&neutralise(text)))),
        }
    }
}
