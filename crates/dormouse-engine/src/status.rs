//! The status of an assistant, for people and programs that watch it.

use dormouse_contracts::{Seq, Timestamp};
use serde::Serialize;

use crate::{
    compacting::WindowLevel,
    decide::{BudgetStatus, each_budget},
    event::StopCause,
    gate::Skip,
    sleeping::SleepPhase,
    state::{Pause, Spent, State},
};

/// What an assistant is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activity {
    /// Nothing: there is no reason to think.
    #[default]
    Idle,
    /// Waiting for its model.
    Thinking,
    /// Waiting for its world.
    Acting,
    /// Waiting until this moment, after an error or between two single actions.
    Waiting(Timestamp),
    /// Waiting because its world could not be reached. The pending act is tried again after the wait.
    WorldUnreachable {
        /// When the world is tried again.
        until: Timestamp,
        /// Why it could not be reached, if known.
        cause: Option<String>,
    },
    /// Waiting until its budgets allow a further call of its model.
    OverBudget {
        /// When the budgets allow a call again.
        until: Timestamp,
    },
    /// Waiting because the services of its model asked for a pause. This is the pause that ends first.
    Paused(Pause),
    /// Waiting until its log can be written again.
    Stalled {
        /// Why it cannot be written: which file, and what the operating system says.
        cause: String,
    },
    /// Asleep.
    Asleep {
        /// When it wakes, unless something wakes it earlier.
        until: Timestamp,
        /// Whether it is doing the work of the night.
        is_working: bool,
    },
    /// Switched off.
    Disabled,
    /// Stopped until somebody clears the stop.
    Stopped(StopCause),
}

/// How many ticks did nothing, by reason. Counted from the start of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// The emergency stop was on.
    pub emergency_stop: u64,
    /// The assistant was switched off.
    pub disabled: u64,
    /// The previous tick was still under way.
    pub collision: u64,
    /// The open turn was waiting, or the services of the model had asked for a pause.
    pub waiting: u64,
    /// It was asleep.
    pub asleep: u64,
    /// There was nothing to do.
    pub idle: u64,
}

impl Skipped {
    pub(crate) fn count(&mut self, skip: Skip, ticks: u64) {
        let counter = match skip {
            Skip::EmergencyStop => &mut self.emergency_stop,
            Skip::Disabled => &mut self.disabled,
            Skip::Collision => &mut self.collision,
            Skip::Waiting(_) | Skip::Paused(_) => &mut self.waiting,
            Skip::Asleep(_) => &mut self.asleep,
            Skip::Idle => &mut self.idle,
        };
        *counter = counter.saturating_add(ticks);
    }
}

/// How often an assistant was stopped, and the counters that may stop it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SafetyCounters {
    /// How often the emergency stop was triggered, in its whole life.
    pub stops: u64,
    /// How many errors occurred without a success between them.
    pub consecutive_errors: u32,
    /// How many of them trigger the emergency stop.
    pub max_consecutive_errors: u32,
    /// For each tool that failed, how many of its last calls failed.
    pub failures: Vec<ToolFailures>,
}

/// How many of the last calls of a tool failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolFailures {
    /// The tool.
    pub tool: String,
    /// How many failed.
    pub failed: usize,
    /// Out of how many calls.
    pub calls: usize,
}

impl SafetyCounters {
    /// The counters of an assistant in this state.
    #[must_use]
    pub fn of(state: &State) -> Self {
        let failures = state.errors.failures();
        let failures = failures.map(|(tool, failed, calls)| ToolFailures {
            tool: tool.to_owned(),
            failed,
            calls,
        });
        let limits = &state.configuration.settings.limits;
        Self {
            stops: state.counts.stops,
            consecutive_errors: state.errors.consecutive,
            max_consecutive_errors: limits.max_consecutive_errors(),
            failures: failures.collect(),
        }
    }
}

impl BudgetStatus {
    /// The budgets of an assistant in this state, and how much of each counts as spent at `now`.
    #[must_use]
    pub fn each(state: &State, now: Timestamp) -> Vec<Self> {
        each_budget(&state.configuration.settings.budgets, &state.ledger, now).collect()
    }
}

/// The status of an assistant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// What it is doing.
    pub activity: Activity,
    /// The time since which people who wait have seen no sign of the assistant, if that is longer than
    /// [`AssistantConfig::slow_after`](crate::AssistantConfig::slow_after). This is also set while no call is under
    /// way; the activity then shows until when it waits.
    pub slow_since: Option<Timestamp>,
    /// When the oldest message that waits for an answer was accepted.
    pub waiting_since: Option<Timestamp>,
    /// How many messages wait for an answer, the one being worked on included.
    pub waiting: usize,
    /// How many acts wait for a person who confirms or refuses them.
    pub approvals: usize,
    /// How many messages ended without an answer, in its whole life.
    pub unanswered: u64,
    /// How many messages were overheard instead of answered because their senders asked too much, in its whole life.
    pub overheard: u64,
    /// How many lines were only counted because their senders said too much, in its whole life.
    pub dropped: u64,
    /// How many messages of other assistants it answered since a person last said something. Present only if that is
    /// the limit [`Limits::max_exchanges`](crate::Limits::max_exchanges): then it answers no more of them until a
    /// person says something.
    pub exchanges: Option<u32>,
    /// Whether its model or its world failed so often in a row that nobody should wait for an answer. They are still
    /// tried again.
    pub is_out: bool,
    /// Whether it is about to say in its world that it is stopped.
    pub is_announcing: bool,
    /// How often it was stopped, and the counters that may stop it.
    pub safety: SafetyCounters,
    /// How many calls of its model, its world and its memory panicked, since it woke. Each counts as a failed call.
    pub panics: u64,
    /// The last event of its log.
    pub seq: Seq,
    /// How many ticks found a reason to think, in its whole life.
    pub ticks: u64,
    /// How many ticks did nothing, by reason.
    pub skipped: Skipped,
    /// How many tokens its last prompt took.
    pub prompt_tokens: u32,
    /// The size of its context window, in tokens.
    pub max_context_tokens: u32,
    /// How full the window was with that prompt, in a word for people.
    pub window_level: WindowLevel,
    /// How often earlier turns were left out of its prompts, in its whole life.
    pub compactions: u64,
    /// When turns were left out last.
    pub last_compaction: Option<Timestamp>,
    /// How many spans of turns have no summary because making it failed three times. Their words can be recalled.
    pub summaries_skipped: u64,
    /// What it has spent in its whole life.
    pub spent: Spent,
    /// Its budgets, and how much of each counts as spent.
    pub budgets: Vec<BudgetStatus>,
    /// How many memories it stored on purpose. It also remembers everything else that it heard.
    pub memories: u64,
    /// The tools that are not called for now because they gave no answers lately.
    pub tools_not_attempted: Vec<String>,
    /// The phase of its sleep, if it is asleep.
    pub sleep_phase: Option<SleepPhase>,
    /// How many tools it used since it woke.
    pub activity_since_wake: u64,
    /// When it falls asleep by its schedule, if it is awake and has a schedule.
    pub falls_asleep_at: Option<Timestamp>,
}
