//! Reads request ids and rate limits from the headers of an answer.

use std::time::Duration;

use dormouse_contracts::{Allowance, RateLimits, Timestamp};
use reqwest::header::{DATE, HeaderMap};

use super::{pause::http_date, redact::Redact};

/// The longest accepted reset time. Vendors have daily limits, but no limits over a longer time.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest request id that is kept, in bytes.
const NAME_LIMIT: usize = 256;

/// The headers with the request id, the most specific first.
const REQUEST_IDS: [&str; 4] = [
    "x-request-id",
    "request-id",
    "x-generation-id",
    "x-amzn-requestid",
];

/// Returns the server's id of the request.
pub(crate) fn request_id(headers: &HeaderMap, redact: &Redact) -> Option<String> {
    let id = REQUEST_IDS.iter().find_map(|name| text(headers, name))?;
    (id.len() <= NAME_LIMIT).then(|| redact.line(id))
}

/// Returns the rate limits, from the headers of OpenAI and compatible servers (`x-ratelimit-remaining-requests`),
/// Anthropic (`anthropic-ratelimit-requests-remaining`) and OpenRouter (`x-ratelimit-remaining`).
pub(crate) fn rate_limits(headers: &HeaderMap) -> RateLimits {
    // Most servers have none, and each of the names below has to be made.
    if !headers
        .keys()
        .any(|name| name.as_str().contains("ratelimit"))
    {
        return RateLimits::default();
    }
    let openai = |what: &str| allowance(headers, |part| format!("x-ratelimit-{part}-{what}"));
    let anthropic =
        |what: &str| allowance(headers, |part| format!("anthropic-ratelimit-{what}-{part}"));
    let plain = || allowance(headers, |part| format!("x-ratelimit-{part}"));
    RateLimits {
        requests: openai("requests")
            .or_else(|| anthropic("requests"))
            .or_else(plain),
        tokens: openai("tokens")
            .or_else(|| anthropic("tokens"))
            .or_else(|| anthropic("input-tokens")),
    }
}

fn allowance(headers: &HeaderMap, name: impl Fn(&str) -> String) -> Option<Allowance> {
    let number = |part| text(headers, &name(part))?.parse().ok();
    let reset = text(headers, &name("reset"));
    let allowance = Allowance {
        limit: number("limit"),
        remaining: number("remaining"),
        resets_in: reset.and_then(|reset| resets_in(headers, reset)),
    };
    (allowance != Allowance::default()).then_some(allowance)
}

/// A timestamp of at least this value is in milliseconds: in seconds it would be in the year 5138 or later.
const MILLIS_FROM: i64 = 100_000_000_000;

/// Returns the time until a limit resets, at most [`LONGEST`]. The header contains a span such as `6m0.5s` or `120ms`,
/// a number of seconds, or a moment (RFC 3339, or seconds or milliseconds since 1970). A moment is relative to the
/// server's own `Date`.
fn resets_in(headers: &HeaderMap, reset: &str) -> Option<Duration> {
    if let Some(span) = span(reset) {
        return Some(span.min(LONGEST));
    }
    let at = match reset.parse::<i64>() {
        Ok(seconds) if seconds < MILLIS_FROM => {
            Timestamp::from_micros(seconds.saturating_mul(1_000_000))
        }
        Ok(millis) => Timestamp::from_micros(millis.saturating_mul(1_000)),
        Err(_) => reset.parse().ok()?,
    };
    let now = http_date(text(headers, DATE.as_str())?)?;
    Some(at.since(now).min(LONGEST))
}

/// Parses a span of hours, minutes, seconds and milliseconds; a number without a unit is seconds, unless it is a
/// timestamp.
fn span(text: &str) -> Option<Duration> {
    let seconds = |number: f64| Duration::try_from_secs_f64(number).ok();
    if let Ok(number) = text.parse::<f64>() {
        return (number < 1e9).then(|| seconds(number)).flatten();
    }
    let (mut rest, mut sum) = (text, Duration::ZERO);
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, behind) = rest.split_at_checked(end)?;
        let unit_end = behind.find(|c: char| !c.is_ascii_alphabetic());
        let (unit, left) = behind.split_at_checked(unit_end.unwrap_or(behind.len()))?;
        let unit = match unit {
            "d" => 86_400.0,
            "h" => 3_600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 0.001,
            _ => return None,
        };
        sum = sum.saturating_add(seconds(number.parse::<f64>().ok()? * unit)?);
        rest = left;
    }
    (!text.is_empty()).then_some(sum)
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let value = headers.get(name)?.to_str().ok()?.trim();
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderName;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), value.parse().unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    fn left(limit: u64, remaining: u64, millis: u64) -> Option<Allowance> {
        Some(Allowance {
            limit: Some(limit),
            remaining: Some(remaining),
            resets_in: Some(Duration::from_millis(millis)),
        })
    }

    #[test]
    fn the_limits_of_each_vendor_are_read() {
        let openai = headers(&[
            ("x-ratelimit-limit-requests", "60"),
            ("x-ratelimit-remaining-requests", "59"),
            ("x-ratelimit-reset-requests", "1.5s"),
            ("x-ratelimit-limit-tokens", "150000"),
            ("x-ratelimit-remaining-tokens", "149984"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ]);
        let expected = RateLimits {
            requests: left(60, 59, 1_500),
            tokens: left(150_000, 149_984, 360_000),
        };
        assert_eq!(rate_limits(&openai), expected);
        let anthropic = headers(&[
            ("date", "Sat, 21 Nov 2026 10:15:00 GMT"),
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2026-11-21T10:15:30Z"),
            ("anthropic-ratelimit-input-tokens-remaining", "9000"),
        ]);
        let read = rate_limits(&anthropic);
        assert_eq!(read.requests, left(50, 0, 30_000));
        assert_eq!(read.tokens.unwrap().remaining, Some(9_000));
        let openrouter = headers(&[
            ("date", "Sat, 21 Nov 2026 10:15:00 GMT"),
            ("x-ratelimit-limit", "20"),
            ("x-ratelimit-remaining", "3"),
            ("x-ratelimit-reset", "1795256160000"),
        ]);
        assert_eq!(rate_limits(&openrouter).requests, left(20, 3, 60_000));
        let in_seconds = headers(&[
            ("date", "Sat, 21 Nov 2026 10:15:00 GMT"),
            ("x-ratelimit-limit-requests", "20"),
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "1795256160"),
        ]);
        assert_eq!(rate_limits(&in_seconds).requests, left(20, 0, 60_000));
    }

    #[test]
    fn invalid_limits_are_ignored() {
        assert_eq!(rate_limits(&HeaderMap::new()), RateLimits::default());
        for reset in ["soon", "-1s", "5y", "s", "1e400s", "NaNs"] {
            let headers = headers(&[("x-ratelimit-reset-tokens", reset)]);
            assert_eq!(rate_limits(&headers).tokens, None, "{reset}");
        }
        let far = headers(&[("x-ratelimit-reset-tokens", "99999h")]);
        assert_eq!(rate_limits(&far).tokens.unwrap().resets_in, Some(LONGEST));
    }

    #[test]
    fn the_request_id_is_read_from_every_servers_header() {
        let redact = Redact::default();
        let id = |pairs| request_id(&headers(pairs), &redact);
        assert_eq!(id(&[("request-id", "req_1")]).as_deref(), Some("req_1"));
        let long = "x".repeat(257);
        assert_eq!(
            request_id(&headers(&[("request-id", &long)]), &redact),
            None
        );
        assert_eq!(id(&[]), None);
    }
}
