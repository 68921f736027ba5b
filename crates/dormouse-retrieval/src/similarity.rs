//! The similarity of two texts by their words. Every rule against repetitions in a memory uses it.

use dormouse_text::beginning_bytes;

use crate::terms;

/// How many bytes of a text are compared, except in the test for the same text.
const COUNTED: usize = 64 * 1024;
/// Words that turn a sentence into its opposite.
const NEGATIONS: [&str; 12] = [
    "not", "no", "never", "nor", "without", "cannot", "neither", "nobody", "nothing", "none",
    "stopped", "hardly",
];

/// The words of a text, prepared for comparison.
///
/// In addition to the terms (those that a search compares) the pairs of neighbouring terms count, so that "Alice pays
/// Bob" differs from "Bob pays Alice". Numbers and negation are compared separately: a search ignores "not", but two
/// texts that differ in it do not say the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparableText {
    normalised_hash: u64,
    terms: Box<[u32]>,
    shingles: Box<[u32]>,
    numbers: Box<[u32]>,
    manner: Manner,
}

/// Properties of a text that its terms do not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Manner {
    denies: bool,
    asks: bool,
}

impl ComparableText {
    /// Prepares a text. Of a very long one, the first 64 KiB are compared.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let counted = beginning_bytes(text, COUNTED);
        let terms = terms(counted);
        let is_number = |term: &&String| term.bytes().any(|byte| byte.is_ascii_digit());
        let pairs = terms.windows(2).filter_map(|pair| match pair {
            [a, b] => Some(short(hash_parts(&[a, b]))),
            _ => None,
        });
        let single = || terms.iter().map(|term| short(hash_parts(&[term])));
        Self {
            normalised_hash: normalised_hash(text),
            shingles: set(single().chain(pairs)),
            numbers: set(terms
                .iter()
                .filter(is_number)
                .map(|term| short(hash_parts(&[term])))),
            terms: set(single()),
            manner: Manner {
                denies: denies(counted),
                asks: text.trim_end().ends_with(['?', '？']),
            },
        }
    }

    /// A hash that is the same for texts that differ only in case, spaces and final punctuation.
    #[must_use]
    pub fn normalised_hash(&self) -> u64 {
        self.normalised_hash
    }

    /// The hashes of terms and pairs, ascending.
    #[must_use]
    pub fn shingles(&self) -> &[u32] {
        &self.shingles
    }

    /// The Jaccard index of their terms and pairs, in `0.0..=1.0`; 0 for two texts without terms.
    #[must_use]
    pub fn jaccard(&self, other: &Self) -> f32 {
        let shared = shared(&self.shingles, &other.shingles);
        ratio(shared, self.shingles.len() + other.shingles.len() - shared)
    }

    /// How much two texts are about the same subject, even if they disagree: the cosine of their sets of terms, in `0.0..=1.0`.
    #[must_use]
    pub fn about_the_same(&self, other: &Self) -> f32 {
        let shared = shared(&self.terms, &other.terms);
        let sizes = ratio(self.terms.len(), 1) * ratio(other.terms.len(), 1);
        if shared == 0 {
            return 0.0;
        }
        (ratio(shared, 1) / sizes.sqrt()).min(1.0)
    }

    /// How many terms they share.
    #[must_use]
    pub fn shared_terms(&self, other: &Self) -> usize {
        shared(&self.terms, &other.terms)
    }

    /// Whether they contain the same numbers, both or neither deny something, and both or neither are a question.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        self.numbers == other.numbers && self.manner == other.manner
    }

    /// Whether one text may replace the other: they are the same text, or share at least `threshold` of their terms and
    /// pairs without a difference in numbers or negation.
    #[must_use]
    pub fn says_the_same(&self, other: &Self, threshold: f32) -> bool {
        self.normalised_hash == other.normalised_hash
            || (self.agrees(other) && self.jaccard(other) >= threshold)
    }
}

/// A hash that is the same on every machine and in every version, because origins of facts contain it (FNV-1a, 64 bits).
/// A separator follows each part, so that ("ab", "c") and ("a", "bc") differ.
fn hash_parts(parts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            hash = fnv(hash, byte);
        }
    }
    hash
}

