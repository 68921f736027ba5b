//! The file of a script: who says what, and when.

use std::{
    collections::BTreeSet,
    io::{self, BufReader},
    path::{Path, PathBuf},
    time::Duration,
};

use dormouse_contracts::{AssistantId, Timestamp};
use dormouse_sandbox::check_name;

use crate::input::{
    self, Command, Input,
    lines::{Line, Lines},
};

/// The default beginning of a script: 2027-01-01T00:00:00Z.
const BEGIN: Timestamp = Timestamp::from_micros(1_798_761_600_000_000);

/// The longest time between two lines, in seconds: a year.
const LONGEST_PAUSE: u64 = 366 * 24 * 3_600;

/// Everything that happens in a script.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct VisitScript {
    /// When it begins.
    pub(super) begin: Timestamp,
    /// Assistants in addition to those of the folder: key and persona.
    pub(super) residents: Vec<(AssistantId, String)>,
    /// What happens, in order.
    pub(super) lines: Vec<ScriptLine>,
}

/// A line of a script.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScriptLine {
    /// Its number, counted from 1.
    pub(super) number: u64,
    /// How long after the line before it happens.
    pub(super) after: Duration,
    /// What happens; `None` if only time passes.
    pub(super) deed: Option<Deed>,
}

/// What a visitor does.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Deed {
    /// The visitor's name.
    pub(super) by: String,
    /// What they do; `None` if they leave.
    pub(super) input: Option<Input>,
}

/// A script cannot be used. Nothing has happened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScriptError {
    /// The file could not be read.
    #[error("the script {} could not be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        source: io::Error,
    },
    /// A line is wrong.
    #[error("{}:{line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which line, counted from 1.
        line: u64,
        /// What is wrong, and what is expected.
        problem: String,
    },
    /// The script begins before the last event of an assistant.
    #[error(
        "the script begins at {begin}, and the last event of {assistant} is of {last}: write `begin TIME` with a later time \
         as its first line, or use another folder"
    )]
    TooEarly {
        /// When the script begins.
        begin: Timestamp,
        /// Whose life goes further.
        assistant: AssistantId,
        /// Its last event.
        last: Timestamp,
    },
}

/// Reads a script. `assistant` is the name of the assistant that plain speech goes to.
pub(super) fn read(path: &Path, assistant: &str) -> Result<VisitScript, ScriptError> {
    let unreadable = |source| ScriptError::Read {
        path: path.to_owned(),
        source,
    };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut lines = Lines::new(BufReader::new(file));
    let mut reading = Reading::default();
    while let Some(Line { number, text }) = lines.next_line().map_err(unreadable)? {
        let taken = match text {
            Ok(text) => reading.take(number, text.trim(), assistant),
            Err(error) => Err(error.to_string()),
        };
        taken.map_err(|problem| ScriptError::Line {
            path: path.to_owned(),
            line: number,
            problem,
        })?;
    }
    Ok(VisitScript {
        begin: reading.begin.unwrap_or(BEGIN),
        residents: reading.residents,
        lines: reading.lines,
    })
}

/// What was read so far.
#[derive(Debug, Default)]
struct Reading {
    begin: Option<Timestamp>,
    residents: Vec<(AssistantId, String)>,
    lines: Vec<ScriptLine>,
    here: BTreeSet<String>,
}

impl Reading {
    fn take(&mut self, number: u64, text: &str, assistant: &str) -> Result<(), String> {
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        if let Some(time) = text.strip_prefix("begin ") {
            let time = time.trim();
            if self.begin.is_some() || !self.residents.is_empty() || !self.lines.is_empty() {
                return Err("`begin TIME` comes once, before everything else".to_owned());
            }
            let parsed = time.parse().map_err(|_unparsed| {
                format!("{time:?} is not a time; expected one such as 2027-01-01T09:00:00Z")
            })?;
            self.begin = Some(parsed);
            return Ok(());
        }
        if let Some(resident) = text.strip_prefix("resident ") {
            return self.resident(resident);
        }
        let (after, rest) = pause(text)?;
        let deed = match rest {
            "" => None,
            rest => Some(self.deed(rest, assistant)?),
        };
        self.lines.push(ScriptLine {
            number,
            after,
            deed,
        });
        Ok(())
    }

    fn resident(&mut self, text: &str) -> Result<(), String> {
        if !self.lines.is_empty() {
            return Err(
                "`resident KEY: PERSONA` comes before the first line of a visitor".to_owned(),
            );
        }
        let (key, persona) = text.split_once(':').unwrap_or((text, ""));
        let key = AssistantId::try_new(key.trim()).map_err(|error| error.to_string())?;
        let persona = persona.trim();
        if persona.is_empty() {
            return Err(format!(
                "expected who it is: `resident {key}: You are shy.`"
            ));
        }
        if self.residents.iter().any(|(known, _)| *known == key) {
            return Err(format!("there is a resident {key} already"));
        }
        self.residents.push((key, persona.to_owned()));
        Ok(())
    }

