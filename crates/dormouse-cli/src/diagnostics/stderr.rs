//! Standard error, written by a thread of its own, so that a reader who has stopped reading holds nobody back for long.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

/// How many lines may wait to be written. Those that come after them are lost.
const QUEUE: usize = 256;

/// How long one line is waited for.
const LINE: Duration = Duration::from_millis(300);

/// How long everything is waited for at the end.
const END: Duration = Duration::from_secs(2);

/// A handle to the thread that writes. Lines are written in order, and usually before [`StderrActor::write`] returns.
#[derive(Debug)]
pub(super) struct StderrActor {
    lines: SyncSender<Line>,
    /// Whether a line was waited for in vain, and none was written since.
    is_stalled: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Line {
    text: String,
    written: SyncSender<()>,
}

impl StderrActor {
    /// Starts the thread, which ends with the process.
    pub(super) fn start() -> io::Result<Self> {
        let (lines, waiting) = sync_channel(QUEUE);
        let is_stalled = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&is_stalled);
        thread::Builder::new()
            .name("stderr".to_owned())
            .spawn(move || write_all(&waiting, &shared))?;
        Ok(Self { lines, is_stalled })
    }

    /// Writes a text. If its reader takes nothing, it waits in a queue; once that is full the text is lost.
    pub(super) fn write(&self, text: String) {
        // Only the first line waits for a reader who takes nothing, not each one.
        if !self.is_stalled.load(Ordering::Relaxed) {
            self.write_within(LINE, text);
        } else {
            drop(self.send(text));
        }
    }

    /// Waits until everything is written, though not for ever.
    pub(super) fn finish(&self) {
        self.write_within(END, String::new());
    }

    fn write_within(&self, limit: Duration, text: String) {
        let written = self.send(text);
        if written.is_some_and(|it| it.recv_timeout(limit) == Err(RecvTimeoutError::Timeout)) {
            self.is_stalled.store(true, Ordering::Relaxed);
        }
    }

    fn send(&self, text: String) -> Option<Receiver<()>> {
        let (written, waiting) = sync_channel(1);
        let sent = self.lines.try_send(Line { text, written });
        sent.is_ok().then_some(waiting)
    }
}

fn write_all(lines: &Receiver<Line>, is_stalled: &AtomicBool) {
    for Line { text, written } in lines {
        // There is nobody left to report to if standard error is closed.
        drop(io::stderr().write_all(text.as_bytes()));
        is_stalled.store(false, Ordering::Relaxed);
        // Nobody waits for it any more if it took too long.
        written.send(()).ok();
    }
}
