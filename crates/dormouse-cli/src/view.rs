//! Saying that another process has the data open, so that what is printed may be older than what it has written by now.

use std::{
    io::{self, Write},
    path::Path,
};

use dormouse::SystemClock;
use dormouse_contracts::Clock;
use serde::Serialize;

use crate::{json, neutralise::neutralise};

/// What is looked at.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Of {
    Log,
    Memory,
}

/// How the command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printing {
    Text,
    Json,
}

impl From<bool> for Printing {
    fn from(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// The label as JSON.
#[derive(Serialize)]
struct View {
    r#type: &'static str,
    of: Of,
    at: String,
}

/// Labels what follows: for people on standard error, for programs as the first line.
pub(crate) fn label(of: Of, path: &Path, printing: Printing) -> io::Result<()> {
    let at = SystemClock.now().to_string();
    let what = match of {
        Of::Log => "log",
        Of::Memory => "memory",
    };
    let text = format!(
        "{} is in use by another process; this is the {what} as it was at {at}",
        path.display()
    );
    // If standard error is closed there is nobody to tell.
    drop(writeln!(io::stderr(), "dormouse: {}", neutralise(&text)));
    if printing == Printing::Json {
        let r#type = "view";
        let line = json::line(&View { r#type, of, at })?;
        let mut out = io::stdout().lock();
        out.write_all(line.as_bytes()).and_then(|()| out.flush())?;
    }
    Ok(())
}
