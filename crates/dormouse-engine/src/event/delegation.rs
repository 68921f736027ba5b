//! Tasks that one assistant gives to another of the same host.
//!
//! Each side has its own log. `task_delegated` and `task_answered` are decided by the assistant whose log they are in. The host
//! carries them to the other log, where they become `task_received` and `delegation_ended`, under the same key.

use std::fmt;

use dormouse_contracts::{
    AssistantId, Audience, CallId, EffectKey, Origin, Seq, Sources, Timestamp, Trust, Usd,
};
use serde::{Deserialize, Serialize};

use crate::execution::Insulation;

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// Words that go from one assistant to another, with what has to be known of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelegatedWords {
    /// The words.
    pub text: String,
    /// How far they are believed, by the same rules as a note.
    pub trust: Trust,
    /// Who perceived what they were made from, other than the assistants. Absent if everything may be told to everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}

/// A task, as the delegate gets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelegatedTask {
    /// What it is known by in both logs. No other task of any assistant has it.
    pub key: EffectKey,
    /// Who gave the first task, and everybody through whom it came: the last one gives this task.
    pub chain: Vec<AssistantId>,
    /// What is to be done.
    pub task: DelegatedWords,
    /// What the delegate is shown of what the other one knows, if anything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub briefing: Option<DelegatedWords>,
    /// How much of it that is.
    pub insulation: Insulation,
    /// Whether the result is to be a summary.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub summarize: bool,
    /// The most tokens that the task may take, with all tasks that follow from it.
    pub tokens: u64,
    /// How many tasks may follow from it.
    pub quota: u32,
    /// Until when a result is waited for.
    pub expires_at: Timestamp,
}

/// The assistant gives a task to another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskDelegated {
    /// The call that asks for it.
    pub call: CallId,
    /// Whom the call names: a key, a tag, or a character's name. Absent for anybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The tag that a delegate has to have, if the settings name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The task.
    pub task: DelegatedTask,
    /// What its words rest on.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
    /// What its briefing shows.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub briefing_sources: Sources,
    /// What called for the turn that it goes back to: the tasks of one tree are counted by this.
    pub root: Seq,
    /// The task that it is a part of, if the assistant is a delegate itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<EffectKey>,
    /// What the tokens cost at most, if a price is known. Tokens and money count as spent until the task ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
}

/// The host found somebody for a task. It is on disk before the task is handed over, so a task never goes to two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelegateChosen {
    /// The task.
    pub key: EffectKey,
    /// Who does it.
    pub delegate: AssistantId,
}

/// Another assistant gives this one a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskReceived {
    /// The task.
    pub task: DelegatedTask,
}

/// A task of another assistant is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskAnswered {
    /// The task.
    pub key: EffectKey,
    /// What came of it.
    pub outcome: TaskOutcome,
    /// What it took.
    pub took: TaskCost,
    /// What the words of the result rest on.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
}

/// The one who gave a task does not want it any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCancelled {
    /// The task.
    pub key: EffectKey,
    /// Why.
    pub cause: DelegationFailure,
}

/// A task that was given to another assistant is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelegationEnded {
    /// The task.
    pub key: EffectKey,
    /// Who says so.
    pub by: EndedBy,
    /// What came of it.
    pub outcome: TaskOutcome,
    /// What it took. Absent if nobody knows: then all that was reserved stays spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<TaskCost>,
}

/// Who says that a task is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The host, which carries the answer of the delegate or found none.
    Carrier,
    /// The one who gave it: it waited for long enough, or does not want it any more.
    Itself,
}

/// What came of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskOutcome {
    /// It was done, with this result.
    Done(DelegatedWords),
    /// It was not done.
    Failed(DelegationFailure),
}

impl DelegatedTask {
    /// Where the briefing is, in an event that holds the task.
    pub(crate) fn briefing_in(event: Seq) -> Origin {
        let whole = Origin::event(event);
        whole.part(1).unwrap_or(whole)
    }
}

impl TaskOutcome {
    /// Why it was not done, if it was not.
    #[must_use]
    pub fn failure(&self) -> Option<DelegationFailure> {
        match self {
            Self::Done(_) => None,
            Self::Failed(failure) => Some(*failure),
        }
    }
}

/// What a task took, with all tasks that followed from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCost {
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// What they cost, as far as prices are known.
    pub cost: Usd,
    /// How many tasks followed from it.
    pub tasks: u32,
}

/// Why a task was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DelegationFailure {
    /// The settings, or the kind of tick, do not allow it.
    NotAllowed,
    /// Nobody else of the host is meant.
    NoneFound,
    /// The name is that of several assistants.
    Ambiguous,
    /// It would go to somebody through whom it came.
    Cycle,
    /// It would go through too many hands.
    Depth,
    /// Too many tasks, or too many tokens.
    BudgetUsedUp,
    /// The emergency stop of the delegate is on.
    EmergencyStop,
    /// The delegate takes no ticks: it sleeps, or is switched off.
    Asleep,
    /// There was no result in time.
    TimedOut,
    /// The delegate ended without a result.
    NoResult,
    /// The one who gave it does not need it any more.
    Cancelled,
    /// Nobody knows what became of it: the delegate was archived, or its log does not have it any more.
    Lost,
}

impl DelegationFailure {
    /// Its code, as logs and tools name it (`"emergency_stop"`).
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NotAllowed => "not_allowed",
            Self::NoneFound => "none_found",
            Self::Ambiguous => "ambiguous",
            Self::Cycle => "cycle",
            Self::Depth => "depth",
            Self::BudgetUsedUp => "budget_used_up",
            Self::EmergencyStop => "emergency_stop",
            Self::Asleep => "asleep",
            Self::TimedOut => "timed_out",
            Self::NoResult => "no_result",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for DelegationFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAllowed => "tasks cannot be given away here",
            Self::NoneFound => "there is no such assistant here",
            Self::Ambiguous => "several assistants have that name; use a key or a tag",
            Self::Cycle => "the task came from there",
            Self::Depth => "the task has gone through as many hands as it may",
            Self::BudgetUsedUp => "the budget for tasks is used up",
            Self::EmergencyStop => "that assistant is stopped",
            Self::Asleep => "that assistant sleeps, or is switched off",
            Self::TimedOut => "there was no result in time",
            Self::NoResult => "that assistant ended without a result",
            Self::Cancelled => "the task is not wanted any more",
            Self::Lost => "nobody knows what became of the task",
        })
    }
}
