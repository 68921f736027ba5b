//! Tasks that the assistant gave to others, and tasks that others gave to it.

mod occasion;

use std::collections::VecDeque;

use dormouse_contracts::{AssistantId, EffectKey, Seq, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    ledger::{Amount, Reservation, spent},
    trigger::Occasion,
    turns::Turns,
};
use crate::{
    config::{Privacy, TokenPrice},
    event::{
        DelegatedTask, DelegationEnded, DelegationFailure, Event, ReservedBy, TaskCost,
        TaskDelegated,
    },
};

/// Tasks that the assistant gave to others, and tasks that others gave to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Delegations {
    /// The tasks that it gave, oldest first: the open ones, and those that ended lately.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    given: Vec<GivenTask>,
    /// The tasks that it was given, oldest first: the open ones, and those that ended lately.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    taken: Vec<TakenTask>,
    /// The keys of earlier tasks that it was given, oldest first, each with the event that ended the task. So no task
    /// is done twice.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    taken_before: VecDeque<(EffectKey, Seq)>,
    /// For each trigger of a turn, how many tasks followed from it, plus those reserved for delegates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trees: Vec<(Seq, u32)>,
}

/// A task that the assistant gave to another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenTask {
    /// The event that gave it.
    pub seq: Seq,
    /// When that event was written.
    pub at: Timestamp,
    /// The task.
    pub delegated: TaskDelegated,
    /// The assistant that does it, once the host has found one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegate: Option<AssistantId>,
    /// How it ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<TaskEnd>,
}

/// A task that another assistant gave to this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TakenTask {
    /// The event with which it arrived. It identifies the turn for the task.
    pub seq: Seq,
    /// When that event was written.
    pub at: Timestamp,
    /// The task.
    pub task: DelegatedTask,
    /// Its cost so far, including what servers of tools asked of the model in its turns and what is reserved for tasks
    /// that follow from it.
    pub took: TaskCost,
    /// How it ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<TaskEnd>,
}

/// How a task ended. It is also kept for a cancelled or lost task, so that a late answer is recognized as not expected
/// any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskEnd {
    /// The event that ended it.
    pub seq: Seq,
    /// When that event was written.
    pub at: Timestamp,
    /// Why it was not done; absent if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<DelegationFailure>,
}

/// What an event means for the turns.
#[derive(Debug, Default)]
pub(super) struct Stirred {
    /// A new occasion for a turn.
    pub(super) due: Option<Occasion>,
    /// The trigger that needs no turn any more.
    pub(super) over: Option<Seq>,
}

impl GivenTask {
    /// Whether somebody still waits for its result.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.ended.is_none()
    }

    /// The key of the task in both logs.
    #[must_use]
    pub fn key(&self) -> &EffectKey {
        &self.delegated.task.key
    }
}

impl TakenTask {
    /// Whether somebody still waits for its result.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.ended.is_none()
    }

    /// How many tokens it may still take.
    #[must_use]
    pub fn tokens_left(&self) -> u64 {
        self.task.tokens.saturating_sub(self.took.tokens)
    }

    /// Who gave it.
    #[must_use]
    pub fn from(&self) -> Option<&AssistantId> {
        self.task.chain.last()
    }
}

impl Delegations {
    /// How many ended tasks of each kind a state keeps. Tasks that still need work are kept in addition.
    pub const ENDED_KEPT: usize = 50;
    /// For how many earlier tasks a state keeps only the key. A task that is delivered again after that many others
    /// counts as new, if its giver still waits.
    pub const KEYS_KEPT: usize = 1_000;
    /// For how many triggers the number of their tasks is kept.
    const TREES_KEPT: usize = 100;

    pub(super) fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// Folds one event in. `turns` are those before the event.
    pub(super) fn apply(
        &mut self,
        (seq, at): (Seq, Timestamp),
        event: &Event,
        turns: &Turns,
        (price, privacy): (Option<TokenPrice>, Privacy),
    ) -> Stirred {
        match event {
            Event::TaskDelegated(delegated) => {
                self.prune_ended(turns);
                self.given_away(seq, at, delegated);
            }
            Event::DelegateChosen(chosen) => {
                if let Some(given) = self.given_mut(&chosen.key) {
                    given.delegate = Some(chosen.delegate.clone());
                }
            }
            Event::DelegationEnded(ended) => return self.ended((seq, at), ended, privacy),
            Event::TaskReceived(received) => {
                if self.has_taken(&received.task.key) {
                    return Stirred::default();
                }
                self.prune_ended(turns);
                let taken = TakenTask {
                    seq,
                    at,
                    task: received.task.clone(),
                    took: TaskCost::default(),
                    ended: None,
                };
                let due = Some(taken.occasion(privacy));
                self.taken.push(taken);
                return Stirred { due, over: None };
            }
            Event::TaskAnswered(answered) => {
                let failure = answered.outcome.failure();
                return self.end_taken(&answered.key, TaskEnd { seq, at, failure });
            }
            Event::TaskCancelled(cancelled) => {
                let failure = Some(cancelled.cause);
                return self.end_taken(&cancelled.key, TaskEnd { seq, at, failure });
            }
            Event::Replied(it) => {
                let amount = spent(it.reply.usage, it.prompt_tokens, it.tokens, price);
                self.take_for_current(turns, amount);
            }
            // The reply to a server of tools is in no event, so the reservation counts as the cost of its request.
            Event::CallReserved(reserved) if reserved.by == ReservedBy::Server => {
                self.take_for_current(turns, Reservation::amount_of(reserved));
            }
            _ => {}
        }
        Stirred::default()
    }

