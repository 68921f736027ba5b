//! Whether the two lives, the world and the receipts agree with each other and with what was asked for.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{AssistantId, EffectKey, Outcome, Seq};
use dormouse_engine::{
    ApprovalAnswer, ContextType, DelegatedWords, EffectIntended, Event, TaskOutcome, replay,
    restore,
};
use dormouse_tests::{BLAST, COUNT, Workshop};
use serde_json::Value;

use super::script::{Kind, marked};
use crate::{
    account::{Effects, events, every_decision_is_the_same_again, performed},
    host::{Host, key},
    kill::the_memory_follows_from_the_log,
};

/// What one life did.
#[derive(Debug, Default)]
pub(super) struct Life {
    /// The messages that ask for something, by their marks.
    pub(super) heard: BTreeMap<u64, Seq>,
    /// What calls for a turn besides messages.
    occasions: BTreeSet<Seq>,
    /// How often the turn about something ended.
    closed: BTreeMap<Seq, u32>,
    /// What Alice heard from it.
    told: Vec<String>,
    /// What was asked for: the mark of the thing.
    asked: BTreeMap<Seq, u64>,
    answered: BTreeMap<Seq, ApprovalAnswer>,
    /// What was done under an approval: the mark of the thing.
    blasts: BTreeMap<Seq, u64>,
    counted: Vec<u64>,
    given: BTreeMap<EffectKey, u64>,
    ended: BTreeMap<EffectKey, TaskOutcome>,
    taken: BTreeSet<EffectKey>,
    done: BTreeSet<EffectKey>,
    pub(super) compactions: usize,
    pub(super) summaries: usize,
    pub(super) reflections: usize,
    pub(super) events: usize,
}

/// What both lives did.
#[derive(Debug)]
pub(super) struct Audit {
    pub(super) mole: Life,
    pub(super) rat: Life,
}

impl Audit {
    /// Goes over both lives of the folder.
    ///
    /// # Panics
    ///
    /// If something was lost or doubled, or does not follow from the log.
    pub(super) async fn of(folder: &Path) -> Self {
        let host = Host::open(folder);
        let mut done = performed(&host.sandbox).await;
        done.extend(Workshop::open(folder.join("receipts")).done());
        let [mole, rat] = ["mole", "rat"].map(key);
        let audit = Self {
            mole: Life::of(&host, &mole, &done).await,
            rat: Life::of(&host, &rat, &done).await,
        };
        for assistant in [&mole, &rat] {
            every_decision_is_the_same_again(&host, assistant).await;
            the_memory_follows_from_the_log(&host, assistant, folder).await;
        }
        audit.mole.tasks_agree_with(&audit.rat);
        audit.rat.tasks_agree_with(&audit.mole);
        audit
    }

    pub(super) fn lives(&self) -> [&Life; 2] {
        [&self.mole, &self.rat]
    }
}

impl Life {
    async fn of(
        host: &Host,
        assistant: &AssistantId,
        done: &[(dormouse_contracts::Effect, Outcome)],
    ) -> Self {
        let mut life = Self::default();
        let mut effects = Effects::default();
        let mut trigger = None;
        for (seq, event) in events(&host.log, assistant).await {
            life.events += 1;
            match event {
                Event::TickStarted(it) => trigger = Some((it.trigger, it.context)),
                Event::TickEnded(it) if it.resume_at.is_none() => {
                    match trigger.take().expect("a tick that ends has begun") {
                        // Nobody asked for it: so many ticks have passed since the last one.
                        (_, ContextType::Reflection) => life.reflections += 1,
                        (trigger, _) => *life.closed.entry(trigger).or_default() += 1,
                    }
                }
                Event::EffectIntended(it) => {
                    life.act(&it);
                    effects.intend(it);
                }
                Event::EffectSettled(it) => effects.settle(it.key, it.outcome),
                other => life.take(seq, other),
            }
        }
        effects.agree_with(done.iter().cloned(), assistant);
        life.every_occasion_had_its_turn();
        life.only_what_was_confirmed_was_done_and_once();
        life.everything_was_told_once();

        let whole = replay(&host.log, assistant, Seq(u64::MAX)).await.unwrap();
        let restored = restore(&host.log, assistant).await.unwrap();
        assert_eq!(whole.hash().unwrap(), restored.hash().unwrap());
        assert!(!whole.stop.is_on());
        life
    }

    fn act(&mut self, intended: &EffectIntended) {
        let thing = intended.arguments.get("thing").and_then(Value::as_str);
        let number = thing.and_then(marked);
        match intended.tool.as_str() {
            BLAST => {
                let approval = intended.approval.expect("only after somebody confirmed it");
                let is_allowed = self.answered.get(&approval) == Some(&ApprovalAnswer::Allowed);
                assert!(is_allowed, "{approval} was not confirmed: {intended:?}");
                assert_eq!(number, self.asked.get(&approval).copied());
                let before = self.blasts.insert(approval, number.unwrap());
                assert_eq!(before, None, "an approval is used once");
            }
            COUNT => self.counted.push(number.unwrap()),
            _ => {
                let said = intended.arguments["message"].as_str().unwrap();
                self.told.push(said.to_owned());
            }
        }
    }

