//! The measures of a ranking, as pure functions of places. A place is the index of a turn or session in its
//! conversation.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer, ser::SerializeMap};

/// The token budgets for which we check how much evidence the packed text contains.
pub(crate) const BUDGETS: [u32; 5] = [256, 512, 1024, 2048, 4096];

/// A measure of one question, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Measure {
    /// Whether any evidence is among the first k results.
    Any(usize),
    /// The share of the evidence that is among the first k results.
    Fraction(usize),
    /// One divided by the rank of the first evidence, counted from 1; 0 if no evidence was ranked.
    ReciprocalRank,
    /// Whether the first session contains evidence.
    SessionHit,
    /// The normalised discounted cumulative gain (NDCG) of the first five sessions.
    SessionGain,
    /// Whether any evidence is shown within this many tokens.
    AnyWithin(u32),
    /// Whether all evidence is shown within this many tokens.
    AllWithin(u32),
}

impl Measure {
    /// The name of the measure in JSON.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Any(k) => format!("any_at_{k}"),
            Self::Fraction(k) => format!("fraction_at_{k}"),
            Self::ReciprocalRank => "mrr".to_owned(),
            Self::SessionHit => "session_hit_at_1".to_owned(),
            Self::SessionGain => "session_ndcg_at_5".to_owned(),
            Self::AnyWithin(tokens) => format!("any_within_{tokens}_tokens"),
            Self::AllWithin(tokens) => format!("all_within_{tokens}_tokens"),
        }
    }
}

/// Whether any of `gold` is among the first `k`.
pub(crate) fn any_at(k: usize, ranked: &[usize], gold: &BTreeSet<usize>) -> f64 {
    f64::from(u8::from(
        ranked.iter().take(k).any(|place| gold.contains(place)),
    ))
}

/// The share of `gold` among the first `k`; `ranked` has no duplicates.
pub(crate) fn fraction_at(k: usize, ranked: &[usize], gold: &BTreeSet<usize>) -> f64 {
    let found = ranked.iter().take(k).filter(|place| gold.contains(place));
    part(found.count(), gold.len())
}

/// One divided by the rank of the first of `gold`, counted from 1.
pub(crate) fn reciprocal_rank(ranked: &[usize], gold: &BTreeSet<usize>) -> f64 {
    let first = ranked.iter().position(|place| gold.contains(place));
    first.map_or(0.0, |first| part(1, first + 1))
}

/// Normalised discounted cumulative gain of the first `k`, where each of `gold` is worth the same.
pub(crate) fn ndcg_at(k: usize, ranked: &[usize], gold: &BTreeSet<usize>) -> f64 {
    let discount = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let ideal: f64 = (0..gold.len().min(k)).map(discount).sum();
    let found = ranked.iter().take(k).enumerate();
    let gained: f64 = found
        .filter(|(_, id)| gold.contains(id))
        .map(|(place, _)| discount(place))
        .sum();
    if ideal > 0.0 { gained / ideal } else { 0.0 }
}

fn part(some: usize, all: usize) -> f64 {
    if all == 0 {
        0.0
    } else {
        some as f64 / all as f64
    }
}

/// The results for one question, as places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// The ranked turns or sessions, best first, each once.
    pub(crate) ranked: Vec<usize>,
    /// The sessions of the ranked turns, best first, each once.
    pub(crate) sessions: Vec<usize>,
    /// What is shown within each of [`BUDGETS`], in their order.
    pub(crate) shown: Vec<BTreeSet<usize>>,
}

/// The evidence for a question, as places.
#[derive(Clone, Debug)]
pub(crate) struct Gold {
    pub(crate) places: BTreeSet<usize>,
    pub(crate) sessions: BTreeSet<usize>,
}

/// The sums of the measures over several questions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Marks {
    pub(crate) questions: usize,
    sums: BTreeMap<Measure, f64>,
}

impl Marks {
    /// The measures of one question.
    pub(crate) fn of(found: &Found, gold: &Gold) -> Self {
        let (ranked, places) = (&found.ranked, &gold.places);
        let mut sums = BTreeMap::from([
            (Measure::ReciprocalRank, reciprocal_rank(ranked, places)),
            (
                Measure::SessionHit,
                any_at(1, &found.sessions, &gold.sessions),
            ),
            (
                Measure::SessionGain,
                ndcg_at(5, &found.sessions, &gold.sessions),
            ),
        ]);
        sums.extend([1, 5, 10].map(|k| (Measure::Any(k), any_at(k, ranked, places))));
        sums.extend([5, 10].map(|k| (Measure::Fraction(k), fraction_at(k, ranked, places))));
        for (tokens, shown) in BUDGETS.into_iter().zip(&found.shown) {
            let any = !places.is_disjoint(shown);
            let all = places.is_subset(shown);
            sums.insert(Measure::AnyWithin(tokens), f64::from(u8::from(any)));
            sums.insert(Measure::AllWithin(tokens), f64::from(u8::from(all)));
        }
        Self { questions: 1, sums }
    }

    /// Adds the sums of other questions.
    pub(crate) fn add(&mut self, other: &Self) {
        self.questions += other.questions;
        for (measure, value) in &other.sums {
            *self.sums.entry(*measure).or_default() += value;
        }
    }

    /// The mean over the questions; `None` without questions.
    pub(crate) fn mean(&self, measure: Measure) -> Option<f64> {
        let sum = self.sums.get(&measure)?;
        (self.questions > 0).then(|| sum / self.questions as f64)
    }
}

impl Serialize for Marks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("questions", &self.questions)?;
        for measure in self.sums.keys() {
            map.serialize_entry(&measure.name(), &self.mean(*measure))?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests;
