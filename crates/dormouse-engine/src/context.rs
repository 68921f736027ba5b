//! The seven kinds of ticks: what a prompt of each shows, which tools it offers, how many steps it may take, and when it is
//! entered.

use std::collections::BTreeSet;

use dormouse_contracts::{Seq, ToolCategory, ToolSpec, Trust};
use serde::{Deserialize, Serialize};

use crate::{
    builtin::WAKE_UP,
    config::ExecutionPattern,
    event::{ContextType, NOOP},
    prompt::Component,
    state::{OccasionKind, State, Trigger, Turn},
};

/// What a kind of tick is, unless the operator says otherwise. Layer 2 of an [execution pattern](crate::TickPattern).
#[derive(Debug)]
pub struct ContextRow {
    /// Which kind.
    pub context: ContextType,
    /// Its name in settings and logs.
    pub name: &'static str,
    /// When it is entered.
    pub entry: &'static str,
    /// The parts of its prompt.
    pub components: &'static [Component],
    /// The tools that it offers: names and groups; absent for all. Doing nothing is always possible.
    pub tools: Option<&'static [&'static str]>,
    /// The most steps of one tick.
    pub max_iterations: u32,
}

/// All parts of a prompt.
const FULL: &[Component] = &Component::ALL;
/// What a prompt about the assistant itself needs.
const OWN: &[Component] = &[
    Component::SystemPrompt,
    Component::CharacterContext,
    Component::PendingEvent,
];

/// The seven kinds, in the order in which they are documented.
pub static CONTEXTS: [ContextRow; 7] = [
    ContextRow {
        context: ContextType::TickEvent,
        name: "tick_event",
        entry: "a message, an answered approval, a delegated task or its result waits",
        components: FULL,
        tools: None,
        // The documented 5 is the default of the setting that bounds every tick.
        max_iterations: 10,
    },
    ContextRow {
        context: ContextType::TickAutonomous,
        name: "tick_autonomous",
        entry: "nothing waits, and a promise or a goal is due",
        components: FULL,
        tools: None,
        max_iterations: 10,
    },
    ContextRow {
        context: ContextType::Reflection,
        name: "reflection",
        entry: "it is time to look back over the journal",
        components: OWN,
        tools: Some(&["journal"]),
        max_iterations: 3,
    },
    ContextRow {
        context: ContextType::ReflectionCont,
        name: "reflection_cont",
        entry: "a reflection goes on that was interrupted",
        components: &[Component::SystemPrompt, Component::ToolResult],
        tools: Some(&["journal"]),
        max_iterations: 2,
    },
    ContextRow {
        context: ContextType::SleepConsolidate,
        name: "sleep_consolidate",
        entry: "the assistant sleeps, all work of the night is done, and sleep.turns allows one more turn",
        // What is remembered is not looked up for it, as documented: it asks for that itself.
        components: &[Component::SystemPrompt, Component::PendingEvent],
        tools: Some(&["memory", "journal", WAKE_UP]),
        max_iterations: 10,
    },
    ContextRow {
        context: ContextType::GoalDecompose,
        name: "goal_decompose",
        entry: "a goal is due that came to nothing as a whole and has no parts",
        components: &[
            Component::SystemPrompt,
            Component::CharacterContext,
            Component::Goals,
        ],
        // The documents name none. Parts that a model only writes down would have to be guessed from its words.
        tools: Some(&["add_goal"]),
        max_iterations: 1,
    },
    ContextRow {
        context: ContextType::PreCompaction,
        name: "pre_compaction",
        entry: "earlier turns are about to be left out of the prompt: facts are extracted first, each iteration is one request with a prompt of its own, so parts and tools have no effect",
        components: &[
            Component::SystemPrompt,
            Component::CharacterContext,
            Component::ConversationHistory,
            Component::PendingEvent,
        ],
        tools: Some(&["journal"]),
        max_iterations: 5,
    },
];

/// The tools of a group that a filter can name.
const GROUPS: [(&str, &[&str]); 2] = [
    (
        "memory",
        &[
            "store_memory",
            "recall_memories",
            "get_entity_profile",
            "add_entity_observation",
            "update_entity_profile",
            "update_relationship",
        ],
    ),
    (
        "journal",
        &["add_journal_entry", "search_journal", "review_journal"],
    ),
];

