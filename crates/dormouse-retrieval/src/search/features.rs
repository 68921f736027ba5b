//! The features of one candidate.

use crate::{
    Feature, Index,
    index::threads::NONE,
    search::{
        bm25::{length_norm, saturated},
        plan::QueryPlan,
        rarity::Rarity,
        scratch::Scratch,
    },
    text_features::TextFeatures,
    weights::FeatureValues,
};

/// How many neighbours on each side belong to a unit's window.
pub(super) const RADIUS: usize = 3;
/// The size of a window: the unit and its neighbours.
const WIDTH: usize = 2 * RADIUS + 1;
/// The share of its weight that a word contributes if it occurs in this turn of the window. The turns are in reading
/// order. The turn before counts more than the turn after: it is often the question.
pub(super) const REACH: [f32; WIDTH] = [0.2, 0.4, 0.6, 1.0, 0.5, 0.3, 0.2];

/// The features of the unit in `slot` except [`informative`]; `None` if nothing connects it to the query.
pub(super) fn of_candidate(
    index: &Index,
    plan: &QueryPlan<'_>,
    scratch: &mut Scratch,
    slot: u32,
) -> Option<FeatureValues> {
    let place = index.threads.position(slot);
    let surroundings = surroundings(index, slot);
    let words = words(index, plan, scratch, &surroundings);
    // Vectors and sessions also connect a unit to the query, because the relevant turn often shares no word with it.
    let is_connected = words.reach > 0.0
        || scratch.dense.at(slot) > 0.0
        || scratch.best_sessions.contains(&place.session);
    if !is_connected {
        return None;
    }
    let card = index.cards.at(slot);
    let mut values = FeatureValues::default();
    values.set(Feature::Reach, words.reach);
    values.set(Feature::Window, words.window);
    values.set(Feature::Session, scratch.session(place.session));
    values.set(Feature::Turn, words.turn);
    values.set(Feature::Speaker, flag(plan.is_named(place.speaker)));
    values.set(Feature::Person, flag(plan.is_meant(place.speaker)));
    values.set(
        Feature::Answer,
        flag(answers(index, slot)) * words.turn_before,
    );
    values.set(Feature::Date, plan.closeness(place.at));
    let names_time = plan.asks_when && card.text_features.has(TextFeatures::NAMES_TIME);
    values.set(Feature::TimeTold, flag(names_time));
    values.set(
        Feature::FirstPerson,
        flag(card.text_features.has(TextFeatures::FIRST_PERSON)),
    );
    let participation = plan.participation(index, scratch, place.session);
    values.set(Feature::Participants, participation);
    values.set(Feature::Dense, scratch.similarity(slot, place));
    Some(values)
}

/// 1 for yes, 0 for no.
pub(super) fn flag(holds: bool) -> f32 {
    f32::from(u8::from(holds))
}

/// Whether the turn before is a question by another speaker.
pub(super) fn answers(index: &Index, slot: u32) -> bool {
    let place = index.threads.position(slot);
    let asks = index
        .cards
        .at(place.prev)
        .text_features
        .has(TextFeatures::ASKS);
    asks && index.threads.position(place.prev).speaker != place.speaker
}

/// The slots of a window in reading order; [`NONE`] beyond the ends of the session.
pub(super) fn surroundings(index: &Index, slot: u32) -> [u32; WIDTH] {
    let mut slots = [NONE; WIDTH];
    let (before, rest) = slots.split_at_mut(RADIUS);
    // `backwards` starts with the unit itself, which `forwards` adds below.
    for (place, slot) in before
        .iter_mut()
        .rev()
        .zip(index.threads.backwards(slot).skip(1))
    {
        *place = slot;
    }
    for (place, slot) in rest.iter_mut().zip(index.threads.forwards(slot)) {
        *place = slot;
    }
    slots
}

/// The scores of the query's words in a unit and its window.
#[derive(Default)]
struct WordScores {
    reach: f32,
    window: f32,
    turn: f32,
    turn_before: f32,
}

impl WordScores {
    fn add(&mut self, other: &Self) {
        self.reach += other.reach;
        self.window += other.window;
        self.turn += other.turn;
        self.turn_before += other.turn_before;
    }

    fn raise(&mut self, other: &Self) {
        self.reach = self.reach.max(other.reach);
        self.window = self.window.max(other.window);
        self.turn = self.turn.max(other.turn);
        self.turn_before = self.turn_before.max(other.turn_before);
    }
}

fn words(
    index: &Index,
    plan: &QueryPlan<'_>,
    scratch: &Scratch,
    slots: &[u32; WIDTH],
) -> WordScores {
    let width = plan.terms.len();
    let counts = slots.map(|slot| scratch.counts_of(slot, width));
    let norm = |slot| length_norm(index.threads.position(slot).terms as f32, plan.mean_turn);
    let [_, _, before, own, ..] = slots.map(norm);
    let mut words = WordScores::default();
    // What one word of the query and its alternatives count: as much as the one that counts most.
    let mut best = WordScores::default();
    let mut of_word = usize::MAX;
    for (place, term) in plan.terms.iter().enumerate() {
        if term.word != of_word {
            words.add(&std::mem::take(&mut best));
            of_word = term.word;
        }
        let count = counts.map(|counts| f32::from(counts.get(place).copied().unwrap_or(0)));
        let around: f32 = count.iter().sum();
        if around == 0.0 {
            continue;
        }
        let [_, _, count_before, count_own, ..] = count;
        best.raise(&WordScores {
            reach: term.idf * reach(count.map(|count| count > 0.0)),
            window: term.idf * levelled(around),
            turn: term.idf * saturated(count_own, own),
            turn_before: term.idf * saturated(count_before, before),
        });
    }
    words.add(&best);
    words.reach /= plan.total;
    words.window /= plan.total;
    words.turn /= plan.most;
    words.turn_before /= plan.most;
    words
}

/// The largest share in [`REACH`] among the places of a window where a word occurs.
fn reach(occurs: [bool; WIDTH]) -> f32 {
    let there = occurs.into_iter().zip(REACH).filter(|(occurs, _)| *occurs);
    there.map(|(_, reach)| reach).fold(0.0, f32::max)
}

/// The saturated count of a word in a window: 0.5 for one occurrence, and always below 1.
pub(super) fn levelled(count: f32) -> f32 {
    count / (count + 1.0)
}

/// The mean rarity of a unit's distinct terms, as a share of the rarity of an unused term. Two terms of rarity zero are
/// added, so that a single word does not count as informative.
pub(super) fn informative(index: &Index, slot: u32) -> f32 {
    let rarity = Rarity::of(index);
    let (mut sum, mut distinct) = (0, 0_u32);
    for run in index.bags.of(slot).chunk_by(|a, b| a == b) {
        let Some(term) = run.first() else { continue };
        let idf = rarity.of_term(Some(*term));
        // Fixed point makes the sum independent of the order of terms, which differs between indexes of the same units.
        sum += (f64::from(idf) * ONE) as u64;
        distinct += 1;
    }
    let most = rarity.of_term(None) * (distinct + 2) as f32;
    (sum as f64 / ONE) as f32 / most
}

/// The number 1 in fixed point: 20 bits follow the binary point.
const ONE: f64 = 1_048_576.0;
