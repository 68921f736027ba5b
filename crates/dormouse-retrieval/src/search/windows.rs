//! Counts the query's terms in the candidates and their windows.

use crate::{
    Index,
    index::lexicon::Posting,
    search::{features::RADIUS, plan::QueryPlan, scratch::Scratch},
};

/// Gives every candidate and every unit of its window a row of counts.
pub(super) fn count_terms(index: &Index, plan: &QueryPlan<'_>, scratch: &mut Scratch) {
    list_windows(index, scratch);
    let reading = is_read_faster(index, plan, scratch);
    if !reading {
        // `look_up` passes through the postings once, so it needs the slots in their order.
        scratch.rowed.sort_unstable();
    }
    for (row, &slot) in (1..).zip(&scratch.rowed) {
        scratch.rows.set(slot, row);
    }
    let width = plan.terms.len();
    scratch.counts.resize(scratch.rowed.len() * width, 0);
    if reading {
        read_units(index, plan, scratch);
    } else {
        for (place, term) in plan.terms.iter().enumerate() {
            let Some(number) = term.number else { continue };
            look_up(index.lexicon.postings(number), place, width, scratch);
        }
    }
}

/// Lists every candidate and every unit of its window once.
fn list_windows(index: &Index, scratch: &mut Scratch) {
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
}

/// Whether reading the listed units takes fewer steps than looking them up in the postings.
fn is_read_faster(index: &Index, plan: &QueryPlan<'_>, scratch: &Scratch) -> bool {
    let lengths = scratch.rowed.iter().map(|slot| index.bags.of(*slot).len());
    let reading: usize = lengths.sum();
    let looking_up = plan
        .terms
        .iter()
        .filter_map(|term| Some(index.lexicon.frequency(term.number?)))
        // A binary search in the postings takes at most about 16 steps for each listed unit.
        .map(|frequency| frequency.min(scratch.rowed.len() * 16));
    reading < looking_up.sum()
}

/// Reads the listed units, and looks up each of their terms among the query's terms.
fn read_units(index: &Index, plan: &QueryPlan<'_>, scratch: &mut Scratch) {
    let width = plan.terms.len();
    let wanted = TermTable::new(plan);
    for (slot, row) in scratch
        .rowed
        .iter()
        .zip(scratch.counts.chunks_exact_mut(width.max(1)))
    {
        for term in index.bags.of(*slot) {
            if let Some(count) = wanted.place(*term).and_then(|place| row.get_mut(place)) {
                // The count saturates like the counts in the postings, so both ways give the same result.
                *count = (*count + 1).min(Posting::COUNT_MAX);
            }
        }
    }
}

/// A hash table of the query's terms, by the lowest bits of their numbers.
struct TermTable {
    /// Number and place of a term; on a collision the next free slot is used.
    slots: [(u32, u8); Self::SLOTS],
}

impl TermTable {
    /// A power of two, four times the largest number of terms.
    const SLOTS: usize = 256;
    const EMPTY: u32 = u32::MAX;

    fn new(plan: &QueryPlan<'_>) -> Self {
        let mut wanted = Self {
            slots: [(Self::EMPTY, 0); Self::SLOTS],
        };
        for (place, term) in (0..).zip(&plan.terms) {
            let Some(number) = term.number else { continue };
            let free = Self::probes(number).find(|slot| wanted.number_at(*slot) == Self::EMPTY);
            if let Some(slot) = free.and_then(|slot| wanted.slots.get_mut(slot)) {
                *slot = (number, place);
            }
        }
        wanted
    }

    fn probes(number: u32) -> impl Iterator<Item = usize> {
        let first = number as usize;
        (0..Self::SLOTS).map(move |step| (first + step) % Self::SLOTS)
    }

    fn number_at(&self, slot: usize) -> u32 {
        self.slots
            .get(slot)
            .map_or(Self::EMPTY, |(number, _)| *number)
    }

    /// The place of a term in the query.
    #[inline]
    fn place(&self, number: u32) -> Option<usize> {
        for slot in Self::probes(number) {
            match self.slots.get(slot) {
                Some((other, place)) if *other == number => return Some(usize::from(*place)),
                Some((Self::EMPTY, _)) | None => return None,
                Some(_) => {}
            }
        }
        None
    }
}

/// Fills the column of one term. Reads all postings or searches each slot in them, whichever takes fewer steps.
fn look_up(postings: &[Posting], place: usize, width: usize, scratch: &mut Scratch) {
    // Walking the postings costs one step each; searching costs about 16 steps per listed unit.
    if postings.len() <= scratch.rowed.len() * 16 {
        for posting in postings {
            if let Some(row) = scratch.rows.at(posting.slot()).checked_sub(1) {
                set(&mut scratch.counts, row, place, width, *posting);
            }
        }
        return;
    }
    // The listed slots are sorted, so each search continues after the previous one.
    let mut rest = postings;
    for (row, &slot) in (0..).zip(&scratch.rowed) {
        let skip = rest.partition_point(|posting| posting.slot() < slot);
        rest = rest.split_at(skip).1;
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