    fn deed(&mut self, text: &str, assistant: &str) -> Result<Deed, String> {
        let expected = "expected `NAME: TEXT`, such as `+5s Alice: Hello`";
        let (name, text) = text.split_once(':').ok_or(expected)?;
        let by = name.trim().to_owned();
        check_name(&by).map_err(|refusal| format!("{expected}; {refusal}"))?;
        let input = match input::parse(text, assistant).map_err(|error| error.to_string())? {
            Input::Command(Command::Quit) => None,
            Input::Command(_) | Input::SpeakTo(_) => {
                return Err("a script knows one command, /quit".to_owned());
            }
            input => Some(input),
        };
        let is_here = match &input {
            Some(_) => {
                self.here.insert(by.to_lowercase());
                true
            }
            None => self.here.remove(&by.to_lowercase()),
        };
        match is_here {
            true => Ok(Deed { by, input }),
            false => Err(format!("{by} leaves, but has not come before")),
        }
    }
}

/// The time at the beginning of a line, as in `+5s Alice: Hello`, and the rest of the line.
fn pause(text: &str) -> Result<(Duration, &str), String> {
    let Some(text) = text.strip_prefix('+') else {
        return Ok((Duration::ZERO, text));
    };
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let expected = || {
        format!(
            "+{word} is not a time; expected a number and s, m, h or d, at most {} d, as in +90s",
            LONGEST_PAUSE / 86_400
        )
    };
    let unit = word.chars().next_back().ok_or_else(expected)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(expected()),
    };
    let number: Option<u64> = word.strip_suffix(unit).and_then(|word| word.parse().ok());
    let seconds = number.and_then(|number| number.checked_mul(seconds));
    let seconds = seconds.filter(|seconds| *seconds <= LONGEST_PAUSE);
    seconds
        .map(|seconds| (Duration::from_secs(seconds), rest.trim_start()))
        .ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<VisitScript, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path(), "Dormouse").map_err(|error| match error {
            ScriptError::Line { line, problem, .. } => format!("{line}: {problem}"),
            error => error.to_string(),
        })
    }

    #[test]
    fn a_script_says_who_does_what_and_when() {
        let script = read_text(
            "# Tea.\nbegin 2027-06-01T09:00:00Z\nresident mole: You are shy.\n\nAlice: Hello: you\n+90s Bob: :waves\n+2h\n\
             Bob: /quit\n",
        )
        .unwrap();
        assert_eq!(script.begin.to_string(), "2027-06-01T09:00:00Z");
        let mole = AssistantId::try_new("mole").unwrap();
        assert_eq!(script.residents, [(mole, "You are shy.".to_owned())]);
        let seen: Vec<_> = (script.lines.iter())
            .map(|line| {
                let by = line.deed.as_ref().map_or("-", |deed| deed.by.as_str());
                let stays = line.deed.as_ref().is_some_and(|deed| deed.input.is_some());
                (line.number, line.after.as_secs(), by, stays)
            })
            .collect();
        assert_eq!(
            seen,
            [
                (5, 0, "Alice", true),
                (6, 90, "Bob", true),
                (7, 7_200, "-", false),
                (8, 0, "Bob", false)
            ]
        );
        assert_eq!(
            script.lines[0].deed.as_ref().unwrap().input,
            input::parse("Hello: you", "Dormouse").ok()
        );
    }

    #[test]
    fn a_wrong_line_is_named_with_what_is_expected() {
        for (text, expected) in [
            ("hello", "1: expected `NAME: TEXT`"),
            ("\n+5x Alice: hi", "2: +5x is not a time"),
            ("+ Alice: hi", "1: + is not a time"),
            ("+367d", "1: +367d is not a time"),
            ("+99999999999999999999s", "is not a time"),
            (
                "Alice: hi\nbegin 2027-01-01T00:00:00Z",
                "2: `begin TIME` comes once",
            ),
            ("begin now", "1: \"now\" is not a time"),
            ("resident mole", "1: expected who it is"),
            (
                "resident a/b: You are shy.",
                "1: an assistant key contains '/'",
            ),
            (
                "Alice: hi\nresident mole: You are shy.",
                "2: `resident KEY: PERSONA` comes before",
            ),
            ("Alice: /status", "1: a script knows one command, /quit"),
            ("Alice: /quit", "1: Alice leaves, but has not come before"),
            ("You: hi", "a name must not be or contain"),
            ("Alice: whisper Bob", "expected `whisper NAME = TEXT`"),
            ("Alice:", "1: the line is empty"),
        ] {
            let refused = read_text(text).unwrap_err();
            assert!(refused.contains(expected), "{text}: {refused}");
        }
    }
}
