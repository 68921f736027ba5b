//! Tasks that the assistant gave to others, and tasks that others gave to it.

mod occasion;

use dormouse_contracts::{AssistantId, EffectKey, Seq, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    ledger::{Amount, spent},
    trigger::Occasion,
};
use crate::{
    config::TokenPrice,
    event::{DelegatedTask, DelegationEnded, DelegationFailure, Event, TaskCost, TaskDelegated},
};

/// Tasks that the assistant gave to others, and tasks that others gave to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Delegations {
    /// What it gave away, oldest first: what is open, and what ended lately.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    given: Vec<GivenTask>,
    /// What it was given, oldest first: what is open, and what ended lately.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    taken: Vec<TakenTask>,
    /// How many tasks followed from what called for a turn, and how many more were promised to delegates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trees: Vec<(Seq, u32)>,
}

/// A task that the assistant gave to another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenTask {
    /// The event that gave it.
    pub seq: Seq,
    /// When that was.
    pub at: Timestamp,
    /// The task.
    pub delegated: TaskDelegated,
    /// Who does it, once the host has found somebody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegate: Option<AssistantId>,
    /// How it ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<TaskEnd>,
}

/// A task that another assistant gave to this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TakenTask {
    /// The event with which it came. The turn for it is known by this.
    pub seq: Seq,
    /// When that was.
    pub at: Timestamp,
    /// The task.
    pub task: DelegatedTask,
    /// What it took so far. What is reserved for tasks that follow from it counts.
    pub took: TaskCost,
    /// How it ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<TaskEnd>,
}

/// How a task ended. It is what is left of one that was cancelled or lost, so that a late answer finds that nobody waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskEnd {
    /// The event that ended it.
    pub seq: Seq,
    /// When that was.
    pub at: Timestamp,
    /// Why it was not done; absent if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<DelegationFailure>,
}

/// What follows from an event for the turns.
#[derive(Debug, Default)]
pub(super) struct Stirred {
    /// This calls for a turn.
    pub(super) due: Option<Occasion>,
    /// This calls for none any more.
    pub(super) over: Option<Seq>,
}

impl GivenTask {
    /// Whether its result is waited for.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.ended.is_none()
    }

    /// What it is known by in both logs.
    #[must_use]
    pub fn key(&self) -> &EffectKey {
        &self.delegated.task.key
    }
}

impl TakenTask {
    /// Whether its result is waited for.
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
    /// How many tasks that ended a state keeps, of each kind.
    pub const ENDED_KEPT: usize = 50;
    /// For how many turns it is kept how many tasks followed from them.
    const TREES_KEPT: usize = 100;

    pub(super) fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// Folds one event in. `turn` is what called for the turn that is under way.
    pub(super) fn apply(
        &mut self,
        (seq, at): (Seq, Timestamp),
        event: &Event,
        turn: Option<Seq>,
        price: Option<TokenPrice>,
    ) -> Stirred {
        match event {
            Event::TaskDelegated(delegated) => self.given_away(seq, at, delegated),
            Event::DelegateChosen(chosen) => {
                if let Some(given) = self.given_mut(&chosen.key) {
                    given.delegate = Some(chosen.delegate.clone());
                }
            }
            Event::DelegationEnded(ended) => return self.ended((seq, at), ended),
            Event::TaskReceived(received) => {
                if self.taken(&received.task.key).is_some() {
                    return Stirred::default();
                }
                let taken = TakenTask {
                    seq,
                    at,
                    task: received.task.clone(),
                    took: TaskCost::default(),
                    ended: None,
                };
                let due = Some(taken.occasion());
                forget_ended(&mut self.taken, TakenTask::is_open);
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
                if let Some(taken) = turn.and_then(|turn| self.task_of_mut(turn)) {
                    let Amount { tokens, cost } = amount;
                    taken.took.tokens = taken.took.tokens.saturating_add(tokens);
                    taken.took.cost = taken.took.cost.plus(cost);
                }
            }
            _ => {}
        }
        Stirred::default()
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
        if self.trees.len() > Self::TREES_KEPT {
            self.trees.remove(0);
        }
        if let Some(taken) = delegated
            .part_of
            .as_ref()
            .and_then(|key| self.taken_mut(key))
        {
            taken.took.tokens = taken.took.tokens.saturating_add(task.tokens);
            taken.took.tasks = taken.took.tasks.saturating_add(promised);
        }
        forget_ended(&mut self.given, GivenTask::is_open);
        self.given.push(GivenTask {
            seq,
            at,
            delegated: delegated.clone(),
            delegate: None,
            ended: None,
        });
    }

