//! What an assistant did to its world, by its log and by the world's own durable record.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{AssistantId, Effect, EffectKey, Outcome};
use dormouse_engine::EffectIntended;
use dormouse_sandbox::{EFFECTS_PAGE, PerformedEffect, Sandbox};

/// What was intended and what became of it.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    intended: BTreeMap<EffectKey, EffectIntended>,
    settled: BTreeMap<EffectKey, Outcome>,
}

impl Effects {
    pub(crate) fn intend(&mut self, intended: EffectIntended) {
        let before = self.intended.insert(intended.key.clone(), intended);
        assert_eq!(before, None, "a key stands for one effect");
    }

    pub(crate) fn settle(&mut self, key: EffectKey, outcome: Outcome) {
        assert!(self.intended.contains_key(&key), "intended before done");
        assert!(
            matches!(outcome, Outcome::Done(_)),
            "this world can tell, and nothing it was asked for is refused: {outcome:?}"
        );
        let before = self.settled.insert(key, outcome);
        assert_eq!(before, None, "an effect has one outcome");
    }

    /// Checks the log against the durable records of those who carry effects out: what they did, and the outcomes.
    pub(crate) fn agree_with(
        &self,
        performed: impl IntoIterator<Item = (Effect, Outcome)>,
        assistant: &AssistantId,
    ) {
        let intended: BTreeSet<_> = self.intended.keys().collect();
        let settled: BTreeSet<_> = self.settled.keys().collect();
        assert_eq!(intended, settled, "no effect is without its outcome");
        let mut done = 0;
        for (effect, outcome) in performed {
            if effect.actor != *assistant {
                continue;
            }
            done += 1;
            let intended = self.intended.get(&effect.key);
            let intended = intended.expect("nothing is done unintended");
            assert_eq!(effect.tool, intended.tool);
            assert_eq!(effect.arguments, intended.arguments);
            assert_eq!(outcome, self.settled[&effect.key]);
        }
        assert_eq!(done, self.intended.len(), "the world did all that, once");
    }
}

/// All that was done in a world, with the outcomes.
pub(crate) async fn performed(sandbox: &Sandbox) -> Vec<(Effect, Outcome)> {
    let mut all: Vec<PerformedEffect> = Vec::new();
    loop {
        let after = all.last().map_or(0, |last| last.number);
        let page = sandbox.effects(after).await.unwrap();
        let whole = page.len() < EFFECTS_PAGE;
        all.extend(page);
        if whole {
            let all = all.into_iter();
            return all.map(|done| (done.effect, done.outcome)).collect();
        }
    }
}
