//! How many points an index should have.

use std::collections::BTreeMap;

use crate::{
    record::Collection,
    store::{Fault, Reading},
};

/// How many points each collection of a space should have now: one for each record in use that has a usable vector.
pub(super) fn expected_points(
    reading: &Reading,
    space: u32,
) -> Result<BTreeMap<Collection, u64>, Fault> {
    let mut counts: BTreeMap<Collection, u64> = Collection::ALL
        .into_iter()
        .map(|collection| (collection, 0))
        .collect();
    for id in reading.embedded(space)? {
        if let Some(record) = reading.record(id)?
            && record.is_in_use()
        {
            *counts.entry(record.collection).or_default() += 1;
        }
    }
    Ok(counts)
}
