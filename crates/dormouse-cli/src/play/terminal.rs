//! A player at a terminal: line editing, history, and output that arrives while the player types.

use std::{
    fmt,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU16, Ordering},
        mpsc as std_mpsc,
    },
    thread,
    time::Duration,
};

use dormouse_engine::{Activity, Handle, Status};
use dormouse_host::DataFolder;
use dormouse_redact::{RedactionProfile, mask};
use rustyline::{Config, DefaultEditor, ExternalPrinter, error::ReadlineError};
use tokio::{sync::mpsc, time::timeout};

use super::{error::PlayError, operator::Flow, session::Session, visit_end::VisitEnd};
use crate::{
    describe,
    item::Item,
    screen::{Reader, Screen, Stdout, Surface},
};

mod mode;
mod wrap;

/// How long the next prompt waits for a quick answer, so that it appears below the answer.
const QUICK: Duration = Duration::from_millis(200);
/// The time after which a notice says that the assistant is thinking.
const SLOW: Duration = Duration::from_millis(400);

/// The terminal. Its editor is moved to the thread that reads lines.
pub(crate) struct Terminal {
    editor: Option<DefaultEditor>,
    history: PathBuf,
    surface: Arc<Mutex<TerminalSurface>>,
    mode: mode::Mode,
    width: Arc<AtomicU16>,
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal")
            .field("history", &self.history)
            .finish_non_exhaustive()
    }
}

/// Prints above the line that is being typed.
struct TerminalSurface {
    printer: Option<Box<dyn ExternalPrinter + Send>>,
    /// How many columns there were when the last line was begun; 0 if unknown.
    width: Arc<AtomicU16>,
}

impl Surface for TerminalSurface {
    fn put(&mut self, text: String) -> io::Result<()> {
        let text = match self.width.load(Ordering::Relaxed) {
            0 => text,
            width => wrap::wrapped(&text, width.into()),
        };
        if let Some(printer) = &mut self.printer
            && printer.print(text.clone()).is_ok()
        {
            return io::stdout().lock().flush();
        }
        Stdout.put(text)
    }
}

/// A line that was typed; the next prompt waits for the answer.
struct Typed {
    line: Result<String, ReadlineError>,
    prompt: std_mpsc::SyncSender<String>,
}

impl Terminal {
    /// Takes control of the terminal. Its mode is remembered, to be restored.
    pub(crate) fn open(data: &DataFolder) -> Result<Self, PlayError> {
        let failed = |error: ReadlineError| PlayError::Terminal(error.into());
        let mode = mode::Mode::remember();
        let settings = Config::builder().build();
        let mut editor = DefaultEditor::with_config(settings).map_err(failed)?;
        let history = data.history();
        if history.exists()
            && let Err(error) = editor.load_history(&history)
        {
            tracing::warn!(%error, "the history could not be read");
        }
        // Some terminals cannot print above the line. Then lines simply follow each other.
        let printer = editor
            .create_external_printer()
            .ok()
            .map(|printer| Box::new(printer) as _);
        let width = Arc::new(AtomicU16::new(0));
        note_width(&mut editor, &width);
        let surface = TerminalSurface {
            printer,
            width: Arc::clone(&width),
        };
        Ok(Self {
            editor: Some(editor),
            history,
            surface: Arc::new(Mutex::new(surface)),
            mode,
            width,
        })
    }

    /// Where to print.
    pub(crate) fn surface(&self) -> Arc<Mutex<dyn Surface>> {
        Arc::clone(&self.surface) as _
    }

    /// Restores the terminal, even while a line is being typed. If the terminal accepts no output, this waits no longer
    /// than `patience`.
    pub(super) fn restore(self, reader: &Reader, patience: Duration) {
        // If the reader was given up, the writer still holds the surface.
        match reader.is_given_up() {
            true => self.mode.give_back(),
            false => self.leave(patience),
        }
    }

    /// Restores the terminal if nothing else uses it.
    pub(crate) fn leave(self, patience: Duration) {
        self.mode.give_back();
        within(patience, move || leave_line(&self.surface));
    }

    /// Carries out typed lines until the player leaves.
    pub(super) async fn drive(&mut self, session: &mut Session) -> Result<VisitEnd, PlayError> {
        // What happened before this visit is printed first.
        session.all_shown().await;
        let first = prompt(&session.status());
        self.each_line(first, async |number, line| {
            answer(session, number, line).await
        })
        .await?;
        Ok(VisitEnd::Quit)
    }

    /// Reads lines until the player leaves. `carry_out` returns the next prompt, or nothing if the line ends the visit.
    pub(crate) async fn each_line(
        &mut self,
        first: String,
        mut carry_out: impl AsyncFnMut(u64, String) -> Option<String>,
    ) -> Result<(), PlayError> {
        let mut typed = self.read(first.clone())?;
        let (mut number, mut shown) = (0, first);
        while let Some(Typed { line, prompt: next }) = typed.recv().await {
            number += 1;
            match line {
                Ok(line) if line.trim().is_empty() => {}
                Ok(line) => match carry_out(number, line).await {
                    Some(prompt) => shown = prompt,
                    None => return Ok(()),
                },
                Err(ReadlineError::Interrupted | ReadlineError::Eof) => return Ok(()),
                Err(error) => return Err(PlayError::Terminal(error.into())),
            }
            // The thread that reads waits for it; if that thread has ended, so does this loop.
            drop(next.send(shown.clone()));
        }
        Ok(())
    }

