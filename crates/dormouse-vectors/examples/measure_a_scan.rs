//! Measures how long an exact search takes and how much memory a point takes: `cargo run --release -p dormouse-vectors
//! --example measure_a_scan [POINTS] [DIMENSIONS]`.

#![expect(
    clippy::print_stdout,
    reason = "a program that prints what it measured"
)]

use std::{env, error::Error, time::Duration};

use dormouse_contracts::{
    AssistantId, CollectionName, Point, PointFilter, PointPayload, Timestamp, Trust, VectorIndex,
};
use dormouse_vectors::Exact;
use tokio::time::Instant;

const QUERIES: usize = 300;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let points: u64 = arguments.next().map_or(Ok(10_000), |text| text.parse())?;
    let dimensions: usize = arguments.next().map_or(Ok(384), |text| text.parse())?;

    let index = Exact::new();
    let memories = CollectionName::try_new("memories")?;
    index.prepare(&memories, dimensions).await?;
    let assistants = [AssistantId::try_new("alice")?, AssistantId::try_new("bob")?];
    let mut numbers = Numbers(1);

    let mut adding = Duration::ZERO;
    for from in (0..points).step_by(1_000) {
        let batch: Vec<Point> = (from..points.min(from + 1_000))
            .map(|id| point(id, numbers.vector(dimensions), &assistants))
            .collect();
        let started = Instant::now();
        index.upsert(&memories, &batch).await?;
        adding += started.elapsed();
    }
    println!(
        "{points} points of {dimensions}: added in {adding:?}, {} bytes a point",
        index.memory_bytes()? / points.max(1)
    );

    let whose = |assistant: &AssistantId| PointFilter {
        assistant: Some(assistant.clone()),
        min_trust: Some(Trust::NONE),
        from: Some(Timestamp::EPOCH),
        ..PointFilter::default()
    };
    for (name, filter) in [
        ("of all", PointFilter::default()),
        ("of alice, 9 in 10", whose(&assistants[0])),
        ("of bob, 1 in 10", whose(&assistants[1])),
    ] {
        let mut times = Vec::with_capacity(QUERIES);
        for _ in 0..QUERIES {
            let query = numbers.vector(dimensions);
            let started = Instant::now();
            index.search(&memories, &query, &filter, 50).await?;
            times.push(started.elapsed());
        }
        times.sort_unstable();
        let at = |percent: usize| times.get(QUERIES * percent / 100).copied();
        println!(
            "the 50 nearest {name}: p50 {:?}, p95 {:?}, p99 {:?}",
            at(50),
            at(95),
            at(99)
        );
    }
    Ok(())
}

fn point(id: u64, vector: Vec<f32>, assistants: &[AssistantId; 2]) -> Point {
    let [alice, bob] = assistants;
    let assistant = if id.is_multiple_of(10) { bob } else { alice };
    Point {
        id,
        vector,
        payload: PointPayload {
            assistant: assistant.clone(),
            trust: Trust::FULL,
            at: Timestamp::EPOCH,
        },
    }
}

/// A xorshift generator: the same vectors in every run.
struct Numbers(u64);

impl Numbers {
    /// A vector near one of 32 directions, as texts are near their topics.
    fn vector(&mut self, dimensions: usize) -> Vec<f32> {
        let mut topic = Numbers(1 + self.next() % 32);
        (0..dimensions)
            .map(|_| topic.number() + 2.0 * self.number())
            .collect()
    }

    fn number(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}
