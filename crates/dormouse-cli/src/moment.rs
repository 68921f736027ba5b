//! Times on the command line.

use dormouse_contracts::Timestamp;

/// A text that is no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "write a time as in 2026-11-21, 2026-11-21T12:00 or 2026-11-21T12:00:00Z; without a zone it is UTC"
)]
pub(crate) struct NoMoment;

/// Reads a time; one that names no zone is in UTC, and a date alone is its first moment.
pub(crate) fn moment(text: &str) -> Result<Timestamp, NoMoment> {
    let text = text.trim();
    ["", "Z", "T00:00:00Z"]
        .iter()
        .find_map(|rest| format!("{text}{rest}").parse().ok())
        .ok_or(NoMoment)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(moment("yesterday"), Err(NoMoment));
    }
}
