//! How it stands with tasks that are given to other assistants.

use serde::Serialize;

use crate::{execution::Insulation, state::State};

/// How it stands with tasks that are given to other assistants: what the documents call `get_delegation_status_for_command`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DelegationStatus {
    /// Whether it may give tasks away.
    pub enabled: bool,
    /// How many it gave away that are not over.
    pub active: usize,
    /// How many it may give away at the same time.
    pub budget: u32,
    /// How many more it may give away now.
    pub available: u32,
    /// What a delegate learns of it.
    pub insulation: Insulation,
    /// The tag that a delegate has to have; anybody, if absent.
    pub tag: Option<String>,
    /// Whether results are summed up.
    pub summarize: bool,
    /// How many tasks of others it has that are not over.
    pub taken: usize,
}

/// How it stands with tasks that are given to other assistants. Pure.
#[must_use]
pub fn delegation_status(state: &State) -> DelegationStatus {
    let execution = &state.configuration.settings.execution;
    let active = state.delegations.open().count();
    let budget = match execution.sub_agents_enabled {
        true => execution.sub_agent_budget,
        false => 0,
    };
    let taken = state.delegations.taken_tasks();
    DelegationStatus {
        enabled: execution.sub_agents_enabled,
        active,
        budget,
        available: budget.saturating_sub(u32::try_from(active).unwrap_or(u32::MAX)),
        insulation: execution.personality_insulation,
        tag: execution.delegate_assistant_tag.clone(),
        summarize: execution.result_summarization,
        taken: taken.filter(|taken| taken.is_open()).count(),
    }
}
