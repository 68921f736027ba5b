//! Probe questions about the assistant's own records. They show whether a work step of the night made its memory worse.
//!
//! A question is a record without its rarest word (a cloze). It is answered if the memory finds the record by the
//! remaining words. The model that consolidates never sees the questions. Published measurements say that consolidation
//! often makes an agent
//! recall less than no consolidation at all (arXiv 2605.12978); so each such work step has to pass this check.

use std::collections::HashMap;

use dormouse_memory::{Derivation, Record, RecordId, RecordKind};
use dormouse_retrieval::terms;

use crate::{
    event::{ProbeResult, StepOutcome},
    state::ProbedPiece,
};

/// The most questions.
const MOST: usize = 40;
/// With fewer questions there is no verdict: a single answer would decide it.
pub(super) const FEWEST: usize = 8;
/// The minimum number of remaining words in a question.
const WORDS_LEFT: usize = 3;
/// A word is rare if no more records than this have it.
const RARE: usize = 2;
/// The allowed fall, as a share of the questions: one percentage point.
const ALLOWED_FALL: f64 = 0.01;
/// How many samples the bootstrap draws.
const SAMPLES: u32 = 1_000;
/// The share of the samples that must show a larger fall.
const CERTAIN: f64 = 0.8;

/// A question about a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    /// The remaining words of the record.
    pub(super) question: String,
    /// The word that is left out.
    pub(super) answer: String,
    /// The record that has to be found.
    pub(super) evidence: RecordId,
    /// Which term of the record is left out, counted from 0.
    pub(super) left_out: usize,
}

impl Probe {
    /// The question about a record without this term; `None` if the record no longer has that term.
    pub(super) fn about(record: &Record, left_out: usize) -> Option<Self> {
        let terms = terms(&record.text);
        let answer = terms.get(left_out)?.clone();
        let left = terms.iter().filter(|term| **term != answer);
        let left: Vec<&str> = left.map(String::as_str).collect();
        let question = (left.len() >= WORDS_LEFT).then(|| left.join(" "))?;
        Some(Self {
            question,
            answer,
            evidence: record.id,
            left_out,
        })
    }

    /// Whether a record answers the question: the evidence itself, or a record made from it that contains the word.
    pub(super) fn is_answered_by(&self, record: &Record) -> bool {
        let is_made_of_it = record.provenance.derived_from.contains(&self.evidence);
        record.id == self.evidence || is_made_of_it && terms(&record.text).contains(&self.answer)
    }
}

/// Whether a question may be about a record: it was heard, and can be recalled.
pub(super) fn is_heard(record: &Record) -> bool {
    record.is_in_use()
        && record.kind == RecordKind::Event
        && record.provenance.derivation == Derivation::Heard
}

/// Draws questions from records of heard messages. The same records give the same questions.
pub(super) fn draw(heard: &[Record]) -> Vec<Probe> {
    let heard = heard.iter();
    let heard: Vec<_> = heard.map(|record| (record, terms(&record.text))).collect();
    let mut having: HashMap<&str, usize> = HashMap::new();
    for (_, terms) in &heard {
        let mut known: Vec<&str> = terms.iter().map(String::as_str).collect();
        known.sort_unstable();
        known.dedup();
        known
            .into_iter()
            .for_each(|term| *having.entry(term).or_default() += 1);
    }
    let rarity = |term: &String| having.get(term.as_str()).copied().unwrap_or(usize::MAX);
    let probes = heard.iter().filter_map(|(record, terms)| {
        let rare = terms.iter().enumerate();
        let rare = rare.filter(|(_, term)| rarity(term) <= RARE);
        let (left_out, _) = rare.min_by_key(|(_, term)| rarity(term))?;
        Probe::about(record, left_out)
    });
    let probes: Vec<_> = probes.collect();
    // The questions are spread over the whole time.
    let step = probes.len().div_ceil(MOST).max(1);
    probes.into_iter().step_by(step).collect()
}

/// Whether the memory recalls too little after a work step: the fall is larger than one percentage point in at least 80
/// % of the samples of a paired bootstrap. `before` and `after` say for each question whether it was answered.
pub(super) fn fall(before: &[bool], after: &[bool]) -> Option<ProbeResult> {
    let pairs: Vec<i32> = before
        .iter()
        .zip(after)
        .map(|(before, after)| i32::from(*after) - i32::from(*before))
        .collect();
    let is_worse = |sum: i32| f64::from(sum) < -ALLOWED_FALL * pairs.len() as f64;
    if pairs.len() < FEWEST || !is_worse(pairs.iter().sum()) {
        return None;
    }
    // SplitMix64 with a constant seed: the same answers always give the same verdict.
    let mut seed = 0_u64;
    let mut next = move || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let mut sample = || {
        let drawn = (0..pairs.len()).filter_map(|_| {
            let place = next() % pairs.len() as u64;
            pairs.get(usize::try_from(place).unwrap_or_default())
        });
        drawn.sum::<i32>()
    };
    let worse = (0..SAMPLES).filter(|_| is_worse(sample())).count();
    let answered = |answers: &[bool]| {
        let count = answers.iter().filter(|answered| **answered).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    };
    (worse as f64 >= CERTAIN * f64::from(SAMPLES)).then(|| ProbeResult {
        asked: u32::try_from(pairs.len()).unwrap_or(u32::MAX),
        before: answered(before),
        after: answered(after),
        kept: 0,
    })
}

/// The outcome of a finished work step: it is taken back if too little is recalled after it. `None` if the step is not
/// finished.
pub(crate) fn verdict(piece: &ProbedPiece) -> Option<StepOutcome> {
    let after = piece.after.as_ref()?;
    let before: Vec<bool> = piece.before.iter().map(|it| it.answered).collect();
    let fall = fall(&before, &after.answered);
    Some(fall.map_or_else(|| after.outcome.clone(), StepOutcome::TakenBack))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fall_of_more_than_a_point_is_found_and_chance_is_not() {
        let answers = |lost: usize| (0..40).map(|number| number >= lost).collect::<Vec<_>>();
        let before = answers(0);
        assert_eq!(fall(&before, &before), None);
        // One wrong answer in forty may be chance.
        assert_eq!(fall(&before, &answers(1)), None);
        let found = fall(&before, &answers(8)).unwrap();
        assert_eq!((found.asked, found.before, found.after), (40, 40, 32));
        assert_eq!(fall(&answers(8), &before), None, "better is no fall");
        assert_eq!(fall(&before[..4], &answers(8)[..4]), None, "too few");
    }
}
