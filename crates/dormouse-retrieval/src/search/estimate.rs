//! Estimates scores from the first pass.

use crate::{
    Feature, Index,
    search::{
        features::{REACH, answers, flag, levelled, surroundings},
        plan::QueryPlan,
        scratch::Scratch,
    },
    text_features::TextFeatures,
};

/// The weighted features of a unit except [`Feature::Informative`], with every word counted at most once per turn.
pub(super) fn of_unit(
    index: &Index,
    plan: &QueryPlan<'_>,
    scratch: &mut Scratch,
    slot: u32,
) -> f32 {
    let weight = |feature| plan.weight(feature);
    let terms = surroundings(index, slot).map(|slot| scratch.first_pass.at(slot).terms);
    let (reach, window) = reached(plan, terms);
    let place = index.threads.position(slot);
    let card = index.cards.at(slot);
    let before = flag(answers(index, slot)) * scratch.first_pass.at(place.prev).turn;
    let names_time = plan.asks_when && card.text_features.has(TextFeatures::NAMES_TIME);
    weight(Feature::Reach) * reach / plan.total
        + weight(Feature::Window) * window / plan.total
        + weight(Feature::Session) * scratch.session(place.session)
        + weight(Feature::Turn) * scratch.first_pass.at(slot).turn / plan.most
        + weight(Feature::Speaker) * flag(plan.is_named(place.speaker))
        + weight(Feature::Person) * flag(plan.is_meant(place.speaker))
        + weight(Feature::Participants) * plan.participation(index, scratch, place.session)
        + weight(Feature::Answer) * before / plan.most
        + weight(Feature::Date) * plan.closeness(place.at)
        + weight(Feature::TimeTold) * flag(names_time)
        + weight(Feature::FirstPerson) * flag(card.text_features.has(TextFeatures::FIRST_PERSON))
        + weight(Feature::Dense) * scratch.similarity(slot, place)
}

/// A cheaper estimate than [`of_unit`], without neighbours, vectors and text features.
pub(super) fn by_itself(
    index: &Index,
    plan: &QueryPlan<'_>,
    scratch: &mut Scratch,
    slot: u32,
) -> f32 {
    let weight = |feature| plan.weight(feature);
    let own = scratch.first_pass.at(slot);
    let place = index.threads.position(slot);
    let date = if plan.names_times() {
        plan.closeness(place.at)
    } else {
        0.0
    };
    // Without neighbours, each word of the unit has the full reach and one occurrence in the window.
    (weight(Feature::Reach) + weight(Feature::Window) * levelled(1.0)) * own.covered / plan.total
        + weight(Feature::Session) * scratch.session(place.session)
        + weight(Feature::Turn) * own.turn / plan.most
        + weight(Feature::Speaker) * flag(plan.is_named(place.speaker))
        + weight(Feature::Person) * flag(plan.is_meant(place.speaker))
        + weight(Feature::Participants) * plan.participation(index, scratch, place.session)
        + weight(Feature::Date) * date
}

/// Reach and window of a unit. `terms` has, for each turn of the window, a bit for each term that occurs in the turn.
fn reached(plan: &QueryPlan<'_>, terms: [u64; REACH.len()]) -> (f32, f32) {
    let [before_3, before_2, before, own, after, after_2, after_3] = terms;
    // A ring has the terms of the turns with one share in `REACH`; the two outermost turns have the same share. A term
    // counts only in the ring with its largest share, so the rings go from the largest share to the smallest.
    let near = own | before;
    let [
        far_before,
        near_before,
        just_before,
        _,
        just_after,
        near_after,
        _,
    ] = REACH;
    let rings = [
        (own, 1.0),
        (before & !own, just_before),
        (after & !near, just_after),
        (before_2 & !(near | after), near_before),
        (after_2 & !(near | after | before_2), near_after),
        (
            (before_3 | after_3) & !(near | after | before_2 | after_2),
            far_before,
        ),
    ];
    let (mut reached, mut window) = (0.0, 0.0);
    for (ring, reach) in rings {
        let mut rest = ring;
        while rest != 0 {
            let place = rest.trailing_zeros();
            rest &= rest - 1;
            let idf = plan.terms.get(place as usize).map_or(0.0, |term| term.idf);
            let turns: u64 = terms.iter().map(|terms| terms >> place & 1).sum();
            reached += idf * reach;
            window += idf * levelled(turns as f32);
        }
    }
    (reached, window)
}
