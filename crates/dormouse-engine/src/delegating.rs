//! Giving tasks to other assistants: what may be given, and what the delegate is shown with it. Pure.

mod briefing;
mod choice;
mod status;

use dormouse_contracts::{AssistantId, Timestamp, ToolSpec, Usd};

use crate::{
    builtin::{ANSWER_TASK, DELEGATE_TASK},
    decide::each_budget,
    event::{DelegatedWords, DelegationFailure},
    execution::{TickPattern, compose},
    state::{State, TakenTask, Turn},
};
pub(crate) use briefing::briefing;
pub use choice::{DelegateCandidate, choose_delegate};
pub use status::{DelegationStatus, delegation_status};

/// If a budget has fewer tokens left than this, no task is given.
const LEAST_TOKENS: u64 = 2_000;

/// Whether a tick offers a tool, as far as tasks of assistants decide that.
pub(crate) fn is_offered(tool: &ToolSpec, pattern: &TickPattern, is_for_task: bool) -> bool {
    match tool.name.as_str() {
        DELEGATE_TASK => pattern.sub_agent_budget > 0,
        ANSWER_TASK => is_for_task,
        _ => true,
    }
}

/// How far a further task may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskRoom {
    /// The most tokens of it.
    pub(crate) tokens: u64,
    /// What these cost at most, if there is a price.
    pub(crate) cost: Option<Usd>,
    /// How many tasks may follow from it.
    pub(crate) quota: u32,
}

/// How far a task may go that is given away in this turn. What is left for the whole tree is divided: one half goes with the task,
/// so that no tree ever takes more than its root may.
///
/// # Errors
///
/// Why none may be given, and in words what is used up.
pub(crate) fn room(
    state: &State,
    turn: &Turn,
    now: Timestamp,
) -> Result<TaskRoom, (DelegationFailure, &'static str)> {
    let used_up = |what| Err((DelegationFailure::BudgetUsedUp, what));
    let settings = &state.configuration.settings;
    let limits = settings.delegation;
    let allowed = compose(settings, turn.context, None)
        .pattern
        .sub_agent_budget;
    if allowed == 0 {
        let what = "giving tasks away is switched off here";
        return Err((DelegationFailure::NotAllowed, what));
    }
    let tasks = &state.delegations;
    let task = tasks.task_of(turn.trigger_seq());
    let hands = task.map_or(0, |task| task.task.chain.len());
    let hands = u32::try_from(hands).unwrap_or(u32::MAX);
    if hands >= limits.depth {
        let what = "do it yourself: the task has gone through as many hands as it may";
        return Err((DelegationFailure::Depth, what));
    }
    if tasks.open().count() >= usize::try_from(allowed).unwrap_or(usize::MAX) {
        return used_up("as many tasks as may be given at the same time are not done yet");
    }
    let used = tasks.tasks_of_tree(tasks.root_of(turn.trigger_seq()));
    let used = task.map_or(used, |task| task.took.tasks);
    let most = task.map_or(limits.tasks, |task| task.task.quota);
    let Some(left) = most.saturating_sub(used).checked_sub(1) else {
        return used_up("no more tasks may follow from what you are dealing with");
    };
    let is_last_hand = hands.saturating_add(1) >= limits.depth;
    let quota = if is_last_hand { 0 } else { left / 2 };
    let budgets = &settings.budgets;
    let of_budgets = each_budget(budgets, &state.ledger, now);
    // A budget of money becomes tokens by the highest price of a token.
    let price = budgets
        .price
        .map(|price| price.input.picos().max(price.output.picos()));
    let of_budgets = of_budgets.map(|it| it.tokens_left(price.unwrap_or_default()));
    let of_task = task.map(TakenTask::tokens_left);
    let half = of_budgets
        .chain(of_task)
        .min()
        .map_or(u64::MAX, |left| left / 2);
    let tokens = u64::from(limits.tokens).min(half);
    if tokens < LEAST_TOKENS.min(limits.tokens.into()) {
        return used_up("too few tokens are left for another task");
    }
    let cost = price.map(|price| Usd::from_picos(price.saturating_mul(tokens)));
    Ok(TaskRoom {
        tokens,
        cost,
        quota,
    })
}

/// Through whom a task came that is given away in this turn, with the assistant itself as the last one.
pub(crate) fn chain(state: &State, turn: &Turn, own: &AssistantId) -> Vec<AssistantId> {
    let task = state.delegations.task_of(turn.trigger_seq());
    let before = task.map_or(&[][..], |task| &task.task.chain);
    before.iter().chain([own]).cloned().collect()
}

/// What a turn shows of the briefing of its task: the assistant that gave it is known by the task alone in a careful turn.
pub(crate) fn shown_briefing<'a>(state: &'a State, turn: &Turn) -> Option<&'a DelegatedWords> {
    let taken = state.delegations.taken_at(turn.trigger_seq())?;
    taken.task.briefing.as_ref().filter(|_| !turn.is_careful())
}

/// The most tokens of the next reply of a turn, if it is for a task that may take only so many. `before` is the length of the
/// prompt, and `usual` the most tokens of a reply otherwise.
pub(crate) fn longest_reply_of_task(
    state: &State,
    turn: &Turn,
    before: u32,
    usual: u32,
) -> Option<u32> {
    let taken = state.delegations.task_of(turn.trigger_seq())?;
    let left = taken.tokens_left().saturating_sub(before.into());
    Some(
        u32::try_from(left)
            .unwrap_or(u32::MAX)
            .clamp(1, usual.max(1)),
    )
}
