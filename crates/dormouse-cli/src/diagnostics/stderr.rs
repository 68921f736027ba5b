//! Standard error, written by a thread of its own, so that a reader that has stopped reading does not delay the program
//! for long.

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

/// How many lines may wait to be written. Further lines are lost.
const QUEUE: usize = 256;

/// How long to wait for one line.
const LINE: Duration = Duration::from_millis(300);

/// How long to wait for all lines at the end.
const END: Duration = Duration::from_secs(2);

/// A handle to the thread that writes. Lines are written in order, and usually before [`StderrActor::write`] returns.
#[derive(Debug)]
pub(super) struct StderrActor {
    lines: SyncSender<Line>,
    /// Whether waiting for a line has timed out, and no line was written since.
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

    /// Writes a text. If the reader reads nothing, the text waits in a queue; once the queue is full, it is lost.
    pub(super) fn write(&self, text: String) {
        // Only the first line waits for a reader that reads nothing, not every line.
        if !self.is_stalled.load(Ordering::Relaxed) {
            self.write_within(LINE, text);
        } else {
            drop(self.send(text));
        }
    }

    /// Waits until everything is written, up to a time limit.
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
        // If standard error is closed, there is nobody to report to.
        drop(io::stderr().write_all(text.as_bytes()));
        is_stalled.store(false, Ordering::Relaxed);
        // If writing took too long, the receiver is gone.
        written.send(()).ok();
    }
}
