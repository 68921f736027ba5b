//! What an assistant did to its world, by its log and by the world's own durable record.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{AssistantId, EffectKey, Outcome};
use dormouse_engine::EffectIntended;
use dormouse_sandbox::{EFFECTS_PAGE, PerformedEffect, Sandbox};

/// What was intended and what became of it.
#[derive(Debug, Default)]
pub(super) struct Effects {
    intended: BTreeMap<EffectKey, EffectIntended>,
    settled: BTreeMap<EffectKey, Outcome>,
}

impl Effects {
    pub(super) fn intend(&mut self, intended: EffectIntended) {
        let before = self.intended.insert(intended.key.clone(), intended);
        assert_eq!(before, None, "a key stands for one effect");
    }

    pub(super) fn settle(&mut self, key: EffectKey, outcome: Outcome) {
        assert!(self.intended.contains_key(&key), "intended before done");
        assert!(
            matches!(outcome, Outcome::Done(_)),
            "this world can tell, and nothing it was asked for is refused: {outcome:?}"
        );
        let before = self.settled.insert(key, outcome);
        assert_eq!(before, None, "an effect has one outcome");
    }

    /// Checks the log against the world's own durable record.
    pub(super) async fn agree_with(&self, sandbox: &Sandbox, assistant: &AssistantId) {
        let intended: BTreeSet<_> = self.intended.keys().collect();
        let settled: BTreeSet<_> = self.settled.keys().collect();
        assert_eq!(intended, settled, "no effect is without its outcome");
        let mut done = 0;
        for performed in performed(sandbox).await {
            if performed.effect.actor != *assistant {
                continue;
            }
            done += 1;
            let key = &performed.effect.key;
            let intended = self.intended.get(key).expect("nothing is done unintended");
            assert_eq!(performed.effect.tool, intended.tool);
            assert_eq!(performed.effect.arguments, intended.arguments);
            assert_eq!(performed.outcome, self.settled[&performed.effect.key]);
        }
        assert_eq!(done, self.intended.len(), "the world did all that, once");
    }
}

async fn performed(sandbox: &Sandbox) -> Vec<PerformedEffect> {
    let mut all: Vec<PerformedEffect> = Vec::new();
    loop {
        let after = all.last().map_or(0, |last| last.number);
        let page = sandbox.effects(after).await.unwrap();
        let whole = page.len() < EFFECTS_PAGE;
        all.extend(page);
        if whole {
            return all;
        }
    }
}
