//! Statements that a later statement of the same person makes out of date.
//!
//! Words alone cannot tell which of "I drink coffee with oat milk" and "I switched from oat milk to almond milk" is true now:
//! both match the question, often the older one better. So a match that a later match makes out of date is placed right after it,
//! and in a budget of tokens it is shown only together with it. Nothing is removed: the older statement answers what was so before.
//!
//! The relation is computed for each answer from the texts of its matches and is stored nowhere, so there is nothing to undo and
//! erasing either statement ends it.

use std::collections::BTreeSet;

use dormouse_retrieval::{Index, asks, terms, words};

use super::Recollection;
use crate::record::{Record, RecordId};

/// How many of the best matches are compared with each other.
const MOST_COMPARED: usize = 50;
/// Longer statements are about several things, so a shared word says little about their subject.
const LONGEST_WORDS: usize = 40;
/// From this share of the greatest rarity on, a word is rare: of 600 records, about eight contain it.
const RARE: f32 = 0.6;
/// In a small memory no word is that rare. There a word is rare if no more records than these contain it.
const RARE_IN: usize = 3;
/// A text of more bytes has more words than that, whatever they are.
const LONGEST_BYTES: usize = 64 * LONGEST_WORDS;
/// How many rare words two statements share if nothing says that something changed.
const RARE_WORDS: usize = 2;
/// The least share of the shorter statement, by rarity, that the other one shares.
const LEAST_SHARED: f32 = 0.4;
/// The same, if the later statement says that something changed.
const LEAST_SHARED_IF_SAID: f32 = 0.25;

/// The least share of the question, by rarity and without the speaker's name, that both statements contain. Without this bound,
/// MRR on LoCoMo falls by .005 instead of .002, and no more changed facts are found.
const LEAST_ASKED: f32 = 0.4;

/// Words that say that something is no longer as it was.
const CUES: [&str; 26] = [
    "anymore",
    "became",
    "cancelled",
    "canceled",
    "changed",
    "closed",
    "corrected",
    "dropped",
    "instead",
    "longer",
    "moved",
    "now",
    "nowadays",
    "postponed",
    "quit",
    "raised",
    "renamed",
    "replaced",
    "retired",
    "sold",
    "stopped",
    "swapped",
    "switched",
    "turned",
    "left",
    "these",
];
/// Pairs of words that say so.
const PAIRS: [(&str, &str); 7] = [
    ("any", "more"),
    ("after", "all"),
    ("gave", "up"),
    ("given", "up"),
    ("broke", "off"),
    ("as", "of"),
    ("a", "new"),
];

/// A match, prepared for comparison.
struct Statement {
    terms: BTreeSet<String>,
    /// The sum of the rarity of its terms.
    weight: f32,
    says_change: bool,
}

/// The matches with each one that is out of date right after the statement that replaces it, which takes its place. `question`
/// decides what a statement is about.
pub(super) fn newest_first(
    mut matches: Vec<Recollection>,
    question: &str,
    index: &Index,
) -> Vec<Recollection> {
    let asked: BTreeSet<String> = terms(question).into_iter().collect();
    let best = matches.iter().take(MOST_COMPARED);
    let statements: Vec<_> = best.map(|one| Statement::of(&one.record, index)).collect();
    let mut by: Vec<Option<usize>> = Vec::with_capacity(matches.len());
    for (one, earlier) in matches.iter().zip(&statements) {
        let Some(earlier) = earlier else {
            by.push(None);
            continue;
        };
        // Only statements of one speaker are compared, so the name to leave out is the same for both.
        let asked = asked_of(&one.record, &asked);
        let others = matches.iter().zip(&statements).enumerate();
        let later = others.filter(|(_, (other, later))| {
            other.record.at > one.record.at
                && other.record.speaker.is_same_as(&one.record.speaker)
                // Somebody who is believed less cannot replace what is known.
                && other.record.trust >= one.record.trust
                && later
                    .as_ref()
                    .is_some_and(|later| later.replaces(earlier, &asked, index))
        });
        let newest = later.max_by_key(|(_, (other, _))| (other.record.at, other.record.id));
        by.push(newest.map(|(place, _)| place));
    }
    let ids: Vec<RecordId> = matches.iter().map(|one| one.record.id).collect();
    let later = |place: usize| by.get(place).copied().flatten();
    for (place, one) in matches.iter_mut().enumerate() {
        let last = std::iter::successors(later(place), |place| later(*place)).last();
        one.updated_by = last.and_then(|last| ids.get(last).copied());
    }
    in_order(matches, &by)
}