fn fnv(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "both halves are folded in first"
)]
fn short(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

fn normalised_hash(text: &str) -> u64 {
    let text = text.trim().trim_end_matches(['.', '!', ',', ';', ':']);
    let mut hash = hash_parts(&[]);
    let mut buffer = [0; 4];
    for (place, word) in text.split_whitespace().enumerate() {
        if place > 0 {
            hash = fnv(hash, b' ');
        }
        for letter in word.chars().flat_map(char::to_lowercase) {
            hash = letter.encode_utf8(&mut buffer).bytes().fold(hash, fnv);
        }
    }
    hash
}

/// Whether a text says that something is *not* so, by its words.
///
/// ```
/// assert!(dormouse_retrieval::denies("Alice doesn't like tea"));
/// assert!(!dormouse_retrieval::denies("Nobody doubts it, not even Bob"));
/// ```
#[must_use]
pub fn denies(text: &str) -> bool {
    let words =
        text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'' && letter != '’');
    let count = words
        .filter(|word| {
            NEGATIONS
                .iter()
                .any(|negation| word.eq_ignore_ascii_case(negation))
                || word.to_ascii_lowercase().ends_with("n't")
                || word.to_lowercase().ends_with("n’t")
        })
        .count();
    // Two negations cancel each other out more often than not.
    !count.is_multiple_of(2)
}

fn set(hashes: impl Iterator<Item = u32>) -> Box<[u32]> {
    let mut hashes: Vec<u32> = hashes.collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes.into_boxed_slice()
}

/// How many elements two ascending lists share.
fn shared(a: &[u32], b: &[u32]) -> usize {
    let mut count = 0;
    let mut b = b.iter().peekable();
    for member in a {
        while b.next_if(|other| *other < member).is_some() {}
        count += usize::from(b.next_if_eq(&member).is_some());
    }
    count
}

#[expect(clippy::cast_precision_loss, reason = "numbers of words")]
fn ratio(part: usize, whole: usize) -> f32 {
    if whole == 0 {
        return 0.0;
    }
    part as f32 / whole as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn same(a: &str, b: &str) -> bool {
        ComparableText::of(a).says_the_same(&ComparableText::of(b), 0.85)
    }

    #[test]
    fn two_texts_say_the_same_only_without_a_difference_in_numbers_negation_and_order() {
        assert!(same("Alice likes tea.", " alice  likes TEA"));
        assert!(same(
            "Alice has been living in the old mill by the river since the flood",
            "Alice has been living in the old mill, by the river, since the flood!"
        ));
        assert!(!same("Alice likes tea", "Alice does not like tea"));
        assert!(!same("Alice likes tea", "Alice doesn't like tea"));
        assert!(!same("Alice owes Bob 5 coins", "Alice owes Bob 6 coins"));
        assert!(!same("Alice pays Bob", "Bob pays Alice"));
        assert!(!same("Alice lives in Paris", "Alice lives in London"));
        assert!(!same("Tea?", "Tea"));
        assert!(!same("東京は首都です", "京都は首都です"));
    }

    #[test]
    fn texts_that_disagree_can_be_about_the_same() {
        let a = ComparableText::of("Alice lives in Paris");
        let b = ComparableText::of("Alice does not live in Paris");
        let c = ComparableText::of("the kettle is in the blue box");
        assert!(a.about_the_same(&b) > 0.99);
        assert!(!a.agrees(&b));
        assert!(a.about_the_same(&c) == 0.0 && a.shared_terms(&c) == 0);
    }

    proptest! {
        #[test]
        fn similarity_is_always_symmetric_and_within_bounds(a in "([a-d]{1,2} ){0,8}", b in "\\PC{0,40}") {
            let (a, b) = (ComparableText::of(&a), ComparableText::of(&b));
            for score in [a.jaccard(&b), a.about_the_same(&b)] {
                prop_assert!((0.0..=1.0).contains(&score));
            }
            prop_assert_eq!(a.jaccard(&b), b.jaccard(&a));
            prop_assert!(a.says_the_same(&a, 1.0) && b.says_the_same(&b, 1.0));
        }
    }
}
