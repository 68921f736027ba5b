//! What decisions need of a configuration in a prepared form.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use dormouse_contracts::{AssistantId, EffectKey, Timestamp, TokenCounter, ToolSpec};
use dormouse_tools::{Registry, RegistryError};

use super::View;
use crate::{
    builtin::WAKE_UP,
    config::Settings,
    context::CONTEXTS,
    delegating::is_offered,
    event::ContextType,
    execution::{TickBounds, compose},
    prompt::{Identity, Preamble},
    state::{Configuration, State, Turn},
};

/// The tools of a configuration with their compiled schemas, and for each kind of tick the tools that it offers and the
/// instructions with their length. Follows from the configuration and the counter alone.
#[derive(Clone)]
pub(crate) struct Prepared {
    key: AssistantId,
    persona: String,
    settings: Settings,
    counter: Arc<dyn TokenCounter>,
    tools: Registry,
    /// Made when a tick of the kind is entered for the first time.
    contexts: [OnceLock<PreparedContext>; CONTEXTS.len()],
    /// The same for ticks in which a task of another assistant is done.
    of_tasks: [OnceLock<PreparedContext>; CONTEXTS.len()],
}

/// What a kind of tick has.
#[derive(Clone, Debug)]
struct PreparedContext {
    bounds: TickBounds,
    tools: Registry,
    preamble: Preamble,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("tools", &self.tools)
            .field("contexts", &self.contexts)
            .finish_non_exhaustive()
    }
}

impl Prepared {
    pub(crate) fn new(
        key: &AssistantId,
        persona: &str,
        settings: &Settings,
        tools: impl IntoIterator<Item = ToolSpec>,
        counter: Arc<dyn TokenCounter>,
    ) -> Result<Self, RegistryError> {
        Ok(Self {
            key: key.clone(),
            persona: persona.to_owned(),
            settings: settings.clone(),
            counter,
            tools: Registry::try_new(tools)?,
            contexts: Default::default(),
            of_tasks: Default::default(),
        })
    }

    /// Prepares a configuration of the log.
    pub(crate) fn of(
        key: &AssistantId,
        configuration: &Configuration,
        counter: Arc<dyn TokenCounter>,
    ) -> Result<Self, RegistryError> {
        let Configuration {
            persona,
            settings,
            tools,
            ..
        } = configuration;
        Self::new(key, persona, settings, tools.iter().cloned(), counter)
    }

    /// All tools, in every kind of tick.
    pub(crate) fn tools(&self) -> &Registry {
        &self.tools
    }

    /// What precedes the conversation in a tick for an event.
    pub(crate) fn preamble(&self) -> &Preamble {
        &self.context(ContextType::TickEvent, false).preamble
    }

    fn context(&self, context: ContextType, is_for_task: bool) -> &PreparedContext {
        let contexts = match is_for_task {
            true => &self.of_tasks,
            false => &self.contexts,
        };
        let [first, ..] = contexts;
        let place = contexts.get(context as usize).unwrap_or(first);
        place.get_or_init(|| {
            let pattern = compose(&self.settings, context, None).pattern;
            // Only a sleeping assistant can wake.
            let is_for_here = |tool: &ToolSpec| {
                context == ContextType::SleepConsolidate || tool.name.as_str() != WAKE_UP
            };
            let tools = self.tools.only(|tool| {
                pattern.tools.allows(tool)
                    && is_offered(tool, &pattern, is_for_task)
                    && is_for_here(tool)
            });
            let identity = Identity {
                key: &self.key,
                persona: &self.persona,
            };
            PreparedContext {
                bounds: pattern.bounds,
                preamble: Preamble::new(
                    &identity,
                    &self.settings,
                    &pattern,
                    &tools,
                    Arc::clone(&self.counter),
                ),
                tools,
            }
        })
    }

    /// Everything that a decision at `now` may look at.
    pub(crate) fn view<'a>(
        &'a self,
        key: &'a AssistantId,
        state: &'a State,
        now: Timestamp,
        fresh: Option<&'a EffectKey>,
    ) -> View<'a> {
        let turn = state.turns.current();
        let context = turn.map_or(ContextType::TickEvent, |turn| turn.context);
        let task = turn.and_then(|turn| state.delegations.task_of(turn.trigger_seq()));
        let is_for_task = task.is_some();
        let PreparedContext {
            bounds,
            tools,
            preamble,
        } = self.context(context, is_for_task);
        let assessed = turn.and_then(|turn: &Turn| turn.assessment.as_ref());
        let assessed = assessed.map(|it| TickBounds::of_assessment(it, &self.settings));
        View {
            key,
            state,
            tools,
            preamble,
            bounds: assessed.map_or(*bounds, |assessed| bounds.and(assessed)),
            counter: &*self.counter,
            now,
            fresh,
        }
    }
}
