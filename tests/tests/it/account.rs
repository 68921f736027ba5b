//! Going over a life: what was asked, what was done about it, and whether log and world agree.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_classify::Verdict;
use dormouse_contracts::{AssistantId, EffectKey, Outcome, Perception, ReadEvents, Seq};
use dormouse_engine::{EffectIntended, Event, StopReason, replay, restore};
use dormouse_sandbox::{EFFECTS_PAGE, PerformedEffect, Sandbox};
use dormouse_store::RedbLog;

use crate::household::Household;

/// The tools that answer somebody.
const SPEECH: [&str; 3] = ["say", "whisper", "page"];

/// A message and what came of it.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) perception: Perception,
    pub(crate) verdict: Verdict,
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
    /// If the log has a gap or a repeated delivery, if an effect has not exactly one outcome, if the world did
    /// something that was not intended or the other way round, or if the log folds to another state than its last
    /// snapshot and the tail.
    pub(crate) async fn of(household: &Household, assistant: &AssistantId) -> Self {
        let Household { log, sandbox } = household;
        let events = events(log, assistant).await;
        let mut account = Self {
            heard: BTreeMap::new(),
            events: events.len(),
            memories: Vec::new(),
        };
        let mut effects = Effects::default();
        let mut trigger = None;
        for (seq, event) in events {
            account.take(seq, event, &mut trigger, &mut effects);
        }
        effects.agree_with(sandbox, assistant).await;
        account.deliveries_came_once_and_in_order();

        let whole = replay(log, assistant, Seq(u64::MAX)).await.unwrap();
        let restored = restore(log, assistant).await.unwrap();
        assert_eq!(whole.hash().unwrap(), restored.hash().unwrap());
        account
    }

    fn take(&mut self, seq: Seq, event: Event, trigger: &mut Option<Seq>, effects: &mut Effects) {
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
            Event::TickStarted(it) => *trigger = Some(it.trigger),
            Event::TickEnded(it) if it.resume_at.is_none() => {
                let trigger = trigger.take().expect("a tick that ends has begun");
                self.turn(trigger).closed.push(it.reason);
            }
            Event::Remembered(it) => self.memories.push(it.text),
            Event::EffectIntended(it) => {
                let trigger = trigger.expect("one acts within a tick");
                self.turn(trigger).deeds.push(it.clone());
                effects.intend(it);
            }
            Event::EffectSettled(it) => effects.settle(it.key, it.outcome),
            _ => {}
        }
    }

    fn turn(&mut self, trigger: Seq) -> &mut Heard {
        self.heard
            .get_mut(&trigger)
            .expect("a turn is about a message in the log")
    }

    /// The messages that ask for an answer.
    pub(crate) fn triggers(&self) -> impl Iterator<Item = &Heard> {
        self.heard
            .values()
            .filter(|heard| heard.verdict == Verdict::Trigger)
    }

    /// Checks that every message that asks for an answer has one, and no other has.
    ///
    /// # Panics
    ///
    /// If that is not so.
    pub(crate) fn every_message_is_answered_once(&self) {
        for heard in self.heard.values() {
            let expected = usize::from(heard.verdict == Verdict::Trigger);
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

/// What was intended and what became of it.
#[derive(Debug, Default)]
struct Effects {
    intended: BTreeMap<EffectKey, EffectIntended>,
    settled: BTreeMap<EffectKey, Outcome>,
}

impl Effects {
    fn intend(&mut self, intended: EffectIntended) {
        let before = self.intended.insert(intended.key.clone(), intended);
        assert_eq!(before, None, "a key stands for one effect");
    }

    fn settle(&mut self, key: EffectKey, outcome: Outcome) {
        assert!(self.intended.contains_key(&key), "intended before done");
        assert!(
            matches!(outcome, Outcome::Done(_)),
            "this world can tell, and nothing it was asked for is refused: {outcome:?}"
        );
        let before = self.settled.insert(key, outcome);
        assert_eq!(before, None, "an effect has one outcome");
    }

    /// Checks the log against the world's own durable record.
    async fn agree_with(&self, sandbox: &Sandbox, assistant: &AssistantId) {
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

#[cfg(test)]
mod tests {
    //! An account that overlooks something would make every test here worthless.

    use std::sync::Arc;

    use dormouse_contracts::{
        Append, AppendRequest, CallId, Effect, Perform, Timestamp, ToolCategory, ToolName,
    };
    use dormouse_engine::{AssistantConfig, EffectSettled};
    use dormouse_providers::OfflineModel;
    use dormouse_sandbox::CharacterKind;
    use dormouse_tests::Resident;
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use crate::household::{entity, key};

    /// A life of one answered whisper.
    async fn a_life() -> (TempDir, Household, AssistantId) {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let household = Household::open(folder.path());
        let (me, alice, key) = (entity("assistant:1"), entity("player:1"), key("dormouse"));
        let kind = CharacterKind::Assistant(key.clone());
        household.join(&me, "Dormouse", kind).await;
        household.join(&alice, "Alice", CharacterKind::Player).await;
        let ports = household.ports(Arc::new(OfflineModel::new()));
        let config = AssistantConfig::new(key.clone());
        let resident = Resident::wake(config, household.sandbox.tools(), ports).await;
        household.whisper(&alice, (&me, "Dormouse"), "hello").await;
        for perception in household.perceived(&me, 0).await {
            resident.hear(perception).await;
        }
        resident.rest().await;
        resident.end().await;
        (folder, household, key)
    }

    /// An act that the engine never decided.
    fn forged(actor: &AssistantId) -> Effect {
        Effect {
            key: EffectKey::try_new("forged").unwrap(),
            actor: actor.clone(),
            tool: ToolName::try_new("say").unwrap(),
            arguments: json!({"message": "again"}).as_object().unwrap().clone(),
        }
    }

    async fn log(household: &Household, assistant: &AssistantId, events: Vec<Event>) {
        let encoded = events.iter().map(|event| event.encode(Timestamp::EPOCH));
        let request = AppendRequest {
            assistant: assistant.clone(),
            expected: Seq(events_of(household, assistant).await),
            events: encoded.collect::<Result<_, _>>().unwrap(),
        };
        household.log.append(request).await.unwrap();
    }

    async fn events_of(household: &Household, assistant: &AssistantId) -> u64 {
        events(&household.log, assistant).await.len() as u64
    }

    #[tokio::test]
    async fn a_whole_life_passes() {
        let (_folder, household, key) = a_life().await;
        let account = Account::of(&household, &key).await;
        account.every_message_is_answered_once();
        assert_eq!(account.triggers().count(), 1);
    }

    #[tokio::test]
    #[should_panic(expected = "nothing is done unintended")]
    async fn an_act_that_is_not_in_the_log_is_noticed() {
        let (_folder, household, key) = a_life().await;
        household.sandbox.perform(&forged(&key)).await.unwrap();
        Account::of(&household, &key).await;
    }

    #[tokio::test]
    #[should_panic(expected = "left: 2")]
    async fn a_second_answer_is_noticed() {
        let (_folder, household, key) = a_life().await;
        let effect = forged(&key);
        let outcome = household.sandbox.perform(&effect).await.unwrap();
        let settled = EffectSettled {
            key: effect.key,
            outcome,
            content: String::new(),
            tokens: 0,
        };
        let mut more = begun(&household, &key).await;
        more.push(Event::EffectIntended(intended(&key)));
        more.push(Event::EffectSettled(settled));
        log(&household, &key, more).await;
        Account::of(&household, &key)
            .await
            .every_message_is_answered_once();
    }

    /// The beginning of the life's only turn, once more.
    async fn begun(household: &Household, key: &AssistantId) -> Vec<Event> {
        let events = events(&household.log, key).await.into_iter();
        events
            .map(|(_, event)| event)
            .filter(|event| matches!(event, Event::TickStarted(_)))
            .collect()
    }

    fn intended(actor: &AssistantId) -> EffectIntended {
        let Effect {
            key,
            tool,
            arguments,
            ..
        } = forged(actor);
        EffectIntended {
            key,
            call: CallId::try_new("forged").unwrap(),
            tool,
            category: ToolCategory::Terminal,
            arguments,
        }
    }

    #[tokio::test]
    #[should_panic(expected = "no effect is without its outcome")]
    async fn an_effect_without_an_outcome_is_noticed() {
        let (_folder, household, key) = a_life().await;
        let mut more = begun(&household, &key).await;
        more.push(Event::EffectIntended(intended(&key)));
        log(&household, &key, more).await;
        Account::of(&household, &key).await;
    }
}