    fn take(&mut self, seq: Seq, event: Event) {
        match event {
            Event::Perceived(it) if it.classification.verdict == MessageVerdict::Trigger => {
                let number = marked(it.perception.words.as_claimed()).expect("Alice marks all");
                let before = self.heard.insert(number, seq);
                assert_eq!(before, None, "message {number} was accepted twice");
            }
            Event::ApprovalRequested(it) => {
                let thing = it.arguments["thing"].as_str().unwrap();
                self.asked.insert(seq, marked(thing).unwrap());
            }
            Event::ApprovalAnswered(it) => {
                self.occasions.insert(seq);
                let before = self.answered.insert(it.approval, it.answer);
                assert_eq!(before, None, "{} was answered twice", it.approval);
            }
            Event::TaskDelegated(it) => {
                let number = marked(&it.task.task.text).unwrap();
                let before = self.given.insert(it.task.key, number);
                assert_eq!(before, None, "a key is one task");
            }
            Event::DelegationEnded(it) => {
                self.occasions.insert(seq);
                let before = self.ended.insert(it.key, it.outcome);
                assert_eq!(before, None, "a task ends once");
            }
            Event::TaskReceived(it) => {
                self.occasions.insert(seq);
                assert!(self.taken.insert(it.task.key), "a task comes once");
            }
            Event::TaskAnswered(it) => {
                assert!(self.done.insert(it.key), "a task is answered once");
            }
            Event::Compacted(_) => self.compactions += 1,
            Event::HistorySummarized(_) => self.summaries += 1,
            _ => {}
        }
    }

    fn every_occasion_had_its_turn(&self) {
        let occasions = self.heard.values().chain(&self.occasions);
        let expected: BTreeMap<Seq, u32> = occasions.map(|seq| (*seq, 1)).collect();
        assert_eq!(self.closed, expected);
    }

    fn only_what_was_confirmed_was_done_and_once(&self) {
        let wanted = self.of_kind(Kind::Blast);
        let asked: Vec<u64> = sorted(self.asked.values().copied());
        assert_eq!(asked, wanted, "it asks once for each");
        let answered: Vec<_> = self.answered.keys().collect();
        assert_eq!(answered, self.asked.keys().collect::<Vec<_>>());
        let allowed = self.answered.iter();
        let allowed = allowed.filter(|(_, answer)| **answer == ApprovalAnswer::Allowed);
        let allowed: Vec<_> = allowed.map(|(approval, _)| approval).collect();
        assert_eq!(self.blasts.keys().collect::<Vec<_>>(), allowed);
    }

    fn everything_was_told_once(&self) {
        let refused = self.answered.iter();
        let refused = refused.filter(|(_, answer)| **answer == ApprovalAnswer::Denied);
        let refused = refused.map(|(approval, _)| format!("refused mark{}", self.asked[approval]));
        let answers = self
            .heard
            .keys()
            .map(|number| format!("answer mark{number}"));
        let results = self.of_kind(Kind::HaveCounted).into_iter();
        let results = results.map(|number| format!("result mark{number}"));
        let expected = sorted(answers.chain(refused).chain(results));
        assert_eq!(sorted(self.told.iter().cloned()), expected);
    }

    /// The marks of the messages that ask for this.
    fn of_kind(&self, kind: Kind) -> Vec<u64> {
        let numbers = self.heard.keys().copied();
        numbers.filter(|number| Kind::of(*number) == kind).collect()
    }

    fn tasks_agree_with(&self, delegate: &Self) {
        let given = sorted(self.given.values().copied());
        assert_eq!(given, self.of_kind(Kind::HaveCounted), "each is given once");
        let ended: BTreeSet<_> = self.ended.keys().cloned().collect();
        assert_eq!(ended, self.given.keys().cloned().collect());
        assert_eq!(delegate.taken, ended);
        assert_eq!(delegate.done, ended);
        assert_eq!(sorted(delegate.counted.iter().copied()), given);
        for (key, outcome) in &self.ended {
            let expected = format!("counted mark{}", self.given[key]);
            assert!(
                matches!(outcome, TaskOutcome::Done(DelegatedWords { text, .. }) if *text == expected),
                "{outcome:?}"
            );
        }
    }

    /// How many things were blown up, and how many tasks were done by others.
    pub(super) fn deeds(&self) -> (usize, usize) {
        (self.blasts.len(), self.ended.len())
    }
}

fn sorted<T: Ord>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = all.into_iter().collect();
    all.sort();
    all
}
