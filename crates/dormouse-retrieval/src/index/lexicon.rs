//! The terms and their postings.

use std::collections::HashMap;

/// A posting has 27 bits for the slot and 5 bits for the count.
const COUNT_BITS: u32 = 5;

/// The largest number of units in an index.
pub(crate) const MAX_SLOTS: u32 = 1 << (32 - COUNT_BITS);

/// A unit that contains a term, and how often it does, up to 31: BM25 barely changes for larger counts. A posting takes
/// four bytes, about as many as a variable-length delta code for all but the most common terms. Its fixed size allows
/// binary search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting(u32);

impl Posting {
    /// Larger counts are stored as this.
    pub(crate) const COUNT_MAX: u8 = (1 << COUNT_BITS) - 1;

    fn new(slot: u32, count: u32) -> Self {
        Self(slot << COUNT_BITS | count.min(u32::from(Self::COUNT_MAX)))
    }

    #[inline]
    pub(crate) fn slot(self) -> u32 {
        self.0 >> COUNT_BITS
    }

    #[inline]
    pub(crate) fn count(self) -> u32 {
        self.0 & u32::from(Self::COUNT_MAX)
    }
}

/// Terms by number, each with its postings in order of slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lexicon {
    numbers: HashMap<Box<str>, u32>,
    postings: Vec<Vec<Posting>>,
    /// In how many units without a thread each term occurs.
    in_notes: Vec<u32>,
    free: Vec<u32>,
    /// How many terms have a number and no postings.
    idle: usize,
}

impl Lexicon {
    /// The number of `term`; a new one if the term is new.
    pub(crate) fn intern(&mut self, term: &str) -> u32 {
        if let Some(&number) = self.numbers.get(term) {
            return number;
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.postings.push(Vec::new());
            self.in_notes.push(0);
            u32::try_from(self.postings.len() - 1).unwrap_or(u32::MAX)
        });
        self.numbers.insert(term.into(), number);
        self.idle += 1;
        number
    }

    /// Gives `term` a number, and reserves room for its postings.
    pub(crate) fn intern_with_room(&mut self, term: &str, frequency: usize) {
        let number = self.intern(term);
        if let Some(postings) = self.postings.get_mut(number as usize) {
            postings.reserve_exact(frequency);
        }
    }

    /// The number of `term`, if it has one.
    pub(crate) fn number(&self, term: &str) -> Option<u32> {
        self.numbers.get(term).copied()
    }

    /// The postings of term `number`.
    #[inline]
    pub(crate) fn postings(&self, number: u32) -> &[Posting] {
        self.postings
            .get(number as usize)
            .map_or(&[], Vec::as_slice)
    }

    /// In how many units term `number` occurs.
    #[inline]
    pub(crate) fn frequency(&self, number: u32) -> usize {
        self.postings(number).len()
    }

    /// In how many units of a thread term `number` occurs.
    #[inline]
    pub(crate) fn frequency_in_threads(&self, number: u32) -> usize {
        let in_notes = self.in_notes.get(number as usize).copied();
        self.frequency(number) - in_notes.unwrap_or(0) as usize
    }

    /// Counts a term of a unit without a thread.
    pub(crate) fn add_to_notes(&mut self, number: u32) {
        if let Some(notes) = self.in_notes.get_mut(number as usize) {
            *notes += 1;
        }
    }

    /// Reverts [`add_to_notes`](Self::add_to_notes).
    pub(crate) fn remove_from_notes(&mut self, number: u32) {
        if let Some(notes) = self.in_notes.get_mut(number as usize) {
            *notes = notes.saturating_sub(1);
        }
    }

    /// Records that term `number` occurs `count` times in `slot`.
    pub(crate) fn add(&mut self, number: u32, slot: u32, count: u32) {
        let Some(postings) = self.postings.get_mut(number as usize) else {
            return;
        };
        if postings.is_empty() {
            self.idle = self.idle.saturating_sub(1);
        }
        let posting = Posting::new(slot, count);
        // Slots are mostly assigned in rising order, so appending is the common case.
        if postings.last().is_none_or(|last| last.slot() < slot) {
            postings.push(posting);
        } else {
            let place = postings.partition_point(|other| other.slot() < slot);
            postings.insert(place, posting);
        }
    }

    /// Removes the posting of term `number` in `slot`.
    pub(crate) fn remove(&mut self, number: u32, slot: u32) {
        let Some(postings) = self.postings.get_mut(number as usize) else {
            return;
        };
        if let Ok(place) = postings.binary_search_by_key(&slot, |posting| posting.slot()) {
            postings.remove(place);
            if postings.is_empty() {
                *postings = Vec::new();
                self.idle += 1;
            }
        }
    }

    /// Frees the numbers of terms without postings, once they are the majority. Must not be called while a unit is half
    /// inserted: its terms may not have postings yet.
    pub(crate) fn sweep(&mut self) {
        if self.idle < 1_024 || self.idle * 2 < self.numbers.len() {
            return;
        }
        let (postings, free) = (&self.postings, &mut self.free);
        self.numbers.retain(|_, number| {
            let occurs = postings
                .get(*number as usize)
                .is_some_and(|postings| !postings.is_empty());
            if !occurs {
                free.push(*number);
            }
            occurs
        });
        self.idle = 0;
    }

    /// All terms with postings and their numbers, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.numbers
            .iter()
            .filter(|(_, number)| self.frequency(**number) > 0)
            .map(|(term, number)| (&**term, *number))
    }

    /// How many numbers have been assigned.
    pub(crate) fn len(&self) -> usize {
        self.postings.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        let postings: usize = self
            .postings
            .iter()
            .map(|list| size_of::<Vec<Posting>>() + list.capacity() * size_of::<Posting>())
            .sum();
        let terms: usize = self.numbers.keys().map(|term| term.len() + 16).sum();
        let in_notes = self.in_notes.capacity() * size_of::<u32>();
        postings + in_notes + terms + self.numbers.capacity() * (size_of::<(Box<str>, u32)>() + 1)
    }
}
