//! Replies that are too large, too slow, or endless.

use std::time::Duration;

use dormouse_contracts::ModelErrorKind;

use crate::{
    double::{Dialect, Step},
    matrix::{
        cell::Row,
        outcome::Outcome,
        scene::{Pace, Scene},
        story::{body, shown, streamed},
    },
};

const MIB: usize = 1024 * 1024;

pub(super) fn rows() -> Vec<Row> {
    let row = |what, scene, outcome| Row::new("Too much, too slow, endless", what, scene, outcome);
    let malformed = Outcome::Fails(ModelErrorKind::Malformed);
    vec![
        row(
            "a byte at a time",
            |d| Scene::of(streamed(d, "").singly()),
            Outcome::Reply,
        ),
        row("100 MB of text", text, malformed).containing("262144 bytes"),
        row("100 MB of keep-alives", nothings, malformed).containing("67108864 bytes"),
        row(
            "8 MB of blocks that begin and never end",
            beginnings,
            Outcome::Reply,
        )
        // Blocks are kept until they end.
        .but("Anthropic", malformed),
        row("100 MB in a single line", line, malformed).containing("1048576 bytes in one line"),
        row(
            "endless keep-alives and nothing else",
            |d| drip(d, shown(d).begun, 200),
            Outcome::Deadline,
        ),
        row(
            "nothing after the finish, and the connection stays open",
            |d| {
                let shown = shown(d);
                let counted = shown.begun + &shown.finish + before_the_mark(&shown.end);
                Scene::of(body(d, counted).then(Step::Silence)).pace(Pace::FromFinish)
            },
            Outcome::Reply,
        ),
        row(
            "endless keep-alives after the finish",
            |d| {
                let shown = shown(d);
                drip(
                    d,
                    shown.begun + &shown.finish + before_the_mark(&shown.end),
                    30_000,
                )
            },
            Outcome::Reply,
        ),
    ]
}

/// Everything except the last event, with which a server announces the end.
fn before_the_mark(end: &str) -> &str {
    let last = end.trim_end().rfind("\n\n").map_or(0, |at| at + 2);
    &end[..last]
}

fn text(dialect: &dyn Dialect) -> Scene {
    let piece = dormouse_contracts::ChatDelta::Text("x".repeat(64 * 1024));
    let event = dialect
        .stream(&[piece], &crate::double::Counted::Nothing)
        .begun;
    let flood = Step::Flood(event.into_bytes(), 100 * MIB / (64 * 1024));
    Scene::of(body(dialect, "").then(flood))
}

fn nothings(dialect: &dyn Dialect) -> Scene {
    let nothing = dialect.nothing(64 * 1024).into_bytes();
    Scene::of(
        body(dialect, shown(dialect).begun).then(Step::Flood(nothing, 100 * MIB / (64 * 1024))),
    )
}

fn beginnings(dialect: &dyn Dialect) -> Scene {
    let beginning = dialect.beginning();
    let flood = Step::Flood(
        beginning.repeat(100).into_bytes(),
        8 * MIB / (100 * beginning.len()),
    );
    Scene::of(body(dialect, "").then(flood).and(shown(dialect).all()))
}

fn line(dialect: &dyn Dialect) -> Scene {
    let begun = shown(dialect).begun;
    // An event that has begun, and whose line never ends.
    let cut = begun.trim_end().len() - 2;
    let flood = Step::Flood(vec![b'x'; 64 * 1024], 100 * MIB / (64 * 1024));
    Scene::of(body(dialect, &begun.as_bytes()[..cut]).then(flood))
}

fn drip(dialect: &dyn Dialect, before: String, deadline_millis: u64) -> Scene {
    let nothing = dialect.nothing(8).into_bytes();
    let drip = Step::Drip(nothing, Duration::from_millis(50));
    Scene::of(body(dialect, before).then(drip)).pace(Pace::Deadline(deadline_millis))
}
