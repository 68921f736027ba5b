//! Looking for secrets, on one core.

use std::hint::black_box;

use dormouse_redact::{RedactionProfile, scan};
use regex::bytes::Regex;

use crate::{
    rate::per_second,
    table::{Row, Table, median},
};

/// How much a round looks through.
const ROUND: usize = 1 << 20;
const LONG: usize = 64 << 10;
const SHORT: usize = 8 << 10;

pub(crate) fn measure(table: &mut Table) {
    let chat = "Alice gives Bob 12 coins for the kettle in the blue box, and says that it sings at 98 degrees. ";
    compare(
        table,
        "secrets in chat, remembered",
        chat,
        200,
        RedactionProfile::Memory,
    );
    compare(
        table,
        "secrets in chat, 64 KiB, remembered",
        chat,
        LONG,
        RedactionProfile::Memory,
    );
    let body = r#"{"role":"user","content":"Write to Alice, \"the one by the mill\", at 10:30; it is 2 km away.","id":"msg_0a1b2c3d"},"#;
    compare(
        table,
        "secrets in a body, 64 KiB, recorded",
        body,
        LONG,
        RedactionProfile::Recordings,
    );
    compare(
        table,
        "secrets in an error, 300 bytes",
        body,
        300,
        RedactionProfile::Errors,
    );
    for profile in [RedactionProfile::Memory, RedactionProfile::Inspection] {
        worst(table, profile);
    }
}

fn compare(table: &mut Table, what: &str, piece: &str, length: usize, profile: RedactionProfile) {
    let text = piece.repeat(length.div_ceil(piece.len()));
    let text = text.as_bytes().get(..length).unwrap_or(text.as_bytes());
    let one = Regex::new("(?-u)[A-Za-z0-9_-]{20,}").unwrap();
    table.add(&Row {
        what,
        measured: megabytes(text, |text| scan(text, profile).len()),
        unit: "MB/s",
        baseline: "one regular expression for long words, on the same text",
        baseline_measured: megabytes(text, |text| one.find_iter(text).count()),
        note: String::new(),
    });
}

/// The text of one piece that takes most, at 64 KiB compared with 8 KiB. If anything were read again and again, the longer text would be
/// eight times slower.
fn worst(table: &mut Table, profile: RedactionProfile) {
    // The best of several, since the machine may pause.
    let speed = |piece: &str, length: usize| {
        let text = piece.repeat(length / piece.len());
        let rounds = (0..3).map(|_| once(text.as_bytes(), ROUND, |text| scan(text, profile).len()));
        rounds.fold(0.0, f64::max)
    };
    let rows = PIECES
        .iter()
        .map(|piece| (*piece, speed(piece, LONG), speed(piece, SHORT)));
    let worst = rows.min_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)));
    let (piece, measured, baseline_measured) = worst.unwrap();
    let what = format!("secrets, 64 KiB of the worst piece, {profile:?}");
    table.add(&Row {
        what: &what,
        measured,
        unit: "MB/s",
        baseline: "8 KiB of the same piece",
        baseline_measured,
        note: format!("{piece:?}, the worst of {}", PIECES.len()),
    });
}

/// Pieces that make a careless scan begin again and again.
const PIECES: &[&str] = &[
    "a",
    "4",
    "[",
    "%61",
    "\\u0061",
    "\u{200b}",
    "password:",
    "password=",
    "password is a",
    "password for a ",
    "password=\"",
    "token=",
    "token:\"",
    "secret=a\\",
    "curl  ",
    "sk-",
    "sk-a.",
    "hf_a_hf_",
    "SG.a",
    "AKIAA",
    "eyJ-",
    "eyJhb.",
    "M.abcdef.",
    "bearer a",
    "://a:b",
    "://a:b@c",
    "a@b.",
    "\u{2f}home/a",
    "-----BEGIN PRIVATE KEY",
    "+1",
    "1.",
    "a:",
    "4111-",
    "[secret: ",
    "YWJj",
    "a1b2c3d4\n",
];

/// How many million bytes a second `work` looks through.
fn megabytes(text: &[u8], work: impl Fn(&[u8]) -> usize) -> f64 {
    median(|| once(text, ROUND, &work))
}

fn once(text: &[u8], bytes: usize, work: impl Fn(&[u8]) -> usize) -> f64 {
    let times = (bytes / text.len()).max(1);
    let often = per_second(times, || {
        for _ in 0..times {
            black_box(work(black_box(text)));
        }
    });
    often * text.len() as f64 / 1e6
}
