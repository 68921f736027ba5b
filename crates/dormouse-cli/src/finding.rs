//! The findings of checks, and printing them line by line.

use std::io::{self, BufWriter, Write};

use crate::{command::stdout, exit::Exit, lines::Lines};

/// The finding of one check.
#[derive(Debug)]
pub(crate) enum Finding {
    Fine(String),
    Doubtful(String),
    Wrong(String, Exit),
}

impl Finding {
    /// The word before the finding.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Fine(_) => "ok",
            Self::Doubtful(_) => "warn",
            Self::Wrong(..) => "fail",
        }
    }

    /// The text of the finding.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Fine(text) | Self::Doubtful(text) | Self::Wrong(text, _) => text,
        }
    }
}

/// Prints one line for each finding.
pub(crate) fn print(findings: &[Finding]) -> io::Result<()> {
    let mut out = BufWriter::new(stdout());
    for finding in findings {
        let text = Lines::from(finding.text());
        writeln!(out, "{:<4}  {text}", finding.word())?;
    }
    out.flush()
}

/// The exit code of the first error; 0 if there are only warnings.
pub(crate) fn exit(findings: &[Finding]) -> Exit {
    let wrong = findings.iter().find_map(|finding| match finding {
        Finding::Wrong(_, exit) => Some(*exit),
        Finding::Fine(_) | Finding::Doubtful(_) => None,
    });
    wrong.unwrap_or(Exit::Success)
}
