//! How far a tick may go: what the operator allows, what its [kind](crate::ContextRow) allows, and what an assessment of the
//! task recommends. Each of these layers can only restrict the one before.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    assessment::Assessment,
    config::{ExecutionPattern, Settings},
    context::{ContextConfig, ToolFilter, components},
    event::ContextType,
    prompt::Component,
    state::State,
};

/// What a delegate is shown of the assistant that gives the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Insulation {
    /// Its goals and recent conversation.
    #[default]
    None,
    /// The task alone.
    Orchestrator,
    /// The task, and its most important goals.
    Delegate,
}

/// What the operator allows, in addition to [`Settings::pattern`] and [`Limits`](crate::Limits), under the documented names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExecutionConfig {
    /// Whether tasks are assessed.
    pub task_assessment_enabled: bool,
    /// Whether rules assess them, and not a model.
    pub use_quick_assessment: bool,
    /// Whether tasks may be delegated.
    pub sub_agents_enabled: bool,
    /// How many tasks may be delegated at the same time.
    pub sub_agent_budget: u32,
    /// What a delegate is shown of the assistant that gives the task.
    pub personality_insulation: Insulation,
    /// The tag of assistants that tasks are delegated to; any, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delegate_assistant_tag: Option<String>,
    /// Whether results of delegates are summed up.
    pub result_summarization: bool,
    /// Whether dangerous calls are never decided twice because of an assessment.
    pub trusted_api: bool,
    /// Deviations from the table of contexts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub contexts: BTreeMap<ContextType, ContextConfig>,
}

impl Default for ExecutionConfig {
    fn default() -> Self {
        Self {
            task_assessment_enabled: false,
            use_quick_assessment: true,
            sub_agents_enabled: false,
            sub_agent_budget: 3,
            personality_insulation: Insulation::None,
            delegate_assistant_tag: None,
            result_summarization: false,
            trusted_api: false,
            contexts: BTreeMap::new(),
        }
    }
}

impl ExecutionConfig {
    /// What the operator decides about this kind of tick.
    pub(crate) fn context(&self, context: ContextType) -> ContextConfig {
        self.contexts.get(&context).cloned().unwrap_or_default()
    }

    /// Whether nothing differs from the defaults.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Checks what the types of the fields alone cannot enforce.
    ///
    /// # Errors
    ///
    /// [`ContextError`] with the first thing that is wrong.
    pub fn check(&self) -> Result<(), ContextError> {
        for (context, config) in &self.contexts {
            let context = context.row().name;
            let listed = config.components.iter().flatten();
            let iterations = config.max_iterations.unwrap_or(1);
            if !(1..=10).contains(&iterations) {
                return Err(ContextError::Iterations {
                    context,
                    iterations,
                });
            }
            if listed.clone().all(|it| *it != Component::SystemPrompt) && listed.count() > 0 {
                return Err(ContextError::NoSystemPrompt { context });
            }
        }
        Ok(())
    }
}

/// The configuration of a kind of tick is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    /// The bound of its steps is out of range.
    #[error("max_iterations of {context} is {iterations}; expected 1 to 10")]
    Iterations {
        /// Which kind.
        context: &'static str,
        /// The number.
        iterations: u32,
    },
    /// Its prompt lacks the instructions, so no model can read it.
    #[error("components of {context} lack system_prompt, without which no prompt can be read")]
    NoSystemPrompt {
        /// Which kind.
        context: &'static str,
    },
}

/// How many steps a tick may take, and how carefully.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TickBounds {
    /// How many actions a tick may take.
    pub mode: ExecutionPattern,
    /// The most steps.
    pub max_iterations: u32,
    /// Whether a dangerous call is decided twice.
    pub confirm_dangerous: bool,
}

impl TickBounds {
    const NONE: Self = Self {
        mode: ExecutionPattern::ReactLoop,
        max_iterations: u32::MAX,
        confirm_dangerous: false,
    };

    /// Layer 3: what an assessment recommends.
    pub(crate) fn of_assessment(assessment: &Assessment, settings: &Settings) -> Self {
        Self {
            mode: assessment.mode.unwrap_or_default(),
            max_iterations: assessment.iterations.unwrap_or(u32::MAX).max(1),
            confirm_dangerous: assessment.confirm_dangerous && !settings.execution.trusted_api,
        }
    }

    /// What both layers allow.
    pub(crate) fn and(self, other: Self) -> Self {
        let is_loop = |bounds: Self| bounds.mode == ExecutionPattern::ReactLoop;
        Self {
            mode: match is_loop(self) && is_loop(other) {
                true => ExecutionPattern::ReactLoop,
                false => ExecutionPattern::SingleAction,
            },
            max_iterations: self.max_iterations.min(other.max_iterations),
            confirm_dangerous: self.confirm_dangerous || other.confirm_dangerous,
        }
    }
}

/// How far a tick may go. Of each bound the lowest applies, a permission needs all layers, and one layer is enough to
/// require a second decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TickPattern {
    /// How many steps, and how carefully.
    #[serde(flatten)]
    pub bounds: TickBounds,
    /// The tools that are offered.
    pub tools: ToolFilter,
    /// The parts of the prompt.
    pub components: BTreeSet<Component>,
    /// The most tokens of everything before what calls for the turn, if there is such a bound.
    pub token_budget: Option<u32>,
    /// How many tasks may be delegated at the same time.
    pub sub_agent_budget: u32,
}

