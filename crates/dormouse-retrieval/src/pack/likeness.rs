//! Whether two texts say nearly the same.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Two texts are near if they share at least this part of all pairs of neighbouring words in either.
const NEAR: f32 = 0.9;

/// Words that turn a sentence into its opposite.
const NEGATIONS: [&str; 8] = [
    "cannot", "neither", "never", "no", "nobody", "none", "not", "without",
];

/// What of a text is compared. Stop words count here, as does order: "Alice told Bob" is not "Bob told Alice".
pub(super) struct Likeness {
    /// Hashes of pairs of neighbouring words, sorted, each once.
    pairs: Vec<u64>,
    /// Hash of its numbers and negations, in order.
    telling: u64,
}

impl Likeness {
    pub(super) fn of(text: &str) -> Self {
        let text = text.to_lowercase();
        let words = text
            .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '\u{2019}'))
            .filter(|word| !word.is_empty());
        let mut telling = DefaultHasher::new();
        let mut pairs = Vec::new();
        let mut before = "";
        for word in words {
            if is_telling(word) {
                word.hash(&mut telling);
            }
            pairs.push(hash(&(before, word)));
            before = word;
        }
        if pairs.is_empty() {
            // Nothing but signs, or emoji.
            pairs.push(hash(&text));
        }
        pairs.sort_unstable();
        pairs.dedup();
        Self {
            pairs,
            telling: telling.finish(),
        }
    }

    /// Whether the other says nearly the same.
    pub(super) fn is_near(&self, other: &Self) -> bool {
        if self.telling != other.telling {
            return false;
        }
        let (shorter, longer) = (
            self.pairs.len().min(other.pairs.len()),
            self.pairs.len().max(other.pairs.len()),
        );
        if (shorter as f32) < NEAR * longer as f32 {
            return false;
        }
        let shared = self
            .pairs
            .iter()
            .filter(|pair| other.pairs.binary_search(pair).is_ok())
            .count();
        shared as f32 >= NEAR * (shorter + longer - shared) as f32
    }
}

fn is_telling(word: &str) -> bool {
    word.contains(char::is_numeric)
        || word.ends_with("n't")
        || word.ends_with("n\u{2019}t")
        || NEGATIONS.binary_search(&word).is_ok()
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