impl ContextType {
    /// What it is, unless the operator says otherwise.
    #[must_use]
    pub fn row(self) -> &'static ContextRow {
        match self {
            Self::TickEvent => &CONTEXTS[0],
            Self::TickAutonomous => &CONTEXTS[1],
            Self::Reflection => &CONTEXTS[2],
            Self::ReflectionCont => &CONTEXTS[3],
            Self::SleepConsolidate => &CONTEXTS[4],
            Self::GoalDecompose => &CONTEXTS[5],
            Self::PreCompaction => &CONTEXTS[6],
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let row = CONTEXTS.iter().find(|row| row.name == name)?;
        Some(row.context)
    }
}

/// Which kind of tick begins with this trigger.
pub(crate) fn context_of(state: &State, trigger: Seq) -> ContextType {
    let mut open = state.turns.open();
    if let Some(turn) = open.find(|turn| turn.trigger_seq() == trigger) {
        return called_for(&turn.trigger, Some(turn));
    }
    let mut waiting = state.turns.waiting();
    let waiting = waiting.find(|waiting| waiting.seq() == trigger);
    if let Some(waiting) = waiting {
        return called_for(waiting, None);
    }
    // What does not wait yet becomes due with this tick.
    if state.reflections.calls_by(trigger) {
        return ContextType::Reflection;
    }
    if state.sleep.calls_by(trigger) {
        return ContextType::SleepConsolidate;
    }
    let settings = &state.configuration.settings.goals;
    match state.goals.is_to_be_divided(trigger, settings) {
        true => ContextType::GoalDecompose,
        false => ContextType::TickAutonomous,
    }
}

/// Which kind of tick a trigger calls for. `open` is its turn, if that has begun.
fn called_for(trigger: &Trigger, open: Option<&Turn>) -> ContextType {
    let Trigger::Occasion(occasion) = trigger else {
        return ContextType::TickEvent;
    };
    match occasion.kind {
        OccasionKind::GoalDue if open.is_some_and(is_divided) => ContextType::GoalDecompose,
        OccasionKind::Reflection if open.is_some_and(|turn| !turn.steps.is_empty()) => {
            ContextType::ReflectionCont
        }
        OccasionKind::Reflection => ContextType::Reflection,
        OccasionKind::Sleep => ContextType::SleepConsolidate,
        OccasionKind::ApprovalAnswered
        | OccasionKind::DelegatedTask
        | OccasionKind::DelegatedResult => ContextType::TickEvent,
        OccasionKind::GoalDue | OccasionKind::Wake | OccasionKind::Promise => {
            ContextType::TickAutonomous
        }
    }
}

/// Whether a turn that was interrupted is to divide its goal.
fn is_divided(turn: &Turn) -> bool {
    turn.context == ContextType::GoalDecompose
}

/// What an operator decides about one kind of tick. What is absent is as in its [`ContextRow`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContextConfig {
    /// The parts of its prompt, by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub components: Option<BTreeSet<Component>>,
    /// The tools that it offers: names, and the groups `memory` and `journal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<BTreeSet<String>>,
    /// The categories of tools that it offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<BTreeSet<ToolCategory>>,
    /// Tools that need more trust than this are not offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_trust: Option<Trust>,
    /// How many actions one tick may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ExecutionPattern>,
    /// The most steps of one tick.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// The most tokens of everything before what calls for the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<u32>,
    /// Whether a dangerous call is decided twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dangerous_requires_confirm: Option<bool>,
    /// Whether tasks may be delegated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allows_sub_agents: Option<bool>,
}

/// Which tools are offered. An absent part lets every tool through.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ToolFilter {
    /// Their names.
    pub names: Option<BTreeSet<String>>,
    /// Their categories.
    pub categories: Option<BTreeSet<ToolCategory>>,
    /// The most trust that they may need.
    pub required_trust: Option<Trust>,
}

impl ToolFilter {
    /// The filter of a kind of tick.
    pub(crate) fn of(row: &ContextRow, config: &ContextConfig) -> Self {
        let listed = match &config.tools {
            Some(tools) => Some(tools.iter().map(String::as_str).collect::<Vec<_>>()),
            None => row.tools.map(<[_]>::to_vec),
        };
        Self {
            names: listed.map(|listed| names(&listed)),
            categories: config.categories.clone(),
            required_trust: config.required_trust,
        }
    }

