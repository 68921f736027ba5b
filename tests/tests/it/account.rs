//! Going over a life: what was asked, what was done about it, and whether log and world agree.

mod effects;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{AssistantId, Perception, ReadEvents, Seq};
use dormouse_engine::{
    ConfiguredModel, ContextType, EffectIntended, Event, StopReason, TickStarted, decide_again,
    replay, restore,
};
use dormouse_providers::token_counter_for;
use dormouse_store::RedbLog;

use crate::host::Host;
pub(crate) use effects::{Effects, performed};

/// The tools that answer somebody.
const SPEECH: [&str; 3] = ["say", "whisper", "page"];

/// Decides the whole life again, and compares each decision with its log.
pub(crate) async fn every_decision_is_the_same_again(host: &Host, assistant: &AssistantId) {
    let counter_for = |model: &ConfiguredModel| token_counter_for(&model.provider, &model.name);
    let again = decide_again(&host.log, assistant, Seq(u64::MAX), counter_for).await;
    if let Err(error) = again {
        panic!("{error:#?}");
    }
}

/// A message and what came of it.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) perception: Perception,
    pub(crate) verdict: MessageVerdict,
    /// What was done about it, in order; all of it is done.
    pub(crate) deeds: Vec<EffectIntended>,
    /// Why its turn ended, once for each time it did.
    pub(crate) closed: Vec<StopReason>,
}

impl Heard {
    pub(crate) fn text(&self) -> &str {
        self.perception.words.as_claimed()
    }

    /// What was said in answer.
    pub(crate) fn answers(&self) -> Vec<&str> {
        let speech = self.deeds.iter();
        speech
            .filter(|deed| SPEECH.contains(&deed.tool.as_str()))
            .map(|deed| deed.arguments["message"].as_str().expect("speech is text"))
            .collect()
    }
}

/// A whole life.
#[derive(Debug)]
pub(crate) struct Account {
    /// Everything accepted, by its place in the log.
    pub(crate) heard: BTreeMap<Seq, Heard>,
    pub(crate) events: usize,
    pub(crate) memories: Vec<String>,
}

impl Account {
    /// Goes over the life of `assistant`.
    ///
    /// # Panics
    ///
    /// If the log has a gap or a repeated delivery, if an effect has not exactly one outcome or belongs to no message, if the
    /// world did something that was not intended or the other way round, or if the log folds to another state than its
    /// last snapshot and the tail.
    pub(crate) async fn of(host: &Host, assistant: &AssistantId) -> Self {
        let Host { log, sandbox } = host;
        let events = events(log, assistant).await;
        let mut account = Self {
            heard: BTreeMap::new(),
            events: events.len(),
            memories: Vec::new(),
        };
        let mut effects = Effects::default();
        let mut tick = None;
        for (seq, event) in events {
            account.take(seq, event, &mut tick, &mut effects);
        }
        effects.agree_with(performed(sandbox).await, assistant);
        account.deliveries_came_once_and_in_order();

        let whole = replay(log, assistant, Seq(u64::MAX)).await.unwrap();
        let restored = restore(log, assistant).await.unwrap();
        assert_eq!(whole.hash().unwrap(), restored.hash().unwrap());
        account
    }

    fn take(
        &mut self,
        seq: Seq,
        event: Event,
        tick: &mut Option<TickStarted>,
        effects: &mut Effects,
    ) {
        match event {
            Event::Perceived(it) => {
                let heard = Heard {
                    perception: it.perception,
                    verdict: it.classification.verdict,
                    deeds: Vec::new(),
                    closed: Vec::new(),
                };
                self.heard.insert(seq, heard);
            }
            Event::TickStarted(it) => *tick = Some(it),
            Event::TickEnded(it) if it.resume_at.is_none() => {
                let tick = tick.take().expect("a tick that ends has begun");
                // A reflection, which comes after many ticks, answers nobody.
                if tick.context != ContextType::Reflection {
                    self.turn(&tick).closed.push(it.reason);
                }
            }
            Event::Remembered(it) => self.memories.push(it.text),
            Event::EffectIntended(it) => {
                let tick = tick.as_ref().expect("one acts within a tick");
                self.turn(tick).deeds.push(it.clone());
                effects.intend(it);
            }
            Event::EffectSettled(it) => effects.settle(it.key, it.outcome),
            _ => {}
        }
    }

    fn turn(&mut self, tick: &TickStarted) -> &mut Heard {
        self.heard
            .get_mut(&tick.trigger)
            .expect("a turn is about a message in the log")
    }

    /// The messages that ask for an answer.
    pub(crate) fn triggers(&self) -> impl Iterator<Item = &Heard> {
        self.heard
            .values()
            .filter(|heard| heard.verdict == MessageVerdict::Trigger)
    }

    /// Checks that every message that asks for an answer has one, and no other has.
    ///
    /// # Panics
    ///
    /// If that is not so.
    pub(crate) fn every_message_is_answered_once(&self) {
        for heard in self.heard.values() {
            let expected = usize::from(heard.verdict == MessageVerdict::Trigger);
            assert_eq!(heard.answers().len(), expected, "{heard:?}");
            assert_eq!(heard.closed.len(), expected, "{heard:?}");
        }
    }

    fn deliveries_came_once_and_in_order(&self) {
        let numbers = self.heard.values().map(Heard::delivery);
        let numbers: Vec<_> = numbers.collect();
        assert!(
            numbers.windows(2).all(|pair| pair[0] < pair[1]),
            "{numbers:?}"
        );
    }

    /// How many effects the assistant had on its world.
    pub(crate) fn deeds(&self) -> usize {
        self.heard.values().map(|heard| heard.deeds.len()).sum()
    }
}

impl Heard {
    pub(crate) fn delivery(&self) -> u64 {
        self.perception.attested.delivery.number
    }
}

/// All events, of which none is missing.
pub(crate) async fn events(log: &RedbLog, assistant: &AssistantId) -> Vec<(Seq, Event)> {
    let mut events = Vec::new();
    loop {
        let after = Seq(events.len() as u64);
        let page = log.read(assistant, after, 1_000).await.unwrap();
        if page.is_empty() {
            return events;
        }
        for stored in page {
            assert_eq!(stored.seq, Seq(events.len() as u64 + 1), "no gap");
            events.push((stored.seq, Event::decode(&stored).unwrap()));
        }
    }
}
