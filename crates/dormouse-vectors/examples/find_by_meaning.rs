//! An exact index with the memories of two assistants: `cargo run -p dormouse-vectors --example find_by_meaning`.

#![expect(clippy::print_stdout, reason = "a program that prints what it found")]

use std::error::Error;

use dormouse_contracts::{
    AssistantId, CollectionName, Point, PointFilter, PointPayload, Timestamp, Trust, VectorIndex,
};
use dormouse_vectors::Exact;

/// Who remembers it, the text, how far it is believed, and a vector: how much the text is about tea, ships and weather.
/// An encoder returns some hundred numbers for a text, and none of them has a name.
const MEMORIES: [(&str, &str, f32, [f32; 3]); 5] = [
    (
        "alice",
        "The kettle is in the blue box.",
        0.9,
        [0.9, 0.0, 0.1],
    ),
    ("alice", "The ferry leaves at six.", 0.8, [0.0, 1.0, 0.2]),
    ("alice", "Tea grows on the moon.", 0.1, [0.8, 0.1, 0.0]),
    ("alice", "It rained all morning.", 0.9, [0.1, 0.1, 1.0]),
    ("bob", "Two sugars, no milk.", 0.9, [1.0, 0.0, 0.0]),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let index = Exact::new();
    let memories = CollectionName::try_new("memories")?;
    index.prepare(&memories, 3).await?;

    let mut points = Vec::new();
    for (id, (assistant, _, trust, vector)) in (0..).zip(MEMORIES) {
        let payload = PointPayload {
            assistant: AssistantId::try_new(assistant)?,
            trust: Trust::try_new(trust)?,
            at: Timestamp::EPOCH,
        };
        points.push(Point {
            id,
            vector: vector.to_vec(),
            payload,
        });
    }
    index.upsert(&memories, &points).await?;

    let about_tea = [1.0, 0.0, 0.0];
    let what_alice_believes = PointFilter {
        assistant: Some(AssistantId::try_new("alice")?),
        min_trust: Some(Trust::try_new(0.5)?),
        ..PointFilter::default()
    };
    let hits = index
        .search(&memories, &about_tea, &what_alice_believes, 2)
        .await?;
    for hit in hits {
        if let Some((_, text, ..)) = MEMORIES.get(usize::try_from(hit.id)?) {
            println!("{:.2}  {text}", hit.score);
        }
    }
    Ok(())
}