    /// Whether a tool is offered. Doing nothing always is, so that a model can end its loop.
    #[must_use]
    pub fn allows(&self, tool: &ToolSpec) -> bool {
        let name = tool.name.as_str();
        let names = self.names.as_ref();
        let categories = self.categories.as_ref();
        let trust = self.required_trust.zip(tool.required_trust);
        name == NOOP
            || names.is_none_or(|names| names.contains(name))
                && categories.is_none_or(|categories| categories.contains(&tool.category))
                && trust.is_none_or(|(most, needed)| needed <= most)
    }

    /// What both let through.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            names: both(self.names, other.names),
            categories: both(self.categories, other.categories),
            required_trust: match (self.required_trust, other.required_trust) {
                (Some(one), Some(other)) if other < one => Some(other),
                (one, other) => one.or(other),
            },
        }
    }
}

fn both<T: Ord>(one: Option<BTreeSet<T>>, other: Option<BTreeSet<T>>) -> Option<BTreeSet<T>> {
    match (one, other) {
        (Some(one), Some(mut other)) => {
            other.retain(|item| one.contains(item));
            Some(other)
        }
        (one, other) => one.or(other),
    }
}

/// The names of tools in a list of names and groups.
fn names(listed: &[&str]) -> BTreeSet<String> {
    let of = |name: &str| match GROUPS.iter().find(|(group, _)| *group == name) {
        Some((_, names)) => names.iter().map(|name| (*name).to_owned()).collect(),
        None => vec![name.to_owned()],
    };
    listed.iter().flat_map(|name| of(name)).collect()
}

/// The parts that a kind of tick shows.
pub(crate) fn components(row: &ContextRow, config: &ContextConfig) -> BTreeSet<Component> {
    match &config.components {
        Some(listed) => listed.iter().copied().collect(),
        None => row.components.iter().copied().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_tick_has_the_documented_row() {
        let documented = [
            ("tick_event", 9, 10),
            ("tick_autonomous", 9, 10),
            ("reflection", 3, 3),
            ("reflection_cont", 2, 2),
            ("sleep_consolidate", 2, 10),
            ("goal_decompose", 3, 1),
            ("pre_compaction", 4, 5),
        ];
        for (row, (name, components, iterations)) in CONTEXTS.iter().zip(documented) {
            // Standing orders are a part of their own here.
            let own = row.components.contains(&Component::StandingOrders);
            let count = row.components.len() - usize::from(own);
            assert_eq!(
                (row.name, count, row.max_iterations),
                (name, components, iterations)
            );
            assert_eq!(row.context.row().name, name, "the table is in order");
            let json = serde_json::to_value(row.context).unwrap();
            assert_eq!(json, name, "the log has the same name");
        }
    }

    #[test]
    fn a_filter_lets_through_what_name_category_and_trust_allow_and_always_noop() {
        let tools = crate::builtin_tools().unwrap();
        let offered = |config: &ContextConfig, context: ContextType| {
            let filter = ToolFilter::of(context.row(), config);
            let allowed = tools.iter().filter(|tool| filter.allows(tool));
            allowed
                .map(|tool| tool.name.to_string())
                .collect::<Vec<_>>()
        };
        let default = ContextConfig::default();
        assert_eq!(offered(&default, ContextType::TickEvent).len(), tools.len());
        assert_eq!(
            offered(&default, ContextType::GoalDecompose),
            ["add_goal", "noop"]
        );
        assert!(
            offered(&default, ContextType::SleepConsolidate).contains(&"store_memory".to_owned())
        );
        let chained = ContextConfig {
            categories: Some([ToolCategory::SafeChain].into()),
            ..default.clone()
        };
        assert!(!offered(&chained, ContextType::TickEvent).contains(&"store_memory".to_owned()));
        let named = ContextConfig {
            tools: Some(["recall_memories".to_owned()].into()),
            ..default
        };
        assert_eq!(
            offered(&named, ContextType::TickEvent),
            ["recall_memories", "noop"]
        );
        let trusted = |needed| ToolSpec {
            required_trust: Some(Trust::try_new(needed).unwrap()),
            ..tools[0].clone()
        };
        let filter = ToolFilter {
            required_trust: Some(Trust::try_new(0.5).unwrap()),
            ..ToolFilter::default()
        };
        assert!(filter.allows(&trusted(0.5)) && !filter.allows(&trusted(0.6)));
    }
}
