//! Finds lines of a conversation, and says why.
//!
//! `cargo run -p dormouse-retrieval --example first`
#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use dormouse_contracts::Timestamp;
use dormouse_retrieval::{Index, SearchQuery, Unit};

const LINES: [(&str, &str); 6] = [
    ("Alice", "I finally went to the pottery class on Saturday."),
    ("Bob", "How was it? What did you make?"),
    ("Alice", "A teapot. It leaks, but I am proud of it!"),
    ("Bob", "My brother says the ferry to the island runs again."),
    ("Alice", "Then let us go there next week."),
    ("Bob", "Bring the teapot. We will drink fast."),
];

fn main() {
    let mut index = Index::default();
    for (id, (speaker, text)) in (1..).zip(LINES) {
        index.insert(&Unit {
            id,
            text,
            speaker: Some(speaker.into()),
            thread: Some("alice and bob"),
            at: Timestamp::from_micros(1_790_000_000_000_000),
        });
    }
    let question = "What did Alice make in the pottery class?";
    println!("{question}");
    for found in index.search(&SearchQuery::new(question), 3) {
        let line = usize::try_from(found.id).unwrap_or(0).saturating_sub(1);
        let (speaker, text) = LINES.get(line).copied().unwrap_or_default();
        println!("{:.2}  {speaker}: {text}", found.score);
        for (feature, part) in found.parts.iter() {
            println!("      {part:+.2} {}", feature.name());
        }
    }
}
