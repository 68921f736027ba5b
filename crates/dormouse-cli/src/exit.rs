//! How the program ends: one number, and one report on standard error.

use std::{error::Error, fmt, io, process::ExitCode};

use dormouse_text::{error_chain, floor_char_boundary};

use crate::lines::Lines;

/// The exit codes, as `docs/exit-codes.md` documents them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command was successful.
    Success,
    /// A failure without a code of its own.
    Failure,
    /// The command line, the configuration or the environment is wrong.
    Usage,
    /// Another process has the data open.
    InUse,
    /// The log, the world or the memory is damaged, or they do not belong together.
    Damaged,
    /// The assistant is stopped by its emergency stop; messages may be waiting.
    Stopped,
    /// Ended by SIGINT.
    Interrupted,
    /// Ended by SIGTERM.
    Terminated,
}

/// The section of `--help` about them.
pub(crate) const HELP: &str = "Exit codes:
  0    done
  1    failed; standard error says why
  2    wrong command line, configuration or environment
  3    the data are in use by another process
  4    the log, the world or the memory is damaged, or they do not belong together
  5    the assistant is stopped by its emergency stop; its messages are kept
  130  ended by SIGINT    143  ended by SIGTERM (messages are kept)";

impl Exit {
    /// The number.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::InUse => 3,
            Self::Damaged => 4,
            Self::Stopped => 5,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

impl Exit {
    /// The code with this number; [`Exit::Failure`] for any other number.
    pub(crate) fn of_number(number: u8) -> Self {
        let all = [
            Self::Success,
            Self::Failure,
            Self::Usage,
            Self::InUse,
            Self::Damaged,
            Self::Stopped,
            Self::Interrupted,
            Self::Terminated,
        ];
        let its = all.into_iter().find(|exit| exit.number() == number);
        its.unwrap_or(Self::Failure)
    }
}

/// The exit code if a file on the command line cannot be opened: a wrong command line if the file is missing, exists
/// already, or is of another kind.
pub(crate) fn file_exit(error: &io::Error) -> Exit {
    match error.kind() {
        io::ErrorKind::NotFound
        | io::ErrorKind::AlreadyExists
        | io::ErrorKind::IsADirectory
        | io::ErrorKind::NotADirectory => Exit::Usage,
        _ => Exit::Failure,
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

/// An error with its causes, safe to print. Causes that only repeat an earlier message are left out.
pub(crate) struct Report<'a>(pub(crate) &'a dyn Error);

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Lines::from(in_short(&error_chain(self.0))).fmt(f)
    }
}

/// The longest line of a report, in bytes.
const LINE_LIMIT: usize = 2_000;

/// The text with the middle of very long lines left out: an error repeats the argument that it is about, and says behind it what is
/// wrong.
pub(crate) fn in_short(text: &str) -> String {
    let lines = text.split('\n').map(|line| match line.len() {
        ..=LINE_LIMIT => line.to_owned(),
        length => {
            let begin = floor_char_boundary(line, LINE_LIMIT / 2);
            let end = floor_char_boundary(line, length - LINE_LIMIT / 2);
            let (beginning, rest) = line.split_at(begin);
            let (_, ending) = line.split_at(end);
            let left_out = rest.len() - ending.len();
            format!("{beginning}… ({left_out} bytes are left out) …{ending}")
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer\u{1b}")]
    struct Outer(#[source] Inner);

    #[derive(Debug, thiserror::Error)]
    #[error("inner")]
    struct Inner;

    #[test]
    fn a_report_names_every_cause_and_is_safe_to_print() {
        assert_eq!(Report(&Outer(Inner)).to_string(), "outer\\u{1b}: inner");
    }

    #[test]
    fn a_long_argument_is_not_repeated_whole_and_what_is_wrong_with_it_is_said() {
        let text = format!(
            "invalid value '{}' for KEY\n\n  tip: help",
            "é".repeat(35_000)
        );
        let short = in_short(&text);
        assert!(short.len() < LINE_LIMIT + 100, "{short}");
        assert!(short.starts_with("invalid value 'éé"), "{short}");
        assert!(short.ends_with("é' for KEY\n\n  tip: help"), "{short}");
        assert_eq!(in_short("short\nlines\n"), "short\nlines\n");
    }

    #[test]
    fn every_exit_code_is_named_in_the_help_and_in_the_documentation() {
        let documented = include_str!("../../../docs/exit-codes.md");
        for exit in [
            Exit::Success,
            Exit::Failure,
            Exit::Usage,
            Exit::InUse,
            Exit::Damaged,
            Exit::Stopped,
            Exit::Interrupted,
            Exit::Terminated,
        ] {
            let number = exit.number().to_string();
            assert!(HELP.contains(&format!("  {number} ")), "{number}");
            assert!(documented.contains(&format!("| {number} |")), "{number}");
        }
    }
}