    /// Reads lines in a thread of its own. If the receiver is dropped, the thread ends after its current line.
    fn read(&mut self, first: String) -> Result<mpsc::Receiver<Typed>, PlayError> {
        let (sender, receiver) = mpsc::channel(1);
        let Some(editor) = self.editor.take() else {
            return Ok(receiver);
        };
        let (history, surface) = (self.history.clone(), Arc::clone(&self.surface));
        let width = Arc::clone(&self.width);
        thread::Builder::new()
            .name("terminal".to_owned())
            .spawn(move || {
                read_lines(editor, first, &history, &width, &sender);
                // From here on nobody types, and text goes directly to the terminal.
                lock(&surface).printer = None;
            })
            .map_err(PlayError::System)?;
        Ok(receiver)
    }
}

/// A lock is still usable after its holder panicked, because its value is always replaced as a whole.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the line in the editor, and the mode that marks pasted text.
fn leave_line(surface: &Mutex<TerminalSurface>) {
    if lock(surface).printer.is_some() {
        let mut out = io::stdout().lock();
        drop(out.write_all(b"\x1b[?2004l\r\n").and_then(|()| out.flush()));
    }
}

/// Does work that may block for ever in a thread of its own, and waits for it no longer than `patience`.
fn within(patience: Duration, work: impl FnOnce() + Send + 'static) {
    let (done, waiting) = std_mpsc::sync_channel(1);
    let work = move || {
        work();
        // The receiver is gone if it took too long.
        done.send(()).ok();
    };
    match thread::Builder::new()
        .name("restore".to_owned())
        .spawn(work)
    {
        Ok(_detached) => drop(waiting.recv_timeout(patience)),
        Err(error) => tracing::warn!(%error, "the line on the terminal could not be left"),
    }
}

fn read_lines(
    mut editor: DefaultEditor,
    mut prompt: String,
    history: &Path,
    width: &AtomicU16,
    sender: &mpsc::Sender<Typed>,
) {
    loop {
        note_width(&mut editor, width);
        let line = editor.readline(&prompt);
        let ended = line.is_err();
        if let Ok(line) = &line
            && !line.trim().is_empty()
            && let Err(error) = remember(&mut editor, line, history)
        {
            tracing::warn!(%error, "the history could not be written");
        }
        let (answer, next) = std_mpsc::sync_channel(1);
        let typed = Typed {
            line,
            prompt: answer,
        };
        if sender.blocking_send(typed).is_err() || ended {
            return;
        }
        match next.recv() {
            Ok(next) => prompt = next,
            Err(_) => return,
        }
    }
}

/// Adds a line to the history and to its file, without the secrets in it.
fn remember(editor: &mut DefaultEditor, line: &str, history: &Path) -> Result<(), ReadlineError> {
    editor.add_history_entry(mask(line, RedactionProfile::Memory))?;
    editor.save_history(history)
}

/// Notes how wide the terminal is now.
fn note_width(editor: &mut DefaultEditor, width: &AtomicU16) {
    let columns = editor.dimensions().map_or(0, |(columns, _)| columns);
    width.store(columns, Ordering::Relaxed);
}

/// Carries out a line, and returns the next prompt; nothing if the player leaves.
async fn answer(session: &mut Session, number: u64, line: String) -> Option<String> {
    if session.line(number, Ok(line)).await == Flow::Quit {
        return None;
    }
    Some(next_prompt(session).await)
}

/// The prompt after a line, below a quick answer.
pub(super) async fn next_prompt(session: &mut Session) -> String {
    // It does not matter whether it was quick: the answer is printed anyway.
    drop(timeout(QUICK, session.settle()).await);
    prompt(&session.status())
}

/// The status line and the place to type.
pub(super) fn prompt(status: &Status) -> String {
    let waiting = match status.waiting {
        0 => String::new(),
        count => format!(", {count} waiting"),
    };
    format!(
        "[{}{waiting}, {}/{} tokens] > ",
        describe::activity(&status.activity),
        status.prompt_tokens,
        status.max_context_tokens
    )
}

/// Prints that the assistant is thinking, once each time that takes longer than a moment. The prompt on the screen may
/// be outdated, because it is as old as the last typed line.
pub(super) async fn follow_status(mut handle: Handle, name: &str, screen: Screen) {
    let mut reported = false;
    loop {
        let is_busy = matches!(
            handle.status().activity,
            Activity::Thinking | Activity::Acting
        );
        if !is_busy || reported {
            reported &= is_busy;
            if handle.status_changed().await.is_none() {
                return;
            }
            continue;
        }
        match timeout(SLOW, handle.status_changed()).await {
            Ok(Some(_)) => {}
            Ok(None) => return,
            Err(_slow) => {
                reported = true;
                let text = format!("{name} is thinking …");
                screen.show(Item::Notice { text }).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_that_is_typed_is_not_kept_in_the_history() {
        let folder = tempfile::tempdir().unwrap();
        let history = folder.path().join("history.txt");
        let mut editor = DefaultEditor::new().unwrap();
        let line = "whisper Dormouse = my password is hunter2!Xy ok";
        remember(&mut editor, line, &history).unwrap();
        let kept = std::fs::read_to_string(history).unwrap();
        assert!(
            kept.contains("whisper Dormouse = my password is "),
            "{kept}"
        );
        assert!(!kept.contains("hunter2"), "{kept}");
    }

    #[test]
    fn the_terminal_prompt_shows_what_the_assistant_is_doing() {
        let status = Status {
            activity: Activity::Thinking,
            waiting: 2,
            prompt_tokens: 312,
            max_context_tokens: 32_768,
            ..Status::default()
        };
        assert_eq!(
            prompt(&status),
            "[thinking, 2 waiting, 312/32768 tokens] > "
        );
    }
}
