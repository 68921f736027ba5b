//! How many points the earlier entries of an assistant had.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::entry::Importance;

/// How often each number of points occurred, with newer entries counting more.
///
/// In JSON it is an object from points to counts: `{"5":12,"7":30}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ImportanceHistory(BTreeMap<i8, u32>);

impl ImportanceHistory {
    /// The number of entries from which a rank is meaningful.
    pub const LEAST: u32 = 30;
    /// At this number of entries all counts are halved, so that recent entries count more.
    const FULL: u32 = 2_000;

    /// The sum of all counts.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.0
            .values()
            .fold(0, |all, count| all.saturating_add(*count))
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts an entry.
    pub fn count(&mut self, points: i8) {
        let count = self.0.entry(points).or_default();
        *count = count.saturating_add(1);
        if self.len() >= Self::FULL {
            for count in self.0.values_mut() {
                *count /= 2;
            }
            self.0.retain(|_, count| *count > 0);
        }
    }

    /// The importance by rank: in tenths, the middle rank of the entries with this number of points, the new one
    /// included. `None` if there are too few entries.
    #[must_use]
    pub fn importance(&self, points: i8) -> Option<Importance> {
        let all = self.len();
        if all < Self::LEAST {
            return None;
        }
        let below = self.0.range(..points).map(|(_, count)| u64::from(*count));
        let below: u64 = below.sum();
        let equal = u64::from(self.0.get(&points).copied().unwrap_or(0)) + 1;
        // The middle of equal places is `below + equal / 2`; everything is doubled to stay with whole numbers.
        let tenth = (10 * (2 * below + equal)).div_ceil(2 * (u64::from(all) + 1));
        i64::try_from(tenth).ok().map(Importance::clamped)
    }
}