    fn ended(&mut self, (seq, at): (Seq, Timestamp), ended: &DelegationEnded) -> Stirred {
        // A second end changes nothing: it is the same one again, or it came too late.
        let Some(given) = self.given_mut(&ended.key).filter(|given| given.is_open()) else {
            return Stirred::default();
        };
        let failure = ended.outcome.failure();
        given.ended = Some(TaskEnd { seq, at, failure });
        let due = given.result_occasion((seq, at), &ended.outcome);
        let TaskDelegated {
            root,
            part_of,
            task,
            ..
        } = given.delegated.clone();
        // What nobody accounts for stays spent.
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

    fn task_of_mut(&mut self, turn: Seq) -> Option<&mut TakenTask> {
        let key = self.task_of(turn)?.task.key.clone();
        self.taken_mut(&key)
    }

    /// What it gave away, oldest first.
    pub fn given(&self) -> impl ExactSizeIterator<Item = &GivenTask> {
        self.given.iter()
    }

    /// What it was given, oldest first.
    pub fn taken_tasks(&self) -> impl ExactSizeIterator<Item = &TakenTask> {
        self.taken.iter()
    }

    /// What it gave away and waits for, oldest first.
    pub fn open(&self) -> impl Iterator<Item = &GivenTask> {
        self.given.iter().filter(|given| given.is_open())
    }

    /// The task with this key that it gave away.
    #[must_use]
    pub fn given_task(&self, key: &EffectKey) -> Option<&GivenTask> {
        self.given.iter().find(|given| given.key() == key)
    }

    /// The task with this key that it was given.
    #[must_use]
    pub fn taken(&self, key: &EffectKey) -> Option<&TakenTask> {
        self.taken.iter().find(|taken| taken.task.key == *key)
    }

    /// The task that came with this event.
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

    /// The task of another assistant that a turn is for: it came with what called for the turn, or the turn is for the result
    /// of a part of it.
    pub(crate) fn task_of(&self, turn: Seq) -> Option<&TakenTask> {
        self.taken_at(turn).or_else(|| {
            let part = self.given_ended_at(turn)?;
            self.taken(part.delegated.part_of.as_ref()?)
        })
    }

    /// What called for the first turn of those that follow from one another by results.
    pub(crate) fn root_of(&self, turn: Seq) -> Seq {
        let result = self.given_ended_at(turn);
        result.map_or(turn, |given| given.delegated.root)
    }

    /// How many tasks followed from what called for a turn, with those that were promised to delegates.
    pub(crate) fn tasks_of_tree(&self, root: Seq) -> u32 {
        let tree = self.trees.iter().find(|(tree, _)| *tree == root);
        tree.map_or(0, |(_, tasks)| *tasks)
    }

    /// The next moment after `now` at which it waits for a result no longer.
    pub(crate) fn next_deadline(&self, now: Timestamp) -> Option<Timestamp> {
        let deadlines = self.open().map(|given| given.delegated.task.expires_at);
        deadlines.filter(|at| *at > now).min()
    }
}

/// Leaves out the oldest that ended, if there are too many.
fn forget_ended<T>(all: &mut Vec<T>, is_open: impl Fn(&T) -> bool) {
    let ended = all.iter().filter(|task| !is_open(task)).count();
    if ended > Delegations::ENDED_KEPT
        && let Some(oldest) = all.iter().position(|task| !is_open(task))
    {
        all.remove(oldest);
    }
}
