//! Detects near-duplicate texts.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Two texts are near-duplicates if they have in common at least this share of all their pairs of neighbouring words.
const NEAR: f32 = 0.9;

/// Words that reverse the meaning of a sentence. Sorted.
const NEGATIONS: [&str; 8] = [
    "cannot", "neither", "never", "no", "nobody", "none", "not", "without",
];

/// The comparable form of a text. Stop words and order count: "Alice told Bob" differs from "Bob told Alice".
pub(super) struct TextSimilarity {
    /// Hashes of pairs of neighbouring words, sorted, without repetitions.
    pairs: Vec<u64>,
    /// Hash of the numbers and negations, in order.
    numbers_and_negations: u64,
}

impl TextSimilarity {
    pub(super) fn of(text: &str) -> Self {
        let text = text.to_lowercase();
        let words = text
            .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '\u{2019}'))
            .filter(|word| !word.is_empty());
        let mut numbers_and_negations = DefaultHasher::new();
        let mut pairs = Vec::new();
        let mut before = "";
        for word in words {
            if is_number_or_negation(word) {
                word.hash(&mut numbers_and_negations);
            }
            pairs.push(hash(&(before, word)));
            before = word;
        }
        if pairs.is_empty() {
            // A text without words contains only signs or emoji; it is compared as a whole.
            pairs.push(hash(&text));
        }
        pairs.sort_unstable();
        pairs.dedup();
        Self {
            pairs,
            numbers_and_negations: numbers_and_negations.finish(),
        }
    }

    /// Whether the other text is a near-duplicate.
    pub(super) fn is_near(&self, other: &Self) -> bool {
        if self.numbers_and_negations != other.numbers_and_negations {
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

fn is_number_or_negation(word: &str) -> bool {
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
