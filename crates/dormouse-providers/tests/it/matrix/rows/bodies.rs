//! Answers that are not streams, or badly framed.

use dormouse_contracts::ModelErrorKind;

use crate::{
    double::{Answer, Dialect, KEY},
    matrix::{
        cell::Row,
        outcome::Outcome,
        scene::Scene,
        story::{TEXT, body, shown, streamed},
    },
};

const HTML: &str = "<!doctype html><html><title>Log in, sk-secret-key</title></html>";
const JSON: &str = "content-type: application/json\r\n";

/// 10 MiB of zeros, as gzip. Several of them in sequence are valid gzip too.
const BOMB: &[u8] = include_bytes!("../../double/bomb.gz");

pub(super) fn rows() -> Vec<Row> {
    let malformed = Outcome::Fails(ModelErrorKind::Malformed);
    let interrupted = Outcome::Fails(ModelErrorKind::Interrupted);
    let unavailable = Outcome::Fails(ModelErrorKind::Unavailable);
    let row = |what, scene, outcome| Row::new("Bodies", what, scene, outcome);
    vec![
        row("HTML with 200", |_| html(200), malformed),
        row("HTML with 502", |_| html(502), unavailable),
        row(
            "HTML labelled as a stream",
            |d| Scene::of(body(d, HTML)),
            malformed,
        ),
        row(
            "HTML without a label",
            |_| Scene::of(Answer::status(200, "", HTML)),
            malformed,
        ),
        row(
            "plain JSON instead of a stream",
            |d| whole(d, JSON),
            Outcome::Reply,
        ),
        row(
            "`{}` with 200",
            |_| Scene::of(Answer::status(200, JSON, "{}")),
            malformed,
        )
        .but("Ollama", interrupted),
        row(
            "an empty body with 200",
            |d| {
                Scene::of(Answer::status(
                    200,
                    &format!("content-type: {}\r\n", d.media_type()),
                    "",
                ))
            },
            interrupted,
        ),
        row(
            "an empty body with 500",
            |_| Scene::of(Answer::status(500, "", "")),
            unavailable,
        ),
        row(
            "an empty body with 204",
            |_| Scene::of(Answer::status(204, "", "")),
            interrupted,
        ),
        row(
            "an unrequested gzip bomb: 100 MiB in 100 KB",
            |d| bomb(d, 200),
            malformed,
        )
        .containing("gzip"),
        row("the same with 502", |d| bomb(d, 502), unavailable).containing("gzip"),
        row(
            "the stream in an unknown encoding",
            |d| Scene::of(streamed(d, "content-encoding: sk-secret-key\r\n")),
            malformed,
        ),
        row(
            "a stream labelled as plain text",
            |d| labelled(d, "content-type: text/plain\r\n"),
            malformed,
        ),
        row(
            "a stream labelled in capitals",
            |d| {
                labelled(
                    d,
                    &format!("Content-Type: {}\r\n", d.media_type().to_uppercase()),
                )
            },
            Outcome::Reply,
        ),
        row(
            "a stream without a label",
            |d| labelled(d, ""),
            Outcome::Reply,
        ),
        row(
            "an error body with 200",
            |d| {
                let body = d
                    .error_body(500, "this is not possible, sk-secret-key")
                    .to_string();
                Scene::of(Answer::status(200, JSON, body))
            },
            unavailable,
        )
        .but("Ollama", interrupted),
        row(
            "chunks with an invalid length",
            |d| chunked(d, "sk\r\n"),
            interrupted,
        ),
        row("a chunk cut short", |d| chunked(d, "ffff\r\n"), interrupted),
        row(
            "`content-length` too short",
            |d| length(d, -60),
            interrupted,
        ),
        row(
            "`content-length` too long",
            |d| length(d, 1_000),
            Outcome::Reply,
        ),
        row(
            "an invalid `content-length`",
            |d| Scene::of(streamed(d, "content-length: many\r\n")),
            unavailable,
        ),
    ]
}

fn html(status: u16) -> Scene {
    Scene::of(Answer::status(
        status,
        "content-type: text/html; charset=utf-8\r\n",
        HTML,
    ))
}

fn whole(dialect: &dyn Dialect, headers: &str) -> Scene {
    Scene::of(Answer::status(
        200,
        headers,
        dialect.whole(TEXT).to_string(),
    ))
}

/// The whole reply, with this line for its type.
fn labelled(dialect: &dyn Dialect, line: &str) -> Scene {
    let head = format!("HTTP/1.1 200 OK\r\n{line}connection: close\r\n\r\n");
    Scene::of(Answer::raw(head).and(shown(dialect).all()))
}

fn bomb(dialect: &dyn Dialect, status: u16) -> Scene {
    let headers = format!(
        "content-type: {}\r\ncontent-encoding: gzip\r\nx-key: {KEY}\r\n",
        dialect.media_type()
    );
    Scene::of(Answer::status(status, &headers, BOMB.repeat(10)))
}

/// The reply begins in a whole chunk; this is the head of the next one.
fn chunked(dialect: &dyn Dialect, next: &str) -> Scene {
    let begun = shown(dialect).begun;
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {}\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{begun}\r\n{next}",
        dialect.media_type(),
        begun.len()
    );
    Scene::of(Answer::raw(head))
}

/// The whole reply, and a length that is wrong by so many bytes.
fn length(dialect: &dyn Dialect, wrong_by: isize) -> Scene {
    let shown = shown(dialect);
    let length = if wrong_by < 0 {
        shown.begun.len().saturating_add_signed(wrong_by)
    } else {
        shown.all().len().saturating_add_signed(wrong_by)
    };
    Scene::of(streamed(dialect, &format!("content-length: {length}\r\n")))
}
