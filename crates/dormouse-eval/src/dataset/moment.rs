//! Parses the dates of sessions in the formats of the published data sets.

use std::time::Duration;

use dormouse_contracts::Timestamp;
use jiff::{civil::DateTime, fmt::strtime, tz::TimeZone};

/// The formats of dates in the data sets.
const FORMS: [&str; 8] = [
    "%I:%M %p on %d %B, %Y",
    "%I:%M %p on %d %B %Y",
    "%Y/%m/%d (%a) %H:%M",
    "%Y/%m/%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%d.%m.%Y, %H:%M:%S",
];

/// Reads a time. The data sets name no time zone, so the time is read as UTC.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let read = |form: &&str| {
        let parts = strtime::parse(form, text).ok()?;
        parts.to_datetime().ok()
    };
    let at: DateTime = FORMS.iter().find_map(read)?;
    let at = at.to_zoned(TimeZone::UTC).ok()?;
    Some(Timestamp::from_micros(at.timestamp().as_microsecond()))
}

/// The time between two turns of a session.
const BETWEEN_TURNS: Duration = Duration::from_secs(1);
/// The time between two sessions whose dates are unknown.
pub(super) const BETWEEN_SESSIONS: Duration = Duration::from_secs(24 * 3600);

/// Assigns times to sessions.
#[derive(Debug, Default)]
pub(super) struct Calendar {
    last: Option<Timestamp>,
    /// Sessions without a readable date.
    pub(super) undated: usize,
}

impl Calendar {
    /// The start of a session with this date. If the date cannot be read, the session starts a day after the last one.
    pub(super) fn begin(&mut self, date: Option<&str>) -> Timestamp {
        let begun = date.and_then(parse).unwrap_or_else(|| {
            self.undated += 1;
            self.last
                .map_or(Timestamp::EPOCH, |last| last.plus(BETWEEN_SESSIONS))
        });
        self.last = Some(begun);
        begun
    }
}

/// The time of the turn with this number in a session that began at `begun`.
pub(super) fn of_turn(begun: Timestamp, turn: usize) -> Timestamp {
    begun.plus(BETWEEN_TURNS * u32::try_from(turn).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_they_are_published() {
        let parsed = |text| parse(text).map(|at| at.to_string());
        let expected = |text: &str| Some(text.to_owned());
        assert_eq!(
            parsed("1:56 pm on 8 May, 2023"),
            expected("2023-05-08T13:56:00Z")
        );
        assert_eq!(
            parsed("12:09 am on 13 September, 2023"),
            expected("2023-09-13T00:09:00Z")
        );
        assert_eq!(
            parsed("2023/12/18 (Mon) 04:17"),
            expected("2023-12-18T04:17:00Z")
        );
        assert_eq!(parsed("2023-12-18 04:17"), expected("2023-12-18T04:17:00Z"));
        assert_eq!(parsed("one fine day"), None);
        assert_eq!(parsed(""), None);
    }

    #[test]
    fn a_session_without_a_date_comes_a_day_after_the_one_before() {
        let mut calendar = Calendar::default();
        let first = calendar.begin(Some("1:56 pm on 8 May, 2023"));
        let second = calendar.begin(None);
        assert_eq!(second.since(first), BETWEEN_SESSIONS);
        assert_eq!(calendar.begin(Some("?")).since(second), BETWEEN_SESSIONS);
        assert_eq!(calendar.undated, 2);
    }
}
