//! How often the query's terms occur in the candidates and around them.

use crate::{
    Index,
    index::{lexicon::Posting, threads::RADIUS},
    search::{plan::Plan, scratch::Scratch},
};

/// Gives every candidate and every unit in its window a row of counts.
pub(super) fn count_terms(index: &Index, plan: &Plan, scratch: &mut Scratch) {
    scratch.rows.reach(index.slot_bound());
    for place in 0..scratch.candidates.len() {
        let Some(&slot) = scratch.candidates.get(place) else {
            continue;
        };
        let before = index.threads.backwards(slot).take(RADIUS + 1);
        let after = index.threads.forwards(slot).skip(1).take(RADIUS);
        for slot in before.chain(after) {
            if let Some(row) = scratch.rows.at_mut(slot)
                && *row == 0
            {
                *row = 1;
                scratch.rowed.push(slot);
            }
        }
    }
    scratch.rowed.sort_unstable();
    for (row, &slot) in (1..).zip(&scratch.rowed) {
        scratch.rows.set(slot, row);
    }
    let width = plan.terms.len();
    scratch.counts.resize(scratch.rowed.len() * width, 0);
    for (place, term) in plan.terms.iter().enumerate() {
        let Some(number) = term.number else { continue };
        fill(index.lexicon.postings(number), place, width, scratch);
    }
}

/// Fills in one column: by walking through the postings, or by looking up each slot in them, whichever is less.
fn fill(postings: &[Posting], place: usize, width: usize, scratch: &mut Scratch) {
    let steps = usize::BITS - postings.len().leading_zeros();
    if postings.len() <= scratch.rowed.len() * steps as usize {
        for posting in postings {
            if let Some(row) = scratch.rows.at(posting.slot()).checked_sub(1) {
                set(&mut scratch.counts, row, place, width, *posting);
            }
        }
        return;
    }
    let mut rest = postings;
    for (row, &slot) in (0..).zip(&scratch.rowed) {
        let skip = rest.partition_point(|posting| posting.slot() < slot);
        rest = rest.get(skip..).unwrap_or_default();
        if let Some(posting) = rest.first().filter(|posting| posting.slot() == slot) {
            set(&mut scratch.counts, row, place, width, *posting);
        }
    }
}

fn set(counts: &mut [u8], row: u32, place: usize, width: usize, posting: Posting) {
    if let Some(count) = counts.get_mut(row as usize * width + place) {
        *count = u8::try_from(posting.count()).unwrap_or(u8::MAX);
    }
}