    /// Counts what a call of a model took for the task of the turn under way.
    fn take_for_current(&mut self, turns: &Turns, Amount { tokens, cost }: Amount) {
        let key = self.current_task(turns).map(|task| task.task.key.clone());
        if let Some(taken) = key.and_then(|key| self.taken_mut(&key)) {
            taken.took.tokens = taken.took.tokens.saturating_add(tokens);
            taken.took.cost = taken.took.cost.plus(cost);
        }
    }

    fn given_away(&mut self, seq: Seq, at: Timestamp, delegated: &TaskDelegated) {
        let task = &delegated.task;
        let promised = task.quota.saturating_add(1);
        match self
            .trees
            .iter_mut()
            .find(|(root, _)| *root == delegated.root)
        {
            Some((_, tasks)) => *tasks = tasks.saturating_add(promised),
            None => self.trees.push((delegated.root, promised)),
        }
        if let Some(taken) = delegated
            .part_of
            .as_ref()
            .and_then(|key| self.taken_mut(key))
        {
            taken.took.tokens = taken.took.tokens.saturating_add(task.tokens);
            taken.took.tasks = taken.took.tasks.saturating_add(promised);
        }
        self.given.push(GivenTask {
            seq,
            at,
            delegated: delegated.clone(),
            delegate: None,
            ended: None,
        });
    }

    fn ended(
        &mut self,
        (seq, at): (Seq, Timestamp),
        ended: &DelegationEnded,
        privacy: Privacy,
    ) -> Stirred {
        // A second end changes nothing: it is a repetition, or it came too late.
        let Some(given) = self.given_mut(&ended.key).filter(|given| given.is_open()) else {
            return Stirred::default();
        };
        let failure = ended.outcome.failure();
        given.ended = Some(TaskEnd { seq, at, failure });
        let due = given.result_occasion((seq, at), &ended.outcome, privacy);
        let TaskDelegated {
            root,
            part_of,
            task,
            ..
        } = given.delegated.clone();
        // Without a report, the whole reservation counts as spent.
        if let Some(took) = ended.took {
            let unused = task.quota.saturating_sub(took.tasks);
            if let Some((_, tasks)) = self.trees.iter_mut().find(|(tree, _)| *tree == root) {
                *tasks = tasks.saturating_sub(unused);
            }
            if let Some(above) = part_of.as_ref().and_then(|key| self.taken_mut(key)) {
                let tokens = above.took.tokens.saturating_sub(task.tokens);
                above.took.tokens = tokens.saturating_add(took.tokens);
                above.took.cost = above.took.cost.plus(took.cost);
                above.took.tasks = above.took.tasks.saturating_sub(unused);
            }
        }
        let is_wanted = failure != Some(DelegationFailure::Cancelled);
        Stirred {
            due: is_wanted.then_some(due),
            over: None,
        }
    }

    fn end_taken(&mut self, key: &EffectKey, end: TaskEnd) -> Stirred {
        let Some(taken) = self.taken_mut(key).filter(|taken| taken.is_open()) else {
            return Stirred::default();
        };
        taken.ended = Some(end);
        Stirred {
            due: None,
            over: Some(taken.seq),
        }
    }

    fn given_mut(&mut self, key: &EffectKey) -> Option<&mut GivenTask> {
        self.given.iter_mut().find(|given| given.key() == key)
    }

    fn taken_mut(&mut self, key: &EffectKey) -> Option<&mut TakenTask> {
        self.taken.iter_mut().find(|taken| taken.task.key == *key)
    }

    /// The tasks that it gave, oldest first.
    pub fn given(&self) -> impl ExactSizeIterator<Item = &GivenTask> {
        self.given.iter()
    }

    /// The tasks that it was given, oldest first.
    pub fn taken_tasks(&self) -> impl ExactSizeIterator<Item = &TakenTask> {
        self.taken.iter()
    }

    /// The tasks that it gave and waits for, oldest first.
    pub fn open(&self) -> impl Iterator<Item = &GivenTask> {
        self.given.iter().filter(|given| given.is_open())
    }

