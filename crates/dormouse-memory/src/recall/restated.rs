//! Journal entries that repeat what is recalled anyway.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_retrieval::terms;

use super::Recollection;
use crate::record::{Collection, RecordId};

/// How many more matches are searched for than wanted, because some may be left out.
pub(super) const SPARE: usize = 8;
/// An entry says more than its sources if more than one in this many of its words is new.
const NEW_WORD_IN: usize = 5;

/// The matches without journal entries that say little more than the matches that they were made from: nobody needs
/// both, and the sources have the original words.
pub(super) fn left_out(mut matches: Vec<Recollection>) -> Vec<Recollection> {
    if matches.iter().all(|found| !is_entry(found)) {
        return matches;
    }
    let words = |found: &Recollection| terms(&found.record.text).into_iter().collect();
    let others = matches.iter().filter(|found| !is_entry(found));
    let said: BTreeMap<RecordId, BTreeSet<String>> = others
        .map(|found| (found.record.id, words(found)))
        .collect();
    matches.retain(|found| {
        let sources = &found.record.provenance.derived_from;
        let sources: Vec<_> = sources.iter().filter_map(|id| said.get(id)).collect();
        if !is_entry(found) || sources.is_empty() {
            return true;
        }
        let own: BTreeSet<String> = words(found);
        let is_new = |word: &&String| !sources.iter().any(|said| said.contains(*word));
        own.iter().filter(is_new).count() * NEW_WORD_IN > own.len()
    });
    matches
}

fn is_entry(found: &Recollection) -> bool {
    found.record.collection == Collection::Journal
}
