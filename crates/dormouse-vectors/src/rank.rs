//! The order of the hits in an answer.

use std::cmp::Ordering;

use dormouse_contracts::Hit;

/// Orders two hits: the one with the higher score comes first. If the scores are equal, the lower id comes first.
pub(crate) fn rank(a: &Hit, b: &Hit) -> Ordering {
    b.score.total_cmp(&a.score).then(a.id.cmp(&b.id))
}
