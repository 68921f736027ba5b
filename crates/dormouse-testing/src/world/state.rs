//! The instructions of a fake world, and what it has seen.

use std::collections::{HashMap, VecDeque};

use dormouse_contracts::{
    Audience, Delivery, Effect, EffectInquiry, EffectKey, Outcome, Perception, Query, Receipt,
    Rejection, WorldErrorKind,
};
use serde_json::Value;

use super::behaviour::Behaviour;
use crate::{fault::Fault, perception::Perceive};

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) next: VecDeque<Behaviour>,
    pub(super) refused_tools: HashMap<String, String>,
    pub(super) answers: HashMap<String, Value>,
    pub(super) cannot_tell: bool,
    /// Who hears what the assistant says aloud, if the world knows.
    pub(super) listeners: Option<Audience>,
    pub(super) failing_inquiries: Fault<WorldErrorKind>,
    pub(super) failing_queries: Fault<WorldErrorKind>,
    /// What the assistant perceived, in order.
    pub(super) feed: Vec<Perception>,
    pub(super) seen: Seen,
}

/// What a test can read afterwards.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) performed: Vec<Effect>,
    pub(super) outcomes: HashMap<EffectKey, Outcome>,
    pub(super) attempts: Vec<Effect>,
    pub(super) queries: Vec<Query>,
    pub(super) inquiries: Vec<EffectKey>,
}

/// How many names a reason lists.
const LISTED: usize = 8;

/// The names of the listeners, as a world lists them after a reason.
fn names(listeners: &Audience) -> String {
    let Audience::Entities(ids) = listeners else {
        return String::new();
    };
    let names = ids.iter().take(LISTED).map(|id| id.as_str());
    let names = names.map(|id| id.split_once(':').map_or(id, |(_, name)| name));
    format!(": {}", names.collect::<Vec<_>>().join(", "))
}

fn is_aloud(effect: &Effect) -> bool {
    effect.tool.as_str() == "say"
}

impl State {
    /// Records the outcome of an effect, unless another call has recorded one meanwhile. Returns the recorded outcome.
    /// An effect is rejected if somebody would hear it who may not.
    pub(super) fn decide(&mut self, effect: &Effect, outcome: Outcome) -> Outcome {
        let outcome = match outcome {
            Outcome::Done(receipt) => match self.overheard(effect) {
                Some(listeners) => Outcome::Rejected(Rejection {
                    reason: format!("more would hear it than may{}", names(&listeners)),
                    heard_by: Some(listeners),
                }),
                None => Outcome::Done(Receipt {
                    heard_by: self.listeners.clone().filter(|_| is_aloud(effect)),
                    ..receipt
                }),
            },
            other @ (Outcome::Rejected(_) | Outcome::Unknown) => other,
        };
        self.seen.decide(effect, outcome)
    }

    /// Who would hear the effect, if somebody of them may not.
    fn overheard(&self, effect: &Effect) -> Option<Audience> {
        let within = effect.within.as_ref()?;
        let listeners = self.listeners.clone().unwrap_or_else(Audience::nobody);
        (is_aloud(effect) && !within.covers(&listeners)).then_some(listeners)
    }

    /// Decides what to do with an effect: `Ok` is its outcome, if that is decided; `Err` is the behaviour to follow.
    pub(super) fn take(&mut self, effect: &Effect) -> Result<Outcome, Behaviour> {
        self.seen.attempts.push(effect.clone());
        if let Some(outcome) = self.seen.outcomes.get(&effect.key) {
            return Ok(outcome.clone());
        }
        if let Some(reason) = self.refused_tools.get(effect.tool.as_str()) {
            return Err(Behaviour::Reject(reason.clone()));
        }
        Err(self.next.pop_front().unwrap_or(Behaviour::Do))
    }

    /// Adds a perception to the assistant's feed, with the next number.
    pub(super) fn deliver(&mut self, perceive: Perceive) -> Delivery {
        let number = self.feed.len() as u64 + 1;
        let perception = perceive.number(number).build();
        let delivery = perception.attested.delivery.clone();
        self.feed.push(perception);
        delivery
    }

    /// Delivers the output of an effect, unless the effect's outcome is already decided. Returns the delivery of the
    /// assistant's own last line, which marks the end of the output.
    pub(super) fn print(&mut self, effect: &Effect, lines: Vec<Perceive>) -> Option<Delivery> {
        if self.seen.outcomes.contains_key(&effect.key) {
            return None;
        }
        let mut mark = None;
        for line in lines {
            if line.is_own() {
                mark = Some(self.deliver(line.caused_by(effect.key.as_str())));
            } else {
                self.deliver(line);
            }
        }
        mark
    }

    pub(super) fn answer(
        &mut self,
        query: &Query,
    ) -> Result<Result<Value, Rejection>, WorldErrorKind> {
        self.seen.queries.push(query.clone());
        self.failing_queries.strike()?;
        let tool = query.tool.as_str();
        if let Some(reason) = self.refused_tools.get(tool) {
            let reason = reason.clone();
            return Ok(Err(Rejection::new(reason)));
        }
        Ok(self
            .answers
            .get(tool)
            .cloned()
            .ok_or_else(|| Rejection::new(format!("the fake world has no answer for {tool}"))))
    }

    pub(super) fn tell(&mut self, key: &EffectKey) -> Result<EffectInquiry, WorldErrorKind> {
        self.seen.inquiries.push(key.clone());
        self.failing_inquiries.strike()?;
        if self.cannot_tell {
            return Ok(EffectInquiry::CannotTell);
        }
        Ok(self.seen.outcomes.get(key).cloned().into())
    }
}

impl Seen {
    fn decide(&mut self, effect: &Effect, outcome: Outcome) -> Outcome {
        if let Some(decided) = self.outcomes.get(&effect.key) {
            return decided.clone();
        }
        if matches!(outcome, Outcome::Done(_)) {
            self.performed.push(effect.clone());
        }
        self.outcomes.insert(effect.key.clone(), outcome.clone());
        outcome
    }
}
