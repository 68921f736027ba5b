//! Classification on one core.

use std::hint::black_box;

use dormouse_classify::{ClassifyConfig, classify, find_mention, source_trust};
use dormouse_contracts::{AssistantId, Perception, Words};
use dormouse_testing::Perceive;

use crate::{
    rate::per_second,
    table::{Row, Table, median},
};

/// How many classifications a round makes.
const SHORT: usize = 400_000;
const LONG: usize = 2_000;

pub(crate) fn measure(table: &mut Table) {
    let mixed = mixed();
    compare(table, "classification, mixed messages", &mixed, SHORT);
    let plain = Perceive::say("Alice", &filled("The kettle sings. ")).build();
    compare(
        table,
        "classification, 64 KiB without a mention",
        &[plain],
        LONG,
    );
    let signs = Perceive::say("Alice", &filled("@dormous3 ")).build();
    compare(
        table,
        "classification, 64 KiB of near mentions",
        &[signs],
        LONG,
    );
}

fn compare(table: &mut Table, what: &str, perceptions: &[Perception], count: usize) {
    let key = AssistantId::try_new("dormouse").unwrap();
    let config = ClassifyConfig::default();
    let measured = median(|| {
        per_second(count, || {
            for perception in perceptions.iter().cycle().take(count) {
                let Perception { attested, words } = black_box(perception);
                let mention = find_mention(words, &key);
                black_box(classify(attested, mention, &config));
                black_box(source_trust(attested, &config));
            }
        })
    });
    let baseline_measured = median(|| {
        per_second(count, || {
            for perception in perceptions.iter().cycle().take(count) {
                black_box(
                    black_box(perception)
                        .words
                        .as_claimed()
                        .contains("@dormouse"),
                );
            }
        })
    });
    table.add(&Row {
        what,
        measured,
        unit: "per second",
        baseline: "str::contains(\"@dormouse\") on the same texts",
        baseline_measured,
        note: String::new(),
    });
}

/// As long a message as there can be.
fn filled(piece: &str) -> String {
    piece.repeat(Words::LIMIT / piece.len())
}

/// Every kind of source, with and without mentions.
fn mixed() -> Vec<Perception> {
    let texts = [
        "Good morning, everybody.",
        "@dormouse, what does Alice prefer?",
        "Write to mouse@example.org, or ask Bob about the kettle in the blue box by the window.",
        "I told @dormouse-x that it rains; it did not believe me, and went out without its coat.",
    ];
    let mut mixed = Vec::new();
    for text in texts {
        mixed.extend([
            Perceive::say("Alice", text).build(),
            Perceive::whisper("Bob", text).build(),
            Perceive::addressed("Alice", text).build(),
            Perceive::page("Bob", text).build(),
            Perceive::channel("Alice", "public", text).build(),
            Perceive::pose("Bob", text).build(),
            Perceive::emit(text).build(),
            Perceive::say("Hedgehog", text).from_assistant().build(),
            Perceive::say("Dormouse", text).myself().build(),
            Perceive::command_output(text).build(),
        ]);
    }
    mixed
}
