//! The terms of each unit.

use dormouse_contracts::invariant;

/// The term numbers of all units, one unit after the other; sorted per unit, with repetitions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bags {
    terms: Vec<u32>,
    /// By slot: start and length.
    spans: Vec<(usize, u32)>,
    /// How many of `terms` belong to removed units.
    dropped: usize,
}

impl Bags {
    /// The terms of `slot`.
    #[inline]
    pub(crate) fn of(&self, slot: u32) -> &[u32] {
        let Some(&(start, len)) = self.spans.get(slot as usize) else {
            return &[];
        };
        let terms = self.terms.get(start..start + len as usize);
        invariant!(terms, "the terms of a unit are in the list")
    }

    /// Sets the sorted terms of `slot`, which must not have any yet.
    pub(crate) fn set(&mut self, slot: u32, terms: &[u32]) {
        let slot = slot as usize;
        if slot >= self.spans.len() {
            self.spans.resize(slot + 1, (0, 0));
        }
        if let Some(span) = self.spans.get_mut(slot) {
            *span = (self.terms.len(), u32::try_from(terms.len()).unwrap_or(0));
        }
        self.terms.extend_from_slice(terms);
    }

    /// Removes the terms of `slot`, and compacts the list when half of it is unused.
    pub(crate) fn clear(&mut self, slot: u32) {
        let Some(span) = self.spans.get_mut(slot as usize) else {
            return;
        };
        self.dropped += span.1 as usize;
        *span = (0, 0);
        if self.dropped > 4_096 && self.dropped * 2 > self.terms.len() {
            self.close_gaps();
        }
    }

    fn close_gaps(&mut self) {
        let mut kept = Vec::with_capacity(self.terms.len() - self.dropped);
        for (start, len) in &mut self.spans {
            let range = *start..*start + *len as usize;
            *start = kept.len();
            let terms = self.terms.get(range);
            kept.extend_from_slice(invariant!(terms, "the terms of a unit are in the list"));
        }
        self.terms = kept;
        self.dropped = 0;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.terms.capacity() * 4 + self.spans.capacity() * size_of::<(usize, u32)>()
    }
}
