//! Points and filters in the server's format.

use std::collections::HashMap;

use dormouse_contracts::{Point, PointFilter, Timestamp, VectorErrorKind};
use qdrant_client::qdrant::{
    Condition, Filter, PointId, PointStruct, Range, ScoredPoint, Value, point_id::PointIdOptions,
};

use crate::direction;
use dormouse_contracts::Hit;

pub(super) const ASSISTANT: &str = "assistant";
pub(super) const TRUST: &str = "trust";
pub(super) const AT: &str = "at";

/// The most points in one request.
const POINTS_AT_ONCE: usize = 256;

/// The approximate limit of bytes in one request.
const BYTES_AT_ONCE: usize = 4 << 20;

/// The size of a point in bytes without its vector and the name of its assistant.
const BYTES_OF_A_POINT: usize = 96;

/// Cuts points into requests of at most 256 points and some 4 MiB, and at least one point.
pub(super) fn batches(points: &[Point]) -> impl Iterator<Item = &[Point]> {
    let mut rest = points;
    std::iter::from_fn(move || {
        let (batch, after) = rest.split_at_checked(fitting(rest))?;
        rest = after;
        (!batch.is_empty()).then_some(batch)
    })
}

fn fitting(points: &[Point]) -> usize {
    let mut bytes = 0_usize;
    let fit = points.iter().take(POINTS_AT_ONCE).take_while(|point| {
        bytes = bytes.saturating_add(size(point));
        bytes <= BYTES_AT_ONCE
    });
    fit.count().max(1).min(points.len())
}

fn size(point: &Point) -> usize {
    point.vector.len() * 4 + point.payload.assistant.as_str().len() + BYTES_OF_A_POINT
}

/// A normalised point: a server would normalise it too, but less precisely.
pub(super) fn point(point: &Point, dimensions: usize) -> Result<PointStruct, VectorErrorKind> {
    let payload = &point.payload;
    let payload: HashMap<String, Value> = HashMap::from([
        (ASSISTANT.to_owned(), payload.assistant.as_str().into()),
        (TRUST.to_owned(), f64::from(payload.trust.score()).into()),
        (AT.to_owned(), payload.at.as_micros().into()),
    ]);
    let unit = direction::unit(&point.vector, dimensions)?;
    Ok(PointStruct::new(point.id, unit, payload))
}

/// `None` if the filter admits every point.
pub(super) fn filter(filter: &PointFilter) -> Option<Filter> {
    let mut all = Vec::new();
    if let Some(assistant) = &filter.assistant {
        all.push(Condition::matches(ASSISTANT, assistant.as_str().to_owned()));
    }
    if let Some(least) = filter.min_trust {
        let range = Range {
            gte: Some(f64::from(least.score())),
            ..Range::default()
        };
        all.push(Condition::range(TRUST, range));
    }
    if filter.from.is_some() || filter.until.is_some() {
        let range = Range {
            gte: filter.from.map(time),
            lt: filter.until.map(time),
            ..Range::default()
        };
        all.push(Condition::range(AT, range));
    }
    (!all.is_empty()).then(|| Filter::must(all))
}

/// Ranges in the protocol have no integers. Floats are exact up to 2⁵³ µs, in the year 2255; later times are compared
/// to within a millisecond or so.
fn time(at: Timestamp) -> f64 {
    at.as_micros() as f64
}

/// The hit; `None` if its id is not a number (this index did not add such points), or its score is NaN.
pub(super) fn hit(point: &ScoredPoint) -> Option<Hit> {
    let Some(PointId {
        point_id_options: Some(PointIdOptions::Num(id)),
    }) = &point.id
    else {
        return None;
    };
    let score = point.score.clamp(-1.0, 1.0);
    (!score.is_nan()).then_some(Hit { id: *id, score })
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{AssistantId, PointPayload, Trust};

    use super::*;

    fn points(count: usize, dimensions: usize) -> Vec<Point> {
        let payload = PointPayload {
            assistant: AssistantId::try_new("alice").unwrap(),
            trust: Trust::FULL,
            at: Timestamp::EPOCH,
        };
        let point = |id| Point {
            id,
            vector: vec![1.0; dimensions],
            payload: payload.clone(),
        };
        (0..count as u64).map(point).collect()
    }

    fn sizes(points: &[Point]) -> Vec<usize> {
        batches(points).map(<[Point]>::len).collect()
    }

    #[test]
    fn requests_are_bounded_in_points_and_in_bytes() {
        assert_eq!(sizes(&[]), [0_usize; 0]);
        assert_eq!(sizes(&points(600, 4)), [256, 256, 88]);
        assert_eq!(sizes(&points(40, 65_536)), [15, 15, 10]);
        assert_eq!(sizes(&points(2, 2_000_000)), [1, 1]);
    }

    #[test]
    fn a_filter_without_parts_becomes_none() {
        assert_eq!(filter(&PointFilter::default()), None);
        let until = PointFilter {
            until: Some(Timestamp::from_micros(5)),
            ..PointFilter::default()
        };
        assert_eq!(filter(&until).unwrap().must.len(), 1);
    }
}
