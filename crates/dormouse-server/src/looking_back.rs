//! The way to any moment of a long life, prepared while somebody looks at its end. A host keeps some states of the lives that were
//! folded last, so that the next look begins close to its moment.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use dormouse_contracts::{AssistantId, Seq};

use crate::service::{Shared, lock};

/// A life with fewer events is folded faster than somebody moves the slider.
const LONG: u64 = 4_096;

/// How many events are folded at a time. The service may end in between.
const STEP: u64 = 4_096;

/// Of how many lives a host keeps states.
const LIVES: usize = 2;

/// The lives that were folded to their end last.
#[derive(Debug, Default)]
pub(crate) struct Prepared(Mutex<VecDeque<AssistantId>>);

impl Prepared {
    /// Whether the life has to be folded now. From then on it counts as folded.
    fn take(&self, key: &AssistantId, end: Seq) -> bool {
        if end.0 < LONG {
            return false;
        }
        let mut lives = lock(&self.0);
        let place = lives.iter().position(|life| life == key);
        let known = place.and_then(|place| lives.remove(place));
        let is_known = known.is_some();
        lives.push_front(known.unwrap_or_else(|| key.clone()));
        lives.truncate(LIVES);
        !is_known
    }
}

/// Folds a long life in the background, unless that was done lately.
pub(crate) fn prepare(service: &Shared, key: &AssistantId, end: Seq) {
    if !service.prepared.take(key, end) {
        return;
    }
    let (shared, key) = (Arc::clone(service), key.clone());
    let mut kept = lock(&service.kept);
    while kept.try_join_next().is_some() {}
    kept.spawn(async move {
        for to in steps(end) {
            // A log that cannot be read is reported to who asks for a moment of it.
            if *shared.ending.borrow() || shared.host.state_at(&key, to).await.is_err() {
                return;
            }
        }
    });
}

/// The events up to which a log is folded, one after the other.
fn steps(end: Seq) -> impl Iterator<Item = Seq> {
    let before = (1..).map(|step| step * STEP);
    before
        .take_while(move |to| *to < end.0)
        .chain(Some(end.0))
        .map(Seq)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_is_the_end_and_no_step_is_longer_than_the_bound() {
        for end in [1, STEP - 1, STEP, STEP + 1, 10 * STEP, 10 * STEP + 7] {
            let steps: Vec<u64> = steps(Seq(end)).map(|to| to.0).collect();
            assert_eq!(steps.last(), Some(&end));
            let from = std::iter::once(&0).chain(&steps);
            let lengths: Vec<u64> = from.zip(&steps).map(|(from, to)| to - from).collect();
            assert!(
                lengths.iter().all(|it| (1..=STEP).contains(it)),
                "{lengths:?}"
            );
        }
    }

    #[test]
    fn a_long_life_is_folded_again_once_its_states_are_no_longer_kept() {
        let prepared = Prepared::default();
        let [ann, bob, cat] = ["ann", "bob", "cat"].map(|key| AssistantId::try_new(key).unwrap());
        assert!(!prepared.take(&ann, Seq(LONG - 1)), "it is short");
        assert!(prepared.take(&ann, Seq(LONG)));
        assert!(!prepared.take(&ann, Seq(LONG + 1)), "it was folded");
        assert!(prepared.take(&bob, Seq(LONG)));
        assert!(prepared.take(&cat, Seq(LONG)));
        assert!(
            prepared.take(&ann, Seq(LONG)),
            "two others were looked at since"
        );
    }
}
