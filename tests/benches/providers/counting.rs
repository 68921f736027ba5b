//! Counting tokens of prose: this project's own documents.

use std::{fs, hint::black_box};

use dormouse_contracts::{ModelName, TokenCounter};
use dormouse_providers::{Estimate, Tiktoken};

use crate::table::{Row, Table, median, now};

/// A megabyte.
const BYTES: usize = 1_000_000;

pub(crate) fn measure(table: &mut Table) {
    let text = prose();
    let paragraphs: Vec<&str> = text.split_inclusive("\n\n").collect();
    let model = ModelName::try_new("gpt-4.1-mini").unwrap();
    let counter = Tiktoken::for_model(&model).unwrap();
    let bare = tiktoken_rs::o200k_base_singleton();
    let fastest = bpe_openai::o200k_base();
    let counts = [
        counter.count(&text).tokens as usize,
        bare.count_ordinary(&text),
        fastest.count(&text),
    ];
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    let baseline_measured = per_megabyte(&paragraphs, |text| bare.count_ordinary(text));
    let mut row = |what, measured| {
        table.add(&Row {
            what,
            measured,
            unit: "ms a MB",
            baseline: "plain tiktoken-rs, the same vocabulary",
            baseline_measured,
            note: format!("{} tokens, by paragraphs", counts[0]),
        });
    };
    row(
        "counting tokens, exact",
        per_megabyte(&paragraphs, |text| counter.count(text).tokens as usize),
    );
    row(
        "bpe-openai, exact, for the record",
        per_megabyte(&paragraphs, |text| fastest.count(text)),
    );
    let estimate = Estimate::default();
    row(
        "counting tokens, by estimate",
        per_megabyte(&paragraphs, |text| estimate.count(text).tokens as usize),
    );
}

fn per_megabyte(paragraphs: &[&str], count: impl Fn(&str) -> usize) -> f64 {
    median(|| {
        let started = now();
        for paragraph in paragraphs {
            black_box(count(black_box(paragraph)));
        }
        now().duration_since(started).as_secs_f64() * 1e3
    })
}

/// A megabyte of the documents of this project, again and again.
fn prose() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let read = files.iter().map(|file| fs::read_to_string(file).unwrap());
    let once: String = read.collect();
    let mut text = once.repeat(BYTES / once.len() + 1);
    let end = (0..=BYTES).rev().find(|at| text.is_char_boundary(*at));
    text.truncate(end.unwrap());
    text
}
