//! Arguments that several commands take.

use std::{ops::RangeInclusive, path::PathBuf};

use clap::Args;
use dormouse_contracts::{AssistantId, Timestamp, Trust};
use dormouse_host::OPENER;
use dormouse_providers::EmbedderRef;

use super::output::Printing;

/// Where the files are.
#[derive(Clone, Debug, Args)]
pub(crate) struct Places {
    /// The folder that holds the log, the world, the memory and the history [default: dormouse in the user's data folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The configuration file [default: dormouse.toml in the data folder, if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Which assistant.
#[derive(Clone, Debug, Args)]
pub(crate) struct Whose {
    /// The assistant's key [default: the only one in the log, or the configured one]
    #[arg(long, value_name = "KEY")]
    pub(crate) assistant: Option<AssistantId>,
}

/// How a command prints.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct JsonFlag {
    /// Print one JSON object per line (docs/json-output.md)
    #[arg(long)]
    json: bool,
}

impl JsonFlag {
    /// How the command prints.
    pub(crate) fn printing(self) -> Printing {
        if self.json {
            Printing::Json
        } else {
            Printing::Text
        }
    }
}

/// Which encoder recall uses.
#[derive(Clone, Debug, Args)]
pub(crate) struct ByEncoder {
    /// The encoder to use instead of the configured one: folder:PATH, openai:MODEL[@URL], ollama:MODEL[@URL] or none
    #[arg(long, value_name = "ENCODER", value_parser = |text: &str| OPENER.parse(text))]
    pub(crate) embedder: Option<EmbedderRef>,
}

/// A text that is not a trust score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a number from 0 to 1")]
pub(crate) struct NotATrustScore;

/// Reads a trust score.
pub(crate) fn trust(text: &str) -> Result<Trust, NotATrustScore> {
    let score: f32 = text.parse().map_err(|_not_a_number| NotATrustScore)?;
    Trust::try_new(score).map_err(|_out_of_range| NotATrustScore)
}

/// A text that is not a whole number within bounds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a whole number from {} to {}", .0.start(), .0.end())]
pub(crate) struct NotAWholeNumber(RangeInclusive<u64>);

/// Reads whole numbers within these bounds.
pub(crate) fn whole<N: TryFrom<u64>>(
    bounds: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<N, NotAWholeNumber> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| bounds.contains(number));
        let number = number.and_then(|number| N::try_from(number).ok());
        number.ok_or_else(|| NotAWholeNumber(bounds.clone()))
    }
}

/// A text without words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected at least one word")]
pub(crate) struct NoWords;

/// Reads the words of a search.
pub(crate) fn query(text: &str) -> Result<String, NoWords> {
    match text.trim().is_empty() {
        true => Err(NoWords),
        false => Ok(text.to_owned()),
    }
}

/// A text that is not a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a time such as 2026-11-21, 2026-11-21T12:00 or 2026-11-21T12:00:00Z; UTC where no zone is given"
)]
pub(crate) struct NotATime;

/// Reads a time. Without a zone it is in UTC, and a date alone means midnight.
pub(crate) fn moment(text: &str) -> Result<Timestamp, NotATime> {
    let text = text.trim();
    ["", "Z", "T00:00:00Z"]
        .iter()
        .find_map(|rest| format!("{text}{rest}").parse().ok())
        .ok_or(NotATime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outside_of_its_bounds_is_refused_with_them() {
        let priority = whole::<u8>(1..=10);
        assert_eq!(priority("10"), Ok(10));
        for text in ["0", "11", "-1", "1.5", "x", "", "99999999999999999999"] {
            let refused = priority(text).map_err(|error| error.to_string());
            assert_eq!(
                refused,
                Err("expected a whole number from 1 to 10".to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn times_are_read_with_and_without_zone() {
        let noon = Ok(Timestamp::from_micros(1_795_262_400_000_000));
        for text in [
            "2026-11-21T12:00:00Z",
            "2026-11-21T13:00:00+01:00",
            "2026-11-21T12:00",
            "2026-11-21 12:00:00",
        ] {
            assert_eq!(moment(text), noon, "{text}");
        }
        assert_eq!(
            moment("2026-11-21").map(|at| at.to_string()).as_deref(),
            Ok("2026-11-21T00:00:00Z")
        );
        assert_eq!(moment("yesterday"), Err(NotATime));
    }
}
