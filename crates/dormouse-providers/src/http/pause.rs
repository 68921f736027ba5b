//! How long a server asks to be left alone.

use std::time::Duration;

use dormouse_contracts::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// The longest pause that is reported. A longer one is asked after once an hour: a clock or a unit that is wrong must not
/// silence an assistant for centuries.
pub(crate) const LONGEST: Duration = Duration::from_secs(60 * 60);

/// The pause asked for in `Retry-After` (or OpenAI's `retry-after-ms`), in seconds or as a date.
///
/// A date is held against the server's own `Date`, so that no clock is read and a wrong one does no harm; without
/// `Date` it says nothing. A pause of more than [`LONGEST`] counts as that.
pub(crate) fn asked_for(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(pause) = text("retry-after-ms").and_then(|ms| seconds(ms, 0.001)) {
        return Some(pause);
    }
    let asked = text(RETRY_AFTER.as_str())?;
    seconds(asked, 1.0).or_else(|| between(text(DATE.as_str())?, asked))
}

fn seconds(number: &str, unit: f64) -> Option<Duration> {
    let number: f64 = number.parse().ok().filter(|number| *number >= 0.0)?;
    Duration::try_from_secs_f64((number * unit).min(LONGEST.as_secs_f64())).ok()
}

/// From one HTTP date to the other; nothing if that is the past.
fn between(now: &str, then: &str) -> Option<Duration> {
    Some(http_date(then)?.since(http_date(now)?).min(LONGEST))
}

/// The time in a header such as `Date`.
pub(super) fn http_date(text: &str) -> Option<Timestamp> {
    let at = rfc2822::parse(text).ok()?.timestamp();
    Some(Timestamp::from_micros(at.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(pairs: &[(&'static str, &str)]) -> Option<Duration> {
        let pair = |(name, value): &(&'static str, &str)| {
            (
                reqwest::header::HeaderName::from_static(name),
                value.parse().unwrap(),
            )
        };
        asked_for(&pairs.iter().map(pair).collect())
    }

    #[test]
    fn a_pause_is_read_in_seconds_milliseconds_or_as_a_date() {
        let second = Duration::from_secs(1);
        assert_eq!(pause(&[("retry-after", "7")]), Some(7 * second));
        assert_eq!(pause(&[("retry-after", " 0.5 ")]), Some(second / 2));
        assert_eq!(
            pause(&[("retry-after", "7"), ("retry-after-ms", "250")]),
            Some(second / 4)
        );
        let now = ("date", "Sat, 21 Nov 2026 10:15:00 GMT");
        assert_eq!(
            pause(&[now, ("retry-after", "Sat, 21 Nov 2026 10:16:30 GMT")]),
            Some(90 * second)
        );
        assert_eq!(
            pause(&[now, ("retry-after", "Sat, 21 Nov 2026 10:14:00 GMT")]),
            Some(Duration::ZERO)
        );
    }

    #[test]
    fn no_pause_is_longer_than_an_hour() {
        for asked in ["3601", "10000000000", "1e300", "inf", &"9".repeat(400)] {
            assert_eq!(pause(&[("retry-after", asked)]), Some(LONGEST), "{asked}");
        }
        let now = ("date", "Sat, 21 Nov 2026 10:15:00 GMT");
        let then = ("retry-after", "Sat, 21 Nov 2099 10:15:00 GMT");
        assert_eq!(pause(&[now, then]), Some(LONGEST));
        assert_eq!(pause(&[("retry-after", "3600")]), Some(LONGEST));
        assert_eq!(pause(&[("retry-after-ms", "3600001")]), Some(LONGEST));
    }

    #[test]
    fn what_is_no_pause_says_nothing() {
        assert_eq!(pause(&[]), None);
        for asked in [
            "",
            "soon",
            "-1",
            "NaN",
            "-1e300",
            "Sat, 21 Nov 2026 10:16:30 GMT",
        ] {
            assert_eq!(pause(&[("retry-after", asked)]), None, "{asked}");
        }
    }
}