impl TickPattern {
    /// Layer 1: what the operator allows.
    fn of_settings(settings: &Settings) -> Self {
        let execution = &settings.execution;
        Self {
            bounds: TickBounds {
                mode: settings.pattern,
                max_iterations: settings.limits.max_iterations(),
                ..TickBounds::NONE
            },
            tools: ToolFilter::default(),
            components: settings.prompt.enabled(),
            token_budget: None,
            sub_agent_budget: match execution.sub_agents_enabled {
                true => execution.sub_agent_budget,
                false => 0,
            },
        }
    }

    /// Layer 2: what the kind of tick allows.
    fn of_context(context: ContextType, config: &ContextConfig) -> Self {
        let row = context.row();
        Self {
            bounds: TickBounds {
                mode: config.mode.unwrap_or_default(),
                max_iterations: config.max_iterations.unwrap_or(row.max_iterations),
                confirm_dangerous: config.dangerous_requires_confirm.unwrap_or_default(),
            },
            tools: ToolFilter::of(row, config),
            components: components(row, config),
            token_budget: config.token_budget,
            sub_agent_budget: match config.allows_sub_agents {
                Some(false) => 0,
                _ => u32::MAX,
            },
        }
    }

    /// What both layers allow.
    fn and(self, other: Self) -> Self {
        Self {
            bounds: self.bounds.and(other.bounds),
            tools: self.tools.and(other.tools),
            components: &self.components & &other.components,
            token_budget: [self.token_budget, other.token_budget]
                .into_iter()
                .flatten()
                .min(),
            sub_agent_budget: self.sub_agent_budget.min(other.sub_agent_budget),
        }
    }

    /// Restricts it for a task with this assessment.
    fn assessed(self, assessment: &Assessment, settings: &Settings) -> Self {
        let assessed = TickBounds::of_assessment(assessment, settings);
        Self {
            bounds: self.bounds.and(assessed),
            ..self
        }
    }
}

impl State {
    /// The assessment of the turn that is under way, if it is one of this kind.
    #[must_use]
    pub fn assessment_in(&self, context: ContextType) -> Option<&Assessment> {
        let turn = self.turns.current()?;
        turn.assessment.as_ref().filter(|_| turn.context == context)
    }
}

/// The name of a layer of an execution pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternLayer {
    /// What the operator allows.
    Static,
    /// What the kind of tick allows.
    Context,
    /// What an assessment recommends.
    Assessment,
}

/// A pattern, and which layer each of its values comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComposedPattern {
    /// The pattern.
    #[serde(flatten)]
    pub pattern: TickPattern,
    /// The layer that restricted a value last, by the name of the value.
    pub from: BTreeMap<&'static str, PatternLayer>,
}

/// How far a tick of this kind may go with these settings, for a task with this assessment.
#[must_use]
pub fn compose(
    settings: &Settings,
    context: ContextType,
    assessment: Option<&Assessment>,
) -> ComposedPattern {
    let allowed = TickPattern::of_settings(settings);
    let config = settings.execution.context(context);
    let here = allowed
        .clone()
        .and(TickPattern::of_context(context, &config));
    let mut from: BTreeMap<_, _> = NAMES
        .iter()
        .map(|(name, _)| (*name, PatternLayer::Static))
        .collect();
    note(&mut from, PatternLayer::Context, &allowed, &here);
    let Some(assessment) = assessment else {
        return ComposedPattern {
            pattern: here,
            from,
        };
    };
    let pattern = here.clone().assessed(assessment, settings);
    note(&mut from, PatternLayer::Assessment, &here, &pattern);
    ComposedPattern { pattern, from }
}

/// Notes which values this layer restricted.
fn note(
    from: &mut BTreeMap<&'static str, PatternLayer>,
    layer: PatternLayer,
    before: &TickPattern,
    after: &TickPattern,
) {
    let restricted = NAMES.iter().filter(|(_, differs)| differs(before, after));
    from.extend(restricted.map(|(name, _)| (*name, layer)));
}

/// Whether a value of two patterns differs.
type Differs = fn(&TickPattern, &TickPattern) -> bool;

/// The values of a pattern by name.
const NAMES: [(&str, Differs); 7] = [
    ("mode", |one, other| one.bounds.mode != other.bounds.mode),
    ("max_iterations", |one, other| {
        one.bounds.max_iterations != other.bounds.max_iterations
    }),
    ("confirm_dangerous", |one, other| {
        one.bounds.confirm_dangerous != other.bounds.confirm_dangerous
    }),
    ("tools", |one, other| one.tools != other.tools),
    ("components", |one, other| {
        one.components != other.components
    }),
    ("token_budget", |one, other| {
        one.token_budget != other.token_budget
    }),
    ("sub_agent_budget", |one, other| {
        one.sub_agent_budget != other.sub_agent_budget
    }),
];

#[cfg(test)]
mod tests;
