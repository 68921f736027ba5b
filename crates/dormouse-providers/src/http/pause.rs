//! The pause that a server requests.

use std::time::Duration;

use dormouse_contracts::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// The longest accepted pause. If a server requests a longer one, it is tried again after an hour: a wrong clock or
/// unit must not stop an assistant for years.
pub(crate) const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Returns the pause in `Retry-After` (or OpenAI's `retry-after-ms`), at most [`LONGEST`].
///
/// `Retry-After` contains seconds or a date. A date is compared with the server's own `Date`, so no local clock is
/// read. Without `Date`, it is ignored.
pub(crate) fn requested(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(pause) = text("retry-after-ms").and_then(|ms| seconds(ms, 0.001)) {
        return Some(pause);
    }
    let requested = text(RETRY_AFTER.as_str())?;
    seconds(requested, 1.0).or_else(|| between(text(DATE.as_str())?, requested))
}

fn seconds(number: &str, unit: f64) -> Option<Duration> {
    let number: f64 = number.parse().ok().filter(|number| *number >= 0.0)?;
    Duration::try_from_secs_f64((number * unit).min(LONGEST.as_secs_f64())).ok()
}

/// Returns the time from one HTTP date to the other; `None` if the second is earlier.
fn between(now: &str, then: &str) -> Option<Duration> {
    Some(http_date(then)?.since(http_date(now)?).min(LONGEST))
}

/// Parses a date header.
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
        requested(&pairs.iter().map(pair).collect())
    }

    #[test]
    fn a_pause_may_be_seconds_milliseconds_or_a_date() {
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
    fn invalid_pauses_are_ignored() {
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
