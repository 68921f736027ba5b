//! The headers that are recorded. All others are dropped.

use http::{HeaderMap, HeaderName};

/// Recorded headers of a request.
const OF_REQUESTS: [&str; 7] = [
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "content-encoding",
    "content-type",
    "openai-beta",
    "user-agent",
];
/// Recorded headers of a response. `content-length` is not recorded, because scrubbing changes the length.
const OF_RESPONSES: [&str; 11] = [
    "content-encoding",
    "content-type",
    // `retry-after` may be a date. To compute the pause, a replay needs the server's date.
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
/// Prefixes of further response headers: remaining limits.
const LIMITS_OF_RESPONSES: [&str; 3] = ["anthropic-ratelimit-", "ratelimit-", "x-ratelimit-"];
/// Headers that are never recorded, even if the configuration lists them.
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

/// The sender of a header.
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

/// Returns the harmless headers, not scrubbed yet. Bytes that are not UTF-8 are replaced.
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
    fn credential_headers_are_on_no_list() {
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
