//! The log during a cell.

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::double::KEY;

/// Looks for the key in everything that is logged, and keeps nothing of it, so that no memory is counted for it.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<AtomicBool>);

impl Log {
    pub(super) fn subscriber(&self) -> impl tracing::Subscriber + Send + Sync + use<> {
        let log = self.clone();
        tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || log.clone())
            .finish()
    }

    pub(super) fn told_the_key(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Write for Log {
    /// Takes a whole line: that is how the subscriber writes.
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let line_in_text = String::from_utf8_lossy(line).to_lowercase();
        self.0
            .fetch_or(line_in_text.contains(KEY), Ordering::Relaxed);
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_key_in_the_log_is_found() {
    let log = Log::default();
    tracing::subscriber::with_default(log.subscriber(), || tracing::trace!(key = "none", "words"));
    assert!(!log.told_the_key());
    tracing::subscriber::with_default(log.subscriber(), || tracing::trace!(key = KEY, "words"));
    assert!(log.told_the_key());
}
