//! Connections that end, and answers that are not HTTP.

use dormouse_contracts::ModelErrorKind;

use crate::{
    double::{Answer, Dialect, Step},
    matrix::{
        cell::Row,
        outcome::Outcome,
        scene::{Pace, SECOND_HOST, Scene},
        story::{body, shown, streamed},
    },
};

pub(super) fn rows() -> Vec<Row> {
    let row = |what, scene, kind| Row::new("Connections", what, scene, Outcome::Fails(kind));
    vec![
        row(
            "reset before the request is read",
            |_| {
                Scene::of(Answer {
                    unread: true,
                    ..Answer::default()
                })
            },
            ModelErrorKind::Unavailable,
        )
        .unasked(),
        row(
            "closed before an answer, as by a proxy after 60 s",
            |_| Scene::of(Answer::default()),
            ModelErrorKind::Unavailable,
        ),
        row(
            "closed within the head",
            |_| Scene::of(Answer::raw("HTTP/1.1 200 OK\r\ncontent-ty")),
            ModelErrorKind::Unavailable,
        ),
        row(
            "closed after the head",
            |d| Scene::of(body(d, "")),
            ModelErrorKind::Interrupted,
        ),
        row(
            "closed within the reply, as by a proxy after 60 s",
            |d| Scene::of(body(d, shown(d).begun)),
            ModelErrorKind::Interrupted,
        ),
        row(
            "closed within an event",
            |d| {
                let begun = shown(d).begun;
                Scene::of(body(d, &begun.as_bytes()[..begun.len() - 9]))
            },
            ModelErrorKind::Interrupted,
        ),
        closed_behind_the_finish(),
        row(
            "silent before an answer, for a minute",
            |_| Scene::of(Answer::default().then(Step::Silence)).pace(Pace::FromRequest),
            ModelErrorKind::TimedOut,
        ),
        row(
            "silent within the reply, for a minute",
            |d| Scene::of(body(d, shown(d).begun).then(Step::Silence)).pace(Pace::FromText),
            ModelErrorKind::TimedOut,
        ),
        row(
            "not HTTP",
            |_| Scene::of(Answer::raw("220 mail.example ESMTP ready\r\n\r\n")),
            ModelErrorKind::Unavailable,
        ),
        row(
            "100 headers of 8 KB",
            |d| {
                let line = |n: usize| format!("x-filler-{n}: {}\r\n", "x".repeat(8 * 1024));
                Scene::of(streamed(d, &(0..100).map(line).collect::<String>()))
            },
            ModelErrorKind::Unavailable,
        ),
        whole("103 before the answer", |d| {
            before(d, "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n")
        }),
        whole("HTTP/1.0", |d| {
            let head = format!(
                "HTTP/1.0 200 OK\r\ncontent-type: {}\r\n\r\n",
                d.media_type()
            );
            Scene::of(Answer::raw(head).and(shown(d).all()))
        }),
        whole("headers that are not text", |d| {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {}\r\nx-request-id: ",
                d.media_type()
            );
            let head = [head.as_bytes(), b"\xff\xfe\r\nretry-after: \xff\r\n\r\n"].concat();
            Scene::of(Answer::raw(head).and(shown(d).all()))
        }),
        row(
            "302 to another server",
            |_| {
                let location = format!("location: {SECOND_HOST}/v1\r\n");
                Scene::of(Answer::status(302, &location, ""))
            },
            ModelErrorKind::NotFound,
        ),
        row(
            "307 to another server",
            |_| {
                let location = format!("location: {SECOND_HOST}/v1\r\n");
                Scene::of(Answer::status(307, &location, ""))
            },
            ModelErrorKind::NotFound,
        ),
    ]
}

fn whole(what: &'static str, scene: fn(&dyn Dialect) -> Scene) -> Row {
    Row::new("Connections", what, scene, Outcome::Reply)
}

/// The whole reply, and these bytes before its head.
fn before(dialect: &dyn Dialect, head: &str) -> Scene {
    let mut scene = Scene::of(Answer::raw(head));
    scene.answer.steps.extend(streamed(dialect, "").steps);
    scene
}

/// Some count what it cost only behind it.
fn closed_behind_the_finish() -> Row {
    let scene = |d: &dyn Dialect| {
        let shown = shown(d);
        Scene::of(body(d, shown.begun + &shown.finish))
    };
    Row::new(
        "Connections",
        "closed after the finish",
        scene,
        Outcome::Reply,
    )
    .but("OpenAI", Outcome::Uncounted)
    .but("OpenRouter", Outcome::Uncounted)
    .but("local", Outcome::Uncounted)
}
