//! Which lines of a head are recorded. All others are dropped, whatever they hold.

use http::{HeaderMap, HeaderName};

/// Of a request.
const OF_REQUESTS: [&str; 7] = [
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "content-encoding",
    "content-type",
    "openai-beta",
    "user-agent",
];
/// Of a response. The length is not among them, since scrubbing changes it.
const OF_RESPONSES: [&str; 11] = [
    "content-encoding",
    "content-type",
    // A pause may be told as a date, which means something only beside the server's own clock.
    "date",
    "openai-model",
    "openai-processing-ms",
    "openai-version",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "x-request-id",
    "x-should-retry",
];
/// Beginnings of further ones of a response: how much may still be asked.
const LIMITS_OF_RESPONSES: [&str; 3] = ["anthropic-ratelimit-", "ratelimit-", "x-ratelimit-"];
/// What is never recorded, even if asked for.
const NEVER: [&str; 13] = [
    "anthropic-organization-id",
    "api-key",
    "authorization",
    "cookie",
    "openai-organization",
    "openai-project",
    "proxy-authenticate",
    "proxy-authorization",
    "set-cookie",
    "x-api-key",
    "x-forwarded-for",
    "x-goog-api-key",
    "x-real-ip",
];

/// Whose head it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Request,
    Response,
}

pub(crate) fn is_never_recorded(name: &str) -> bool {
    NEVER.contains(&name)
}

pub(crate) fn is_harmless(side: Side, name: &str, further: &[HeaderName]) -> bool {
    let listed = match side {
        Side::Request => OF_REQUESTS.contains(&name),
        Side::Response => {
            OF_RESPONSES.contains(&name)
                || LIMITS_OF_RESPONSES
                    .iter()
                    .any(|limit| name.starts_with(limit))
        }
    };
    listed || further.iter().any(|known| known.as_str() == name)
}

/// The harmless lines of a head, not yet scrubbed. What is no UTF-8 in them is replaced.
pub(crate) fn harmless(
    side: Side,
    headers: &HeaderMap,
    further: &[HeaderName],
) -> Vec<(String, String)> {
    let harmless = headers
        .iter()
        .filter(|(name, _)| is_harmless(side, name.as_str(), further));
    harmless
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lets_somebody_in_is_on_no_list() {
        let listed = OF_REQUESTS.iter().chain(&OF_RESPONSES);
        for name in listed.chain(&NEVER) {
            assert_eq!(*name, name.to_ascii_lowercase());
        }
        for name in NEVER {
            assert!(!is_harmless(Side::Request, name, &[]), "{name}");
            assert!(!is_harmless(Side::Response, name, &[]), "{name}");
        }
        assert!(is_harmless(
            Side::Response,
            "x-ratelimit-remaining-tokens",
            &[]
        ));
        assert!(!is_harmless(Side::Request, "x-request-id", &[]));
    }
}
