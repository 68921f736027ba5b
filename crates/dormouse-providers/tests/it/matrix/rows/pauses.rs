//! How servers request a pause.

use std::time::Duration;

use dormouse_contracts::ModelErrorKind;

use crate::{
    double::{Answer, Dialect},
    matrix::{cell::Row, outcome::Outcome, scene::Scene},
};

pub(super) fn rows() -> Vec<Row> {
    let row = |what, scene, pause: Option<u64>| {
        let kind = ModelErrorKind::RateLimited(pause.map(Duration::from_secs));
        Row::new("`Retry-After`", what, scene, Outcome::Fails(kind))
    };
    vec![
        row("in seconds", |d| pause(d, 429, "retry-after: 7"), Some(7)),
        row(
            "in seconds, with 503",
            |d| pause(d, 503, "retry-after: 7"),
            Some(7),
        ),
        row(
            "a date, 30 s after the server's own",
            |d| {
                pause(
                    d,
                    429,
                    "date: Sat, 21 Nov 2026 10:15:00 GMT\r\nretry-after: Sat, 21 Nov 2026 10:15:30 GMT",
                )
            },
            Some(30),
        ),
        row(
            "the same, from a clock that is off by years",
            |d| {
                pause(
                    d,
                    429,
                    "date: Tue, 01 Jan 2002 00:00:00 GMT\r\nretry-after: Tue, 01 Jan 2002 00:00:30 GMT",
                )
            },
            Some(30),
        ),
        row(
            "a date, years after the server's own",
            |d| {
                pause(
                    d,
                    429,
                    "date: Tue, 01 Jan 2002 00:00:00 GMT\r\nretry-after: Sat, 21 Nov 2026 10:15:30 GMT",
                )
            },
            Some(3_600),
        ),
        row(
            "a date in the past",
            |d| {
                pause(
                    d,
                    429,
                    "date: Sat, 21 Nov 2026 10:15:00 GMT\r\nretry-after: Sat, 21 Nov 2026 10:14:00 GMT",
                )
            },
            Some(0),
        ),
        row(
            "a date, without a date of the server",
            |d| pause(d, 429, "retry-after: Sat, 21 Nov 2026 10:15:30 GMT"),
            None,
        ),
        row(
            "317 years",
            |d| pause(d, 429, "retry-after: 10000000000"),
            Some(3_600),
        ),
        row("negative", |d| pause(d, 429, "retry-after: -1"), None),
        row(
            "neither a number nor a date",
            |d| pause(d, 429, "retry-after: soon"),
            None,
        ),
    ]
}

fn pause(dialect: &dyn Dialect, status: u16, headers: &str) -> Scene {
    let headers = format!("content-type: application/json\r\n{headers}\r\n");
    let body = dialect.error_body(status, "slow down").to_string();
    Scene::of(Answer::status(status, &headers, body))
}
