//! The outcomes of the last effects, in memory.

use std::collections::{HashMap, VecDeque};

use dormouse_contracts::{EffectKey, Outcome};

/// How many effects are remembered.
const KEPT: usize = 4_096;

/// What is known of the last 4,096 effects of a source of tools. With it, a source carries out each key once.
#[derive(Debug, Default)]
pub struct EffectOutcomes {
    /// The outcome is absent while the effect is in progress, and if nobody knows how it ended.
    known: HashMap<EffectKey, Option<Outcome>>,
    /// The keys, oldest first.
    order: VecDeque<EffectKey>,
}

/// What is known of an effect that is to be carried out.
#[derive(Clone, Debug, PartialEq)]
pub enum BegunEffect {
    /// Nothing. From now on it counts as begun.
    Now,
    /// It was begun before, and it is not known how it ended.
    Before,
    /// Its outcome.
    Settled(Outcome),
}

impl EffectOutcomes {
    /// Notes that an effect is begun, unless it was before.
    pub fn begin(&mut self, key: &EffectKey) -> BegunEffect {
        match self.known.get(key) {
            Some(Some(outcome)) => return BegunEffect::Settled(outcome.clone()),
            Some(None) => return BegunEffect::Before,
            None => {}
        }
        if self.order.len() >= KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.known.insert(key.clone(), None);
        BegunEffect::Now
    }

    /// Notes the outcome of an effect that was begun.
    pub fn settle(&mut self, key: &EffectKey, outcome: Outcome) {
        // It may have been forgotten meanwhile.
        if let Some(known) = self.known.get_mut(key) {
            *known = Some(outcome);
        }
    }

    /// The outcome of an effect, if it is known.
    #[must_use]
    pub fn settled(&self, key: &EffectKey) -> Option<Outcome> {
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
        let mut outcomes = EffectOutcomes::default();
        let no = Outcome::Rejected(Rejection::new("no"));
        for number in 0..=KEPT {
            assert_eq!(outcomes.begin(&key(number)), BegunEffect::Now);
            assert_eq!(outcomes.begin(&key(number)), BegunEffect::Before);
            outcomes.settle(&key(number), no.clone());
        }
        assert_eq!(outcomes.begin(&key(1)), BegunEffect::Settled(no.clone()));
        assert_eq!(outcomes.settled(&key(KEPT)), Some(no));
        assert_eq!(outcomes.settled(&key(0)), None);
        assert_eq!((outcomes.known.len(), outcomes.order.len()), (KEPT, KEPT));
    }
}