/// The matches in their order, each after the one that replaces it.
fn in_order(matches: Vec<Recollection>, by: &[Option<usize>]) -> Vec<Recollection> {
    let mut left: Vec<Option<Recollection>> = matches.into_iter().map(Some).collect();
    let mut ordered: Vec<Recollection> = Vec::with_capacity(left.len());
    for place in 0..left.len() {
        // A statement is replaced by a later one, so this ends.
        let mut chain = vec![place];
        while let Some(later) = chain
            .last()
            .and_then(|place| by.get(*place).copied().flatten())
        {
            chain.push(later);
        }
        let score = left
            .get(place)
            .and_then(Option::as_ref)
            .map(|one| one.score);
        for place in chain.into_iter().rev() {
            if let Some(mut one) = left.get_mut(place).and_then(Option::take) {
                one.score = one.score.max(score.unwrap_or(one.score));
                ordered.push(one);
            }
        }
    }
    ordered
}

impl Statement {
    /// `None` if the record states nothing, or too much.
    fn of(record: &Record, index: &Index) -> Option<Self> {
        if record.text.len() > LONGEST_BYTES {
            return None;
        }
        let spoken = words(&record.text);
        if asks(&record.text) || spoken.len() > LONGEST_WORDS {
            return None;
        }
        let terms: BTreeSet<String> = terms(&record.text).into_iter().collect();
        let pairs = spoken.iter().zip(spoken.iter().skip(1));
        let says_change = spoken.iter().any(|word| CUES.contains(&word.as_str()))
            || pairs
                .into_iter()
                .any(|(a, b)| PAIRS.contains(&(a.as_str(), b.as_str())));
        Some(Self {
            weight: terms.iter().map(|term| index.rarity(term)).sum(),
            terms,
            says_change,
        })
    }

    /// Whether this later statement is about what the earlier one is about, and both about what was asked.
    fn replaces(&self, earlier: &Self, asked: &BTreeSet<String>, index: &Index) -> bool {
        let shared: Vec<&String> = self.terms.intersection(&earlier.terms).collect();
        let rarity = |term: &&String| index.rarity(term);
        let about = shared.iter().copied().filter(|term| asked.contains(*term));
        let about: f32 = about.map(|term| index.rarity(term)).sum();
        // Words that nobody ever said tell nothing about what a statement is about.
        let known = asked.iter().map(|term| index.rarity(term));
        let question: f32 = known.filter(|rarity| *rarity < 1.0).sum();
        if about <= 0.0 || about < LEAST_ASKED * question {
            return false;
        }
        let least = RARE.min(index.rarity_of_frequency(RARE_IN));
        let rare = shared.iter().filter(|term| rarity(term) >= least).count();
        let weight: f32 = shared.iter().map(rarity).sum();
        let share = weight / self.weight.min(earlier.weight).max(f32::MIN_POSITIVE);
        match self.says_change {
            true => rare > 0 && share >= LEAST_SHARED_IF_SAID,
            false => rare >= RARE_WORDS && share >= LEAST_SHARED,
        }
    }
}

/// What a question asks about the speaker of a record: its terms without the name.
fn asked_of(record: &Record, asked: &BTreeSet<String>) -> BTreeSet<String> {
    let name: BTreeSet<String> = record.speaker.name().into_iter().flat_map(terms).collect();
    asked.difference(&name).cloned().collect()
}
