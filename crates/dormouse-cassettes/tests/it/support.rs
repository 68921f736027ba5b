//! Shared code of the tests.

use std::time::Duration;

use dormouse_cassettes::{Ending, Recorder, RequestParts};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

pub(crate) fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
    let lines = lines.iter().map(|(name, value)| {
        (
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        )
    });
    lines.collect()
}

pub(crate) fn post<'a>(url: &'a str, headers: &'a HeaderMap, body: &'a [u8]) -> RequestParts<'a> {
    RequestParts {
        method: &Method::POST,
        url,
        headers,
        body,
    }
}

/// Records an exchange that is answered with these chunks.
pub(crate) fn record(recorder: &Recorder, request: RequestParts<'_>, chunks: &[&[u8]]) {
    let mut exchange = recorder.begin(request);
    let headers = headers(&[("content-type", "text/event-stream")]);
    exchange.answered(StatusCode::OK, &headers, Duration::from_millis(20));
    for chunk in chunks {
        exchange.chunk(chunk, Duration::from_millis(3));
    }
    exchange.ended(Ending::Whole);
}
