//! The order in which hits are answered.

use std::cmp::Ordering;

use dormouse_contracts::Hit;

/// Orders two hits: the better one first, of equal ones that of the lower number.
pub(crate) fn rank(a: &Hit, b: &Hit) -> Ordering {
    b.score.total_cmp(&a.score).then(a.id.cmp(&b.id))
}