    /// The task with this key that it gave.
    #[must_use]
    pub fn given_task(&self, key: &EffectKey) -> Option<&GivenTask> {
        self.given.iter().find(|given| given.key() == key)
    }

    /// The task with this key that it was given.
    #[must_use]
    pub fn taken(&self, key: &EffectKey) -> Option<&TakenTask> {
        self.taken.iter().find(|taken| taken.task.key == *key)
    }

    /// The task that arrived with this event.
    pub(crate) fn taken_at(&self, seq: Seq) -> Option<&TakenTask> {
        self.taken.iter().find(|taken| taken.seq == seq)
    }

    /// The task whose end is this event.
    fn given_ended_at(&self, seq: Seq) -> Option<&GivenTask> {
        let is_it = |end: TaskEnd| end.seq == seq;
        self.given
            .iter()
            .find(|given| given.ended.is_some_and(is_it))
    }

    /// The task of another assistant that a turn works on: the turn's trigger brought the task, or brought the result
    /// of a part of it.
    pub(crate) fn task_of(&self, turn: Seq) -> Option<&TakenTask> {
        self.taken_at(turn).or_else(|| {
            let part = self.given_ended_at(turn)?;
            self.taken(part.delegated.part_of.as_ref()?)
        })
    }

    /// The task of another assistant that the turn under way works on.
    pub(crate) fn current_task(&self, turns: &Turns) -> Option<&TakenTask> {
        self.task_of(turns.current()?.trigger_seq())
    }

    /// The trigger of the first turn in a chain of turns that follow from results of tasks.
    pub(crate) fn root_of(&self, turn: Seq) -> Seq {
        let result = self.given_ended_at(turn);
        result.map_or(turn, |given| given.delegated.root)
    }

    /// How many tasks followed from this trigger, including those reserved for delegates.
    pub(crate) fn tasks_of_tree(&self, root: Seq) -> u32 {
        let tree = self.trees.iter().find(|(tree, _)| *tree == root);
        tree.map_or(0, |(_, tasks)| *tasks)
    }

    /// The next moment after `now` at which it stops waiting for a result.
    pub(crate) fn next_deadline(&self, now: Timestamp) -> Option<Timestamp> {
        let deadlines = self.open().map(|given| given.delegated.task.expires_at);
        deadlines.filter(|at| *at > now).min()
    }

    /// Whether it was given the task with this key. It remembers at least the last [`KEYS_KEPT`](Self::KEYS_KEPT)
    /// tasks.
    #[must_use]
    pub fn has_taken(&self, key: &EffectKey) -> bool {
        self.taken(key).is_some() || self.end_of_taken(key).is_some()
    }

    /// The event that ended the task with this key that it was given.
    #[must_use]
    pub fn end_of_taken(&self, key: &EffectKey) -> Option<Seq> {
        let lately = || Some(self.taken(key)?.ended?.seq);
        let before = self.taken_before.iter().find(|(it, _)| it == key);
        before.map(|(_, end)| *end).or_else(lately)
    }

    /// Removes the oldest ended tasks, if there are too many. A task stays while a turn works on it or a part of it is
    /// waited for.
    fn prune_ended(&mut self, turns: &Turns) {
        let is_done = |end: Option<TaskEnd>, calls_for: Seq| end.is_some() && !turns.has(calls_for);
        let is_over = |given: &GivenTask| {
            let end = given.ended;
            is_done(end, end.map_or(given.seq, |end| end.seq))
        };
        prune(&mut self.given, is_over);
        let is_above = |key: &EffectKey| {
            let mut open = self.given.iter().filter(|given| !is_over(given));
            open.any(|given| given.delegated.part_of.as_ref() == Some(key))
        };
        let is_done =
            |taken: &TakenTask| is_done(taken.ended, taken.seq) && !is_above(&taken.task.key);
        if let Some(pruned) = prune(&mut self.taken, is_done) {
            let end = pruned.ended.map(|end| (pruned.task.key, end.seq));
            self.taken_before.extend(end);
            if self.taken_before.len() > Self::KEYS_KEPT {
                self.taken_before.pop_front();
            }
        }
        let given = &self.given;
        let is_felled = |(root, _): &(Seq, u32)| {
            let mut left = given.iter().filter(|given| !is_over(given));
            !turns.has(*root) && !left.any(|given| given.delegated.root == *root)
        };
        if self.trees.len() >= Self::TREES_KEPT
            && let Some(oldest) = self.trees.iter().position(is_felled)
        {
            self.trees.remove(oldest);
        }
    }
}

/// Removes the oldest ended task, if too many have ended.
fn prune<T>(all: &mut Vec<T>, is_over: impl Fn(&T) -> bool) -> Option<T> {
    if all.iter().filter(|task| is_over(task)).count() <= Delegations::ENDED_KEPT {
        return None;
    }
    let oldest = all.iter().position(is_over)?;
    Some(all.remove(oldest))
}

#[cfg(test)]
mod tests;
