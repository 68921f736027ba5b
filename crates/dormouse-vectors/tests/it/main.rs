//! What the crate promises, through its public interface.
#![expect(
    clippy::unwrap_used,
    reason = "the lints know tests from their attribute; these are also the functions tests share"
)]

mod broken;
#[cfg(feature = "qdrant-edge")]
mod edge;
mod exact;
#[cfg(feature = "qdrant")]
mod qdrant;
#[cfg(feature = "qdrant")]
mod real_server;

use dormouse_contracts::{AssistantId, CollectionName, Point, PointPayload, Timestamp, Trust};

fn memories() -> CollectionName {
    CollectionName::try_new("memories").unwrap()
}

/// Points that differ in number and direction only.
fn points(ids: impl IntoIterator<Item = u64>) -> Vec<Point> {
    let payload = PointPayload {
        assistant: AssistantId::try_new("alice").unwrap(),
        trust: Trust::FULL,
        at: Timestamp::EPOCH,
    };
    let point = |id: u64| Point {
        id,
        vector: vec![1.0, id as f32],
        payload: payload.clone(),
    };
    ids.into_iter().map(point).collect()
}

#[cfg(any(feature = "qdrant", feature = "qdrant-edge"))]
fn kind<T>(
    result: Result<T, dormouse_contracts::VectorError>,
) -> Option<dormouse_contracts::VectorErrorKind> {
    result.err().map(|error| error.kind())
}
