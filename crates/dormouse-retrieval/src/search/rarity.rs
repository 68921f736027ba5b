//! How rare the words of an index are.

use crate::{Index, search::bm25::inverse_frequency};

/// The rarity of words among the units of threads: among what was said.
///
/// Units without a thread are notes, and most repeat words of what was said. If they counted, a word would be less rare the more
/// notes are made of it, and so notes would change how the turns of a conversation compare with each other. An index with
/// [far more](NOTES_OF_A_TURN) notes than turns, or without turns, knows words mainly from notes. There all units count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rarity<'a> {
    pub(crate) index: &'a Index,
    units: usize,
    terms: u64,
    counts_notes: bool,
}

/// With more notes than this for each turn, notes count.
const NOTES_OF_A_TURN: usize = 4;

impl<'a> Rarity<'a> {
    pub(crate) fn of(index: &'a Index) -> Self {
        let (notes, terms_of_notes) = index.threads.notes();
        let turns = index.passages - notes;
        let counts_notes = notes > NOTES_OF_A_TURN * turns;
        Self {
            index,
            units: if counts_notes { index.passages } else { turns },
            terms: if counts_notes {
                index.terms
            } else {
                index.terms - terms_of_notes
            },
            counts_notes,
        }
    }

    /// The inverse document frequency of the term with this number; without a number, of an unknown term.
    pub(crate) fn of_term(&self, number: Option<u32>) -> f32 {
        let lexicon = &self.index.lexicon;
        let frequency = number.map_or(0, |number| match self.counts_notes {
            true => lexicon.frequency(number),
            false => lexicon.frequency_in_threads(number),
        });
        self.of_frequency(frequency)
    }

    /// The inverse document frequency of a term that occurs in this many units.
    pub(crate) fn of_frequency(&self, frequency: usize) -> f32 {
        inverse_frequency(frequency.min(self.units), self.units)
    }

    /// The mean number of terms of a unit.
    pub(super) fn mean_terms(&self) -> f32 {
        self.terms as f32 / self.units.max(1) as f32
    }
}
