//! What a check found, and telling it line by line.

use std::io::{self, Write};

use crate::{
    exit::Exit,
    neutralise::{indented, neutralise},
};

/// What one check found.
#[derive(Debug)]
pub(crate) enum Finding {
    Fine(String),
    Doubtful(String),
    Wrong(String, Exit),
}

impl Finding {
    /// The word in front of it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Fine(_) => "ok",
            Self::Doubtful(_) => "warn",
            Self::Wrong(..) => "fail",
        }
    }

    /// What was found.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Fine(text) | Self::Doubtful(text) | Self::Wrong(text, _) => text,
        }
    }
}

/// A line for each.
pub(crate) fn print(findings: &[Finding]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for finding in findings {
        let text = indented(&neutralise(finding.text()));
        writeln!(out, "{:<4}  {text}", finding.word())?;
    }
    out.flush()
}

/// The code of the first that is wrong; doubts leave it at 0.
pub(crate) fn exit(findings: &[Finding]) -> Exit {
    let wrong = findings.iter().find_map(|finding| match finding {
        Finding::Wrong(_, exit) => Some(*exit),
        Finding::Fine(_) | Finding::Doubtful(_) => None,
    });
    wrong.unwrap_or(Exit::Success)
}
