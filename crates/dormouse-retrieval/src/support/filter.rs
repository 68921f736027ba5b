//! Which words a text may have, in a few bytes.

/// A set of words that may hold more than was put in, and never less: each word is one of 256 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter([u64; 4]);

impl Filter {
    /// The set of this word alone.
    pub(super) fn of(word: &str) -> Self {
        // FNV-1a: words are short, and its lower bits are spread well enough.
        let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let (part, bit) = ((hash >> 6) & 3, hash & 63);
        Self([0, 1, 2, 3].map(|at| if at == part { 1 << bit } else { 0 }))
    }

    pub(super) fn add(&mut self, other: Self) {
        for (part, more) in self.0.iter_mut().zip(other.0) {
            *part |= more;
        }
    }

    /// Whether every word of `other` may be in it.
    pub(super) fn may_have(&self, other: &Self) -> bool {
        let mut parts = self.0.iter().zip(&other.0);
        parts.all(|(part, other)| part & other == *other)
    }
}

impl FromIterator<Self> for Filter {
    fn from_iter<I: IntoIterator<Item = Self>>(filters: I) -> Self {
        let mut all = Self::default();
        filters.into_iter().for_each(|filter| all.add(filter));
        all
    }
}
