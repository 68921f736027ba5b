//! How commands print: lines for people, or JSON lines.

use std::{io::Write, path::Path};

use dormouse_contracts::Clock;
use dormouse_contracts::Seq;
use dormouse_host::SystemClock;
use serde::Serialize;

use super::{
    caller::{complain, stderr_terminal, stdout},
    error::CommandError,
};
use crate::{exit::Exit, json, lines::Lines};

/// How the command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printing {
    /// Lines for people.
    Text,
    /// JSON objects, one per line.
    Json,
}

impl Printing {
    /// Prints one thing on standard output.
    pub(crate) fn print<L: Into<Lines>>(
        self,
        value: &impl Serialize,
        text: impl FnOnce() -> L,
    ) -> Result<(), CommandError> {
        let mut out = stdout();
        self.write(&mut out, value, text)?;
        Ok(out.flush()?)
    }

    /// Writes one thing, without flushing. Text is made safe to print: see [`Lines`].
    pub(crate) fn write<L: Into<Lines>>(
        self,
        out: &mut impl Write,
        value: &impl Serialize,
        text: impl FnOnce() -> L,
    ) -> Result<(), CommandError> {
        let line = match self {
            Self::Json => json::line(value)?,
            Self::Text => format!("{}\n", text().into()),
        };
        Ok(out.write_all(line.as_bytes())?)
    }
}

/// A change of the memory, as JSON.
#[derive(Serialize)]
struct ChangedLine<'a> {
    r#type: &'static str,
    event: u64,
    what: &'a str,
}

/// A change that has no effect, as JSON.
#[derive(Serialize)]
struct UnchangedLine<'a> {
    r#type: &'static str,
    what: &'a str,
}

/// Prints a change of the memory with its event, which `dormouse memory undo` accepts. If the change had no effect,
/// says so.
pub(crate) fn print_change(
    printing: Printing,
    event: Option<Seq>,
    what: &str,
) -> Result<Exit, CommandError> {
    match event {
        Some(event) => {
            let line = ChangedLine {
                r#type: "changed",
                event: event.0,
                what,
            };
            printing.print(&line, || format!("event {event}: {what}"))?;
        }
        None => {
            let line = UnchangedLine {
                r#type: "unchanged",
                what,
            };
            printing.print(&line, || format!("{what} already; nothing was changed"))?;
        }
    }
    Ok(Exit::Success)
}

/// Prints a line for people on standard output.
pub(crate) fn say(text: &str) -> Result<(), CommandError> {
    let mut out = stdout();
    out.write_all(format!("{}\n", Lines::from(text)).as_bytes())?;
    Ok(out.flush()?)
}

/// Prints a line for people on standard error.
pub(crate) fn remark(text: &str) {
    complain(&format!("dormouse: {}\n", Lines::from(text)));
}

/// Shows progress on a terminal: the line replaces the one before.
pub(crate) fn progress(line: &str) {
    if let Some(mut err) = stderr_terminal() {
        // If standard error is closed, nobody reads it.
        drop(write!(err, "\r\u{1b}[K{line}\r"));
    }
}

/// The kind of file that a view shows.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ViewOf {
    Log,
    Memory,
}

#[derive(Serialize)]
struct ViewLine {
    r#type: &'static str,
    of: ViewOf,
    at: String,
}

/// Reports that another process has the file open, so the output may be older than what that process has written. For
/// people this is on standard error, for programs it is the first line.
pub(super) fn label_view(of: ViewOf, path: &Path, printing: Printing) -> Result<(), CommandError> {
    let at = SystemClock.now().to_string();
    let what = match of {
        ViewOf::Log => "log",
        ViewOf::Memory => "memory",
    };
    let path = path.display();
    remark(&format!(
        "{path} is in use by another process; this is the {what} as it was at {at}"
    ));
    match printing {
        Printing::Text => Ok(()),
        Printing::Json => printing.print(
            &ViewLine {
                r#type: "view",
                of,
                at,
            },
            String::new,
        ),
    }
}
