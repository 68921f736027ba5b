//! What a source of tools must decide before a call: whether the tool is asked in the right way, and whether it was called
//! already.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use dormouse_contracts::{
    EffectInquiry, EffectKey, Outcome, Rejection, ToolName, ToolReach, ToolSpec, WorldError,
    WorldErrorKind,
};

/// How many effects are remembered.
const KEPT: usize = 4_096;

/// Whether a source may call this tool of its own as `asked`, an effect or a query. `spec` is absent if it has no such tool.
///
/// # Errors
///
/// The answer to the model, if not.
pub fn check_reach(
    name: &ToolName,
    spec: Option<&ToolSpec>,
    asked: ToolReach,
) -> Result<(), Rejection> {
    match spec {
        None => Err(Rejection::new(format!("there is no tool \"{name}\" here"))),
        Some(spec) if spec.reach != asked => Err(Rejection::new(match asked {
            ToolReach::Query => format!("{name} changes something; it does not answer"),
            _ => format!("{name} only answers; it is not carried out"),
        })),
        Some(_) => Ok(()),
    }
}

/// The outcomes of the last 4,096 effects of a source of tools, in memory. With it, a source carries out each key once.
#[derive(Debug, Default)]
pub struct EffectOutcomes(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// The outcome is absent while the effect is in progress, and if nobody knows how it ended.
    outcomes: HashMap<EffectKey, Option<Outcome>>,
    /// The keys, oldest first.
    order: VecDeque<EffectKey>,
}

impl EffectOutcomes {
    /// Carries out an effect, unless it was begun before: then its outcome is returned, or it counts as unanswered. Once it is
    /// polled it counts as begun, also if this future is dropped.
    ///
    /// # Errors
    ///
    /// That of `carried_out`; [`WorldErrorKind::Unanswered`] if an earlier attempt is in progress, failed, panicked or was dropped.
    pub async fn once(
        &self,
        key: &EffectKey,
        carried_out: impl Future<Output = Result<Outcome, WorldError>>,
    ) -> Result<Outcome, WorldError> {
        match self.with(|known| known.begin(key)) {
            None => {}
            Some(Some(outcome)) => return Ok(outcome),
            Some(None) => {
                let why = "an earlier call had no answer";
                return Err(WorldError::new(
                    WorldErrorKind::Unanswered,
                    Some(why.into()),
                ));
            }
        }
        let outcome = carried_out.await?;
        self.with(|known| known.settle(key, outcome.clone()));
        Ok(outcome)
    }

    /// What became of an effect, as far as is known.
    #[must_use]
    pub fn inquire(&self, key: &EffectKey) -> EffectInquiry {
        let settled = self.with(|known| known.outcomes.get(key).cloned().flatten());
        settled.map_or(EffectInquiry::CannotTell, |outcome| Some(outcome).into())
    }

    fn with<T>(&self, work: impl FnOnce(&mut Known) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Known {
    /// What is known of an effect. If nothing is known, returns `None`, and the effect counts as begun from now on.
    fn begin(&mut self, key: &EffectKey) -> Option<Option<Outcome>> {
        if let Some(known) = self.outcomes.get(key) {
            return Some(known.clone());
        }
        if self.order.len() >= KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.outcomes.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.outcomes.insert(key.clone(), None);
        None
    }

    fn settle(&mut self, key: &EffectKey, outcome: Outcome) {
        // It may have been forgotten meanwhile.
        if let Some(known) = self.outcomes.get_mut(key) {
            *known = Some(outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> EffectKey {
        EffectKey::try_new(format!("key/{number}")).unwrap()
    }

    #[test]
    fn the_last_effects_are_remembered_with_their_outcomes() {
        let mut known = Known::default();
        let no = Outcome::Rejected(Rejection::new("no"));
        for number in 0..=KEPT {
            assert_eq!(known.begin(&key(number)), None);
            assert_eq!(known.begin(&key(number)), Some(None));
            known.settle(&key(number), no.clone());
        }
        assert_eq!(known.begin(&key(1)), Some(Some(no.clone())));
        assert_eq!(known.outcomes.get(&key(KEPT)), Some(&Some(no)));
        assert_eq!(known.outcomes.get(&key(0)), None);
        assert_eq!((known.outcomes.len(), known.order.len()), (KEPT, KEPT));
    }
}
