//! The outcomes of the last effects, in memory.

use std::collections::{HashMap, VecDeque};

use dormouse_contracts::{EffectKey, Outcome};

/// How many effects are remembered.
const KEPT: usize = 4_096;

/// What is known of the last effects.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// The outcome is absent while the effect is in progress, and if nobody knows how it ended.
    known: HashMap<EffectKey, Option<Outcome>>,
    /// The keys, oldest first.
    order: VecDeque<EffectKey>,
}

/// What is known of an effect that is to be carried out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Begun {
    /// Nothing. From now on it counts as begun.
    Now,
    /// It was begun before, and it is not known how it ended.
    Before,
    /// Its outcome.
    Settled(Outcome),
}

impl Outcomes {
    pub(super) fn begin(&mut self, key: &EffectKey) -> Begun {
        match self.known.get(key) {
            Some(Some(outcome)) => return Begun::Settled(outcome.clone()),
            Some(None) => return Begun::Before,
            None => {}
        }
        if self.order.len() >= KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.known.insert(key.clone(), None);
        Begun::Now
    }

    pub(super) fn settle(&mut self, key: &EffectKey, outcome: Outcome) {
        // It may have been forgotten meanwhile.
        if let Some(known) = self.known.get_mut(key) {
            *known = Some(outcome);
        }
    }

    pub(super) fn settled(&self, key: &EffectKey) -> Option<Outcome> {
        self.known.get(key).cloned().flatten()
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::Rejection;

    use super::*;

    fn key(number: usize) -> EffectKey {
        EffectKey::try_new(format!("key/{number}")).unwrap()
    }

    #[test]
    fn the_last_effects_are_remembered_with_their_outcomes() {
        let mut outcomes = Outcomes::default();
        let no = Outcome::Rejected(Rejection::new("no"));
        for number in 0..=KEPT {
            assert_eq!(outcomes.begin(&key(number)), Begun::Now);
            assert_eq!(outcomes.begin(&key(number)), Begun::Before);
            outcomes.settle(&key(number), no.clone());
        }
        assert_eq!(outcomes.begin(&key(1)), Begun::Settled(no.clone()));
        assert_eq!(outcomes.settled(&key(KEPT)), Some(no));
        assert_eq!(outcomes.settled(&key(0)), None);
        assert_eq!((outcomes.known.len(), outcomes.order.len()), (KEPT, KEPT));
    }
}
