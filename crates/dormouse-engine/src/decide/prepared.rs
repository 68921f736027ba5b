//! What decisions need of a configuration in a prepared form.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use dormouse_contracts::{AssistantId, EffectKey, Timestamp, TokenCounter, ToolReach, ToolSpec};
use dormouse_tools::{Registry, RegistryError};

use super::View;
use crate::{
    builtin::{TOOL_SETS, ToolSet, WAKE_UP},
    config::Settings,
    context::CONTEXTS,
    delegating::is_offered,
    event::ContextType,
    execution::{TickBounds, compose},
    prompt::{Identity, Preamble, has_room, leaves_room},
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
    /// Made when they are used for the first time, by their set of tools.
    contexts: Box<[ByTask; TOOL_SETS.len()]>,
}

/// Each kind of tick, without and with a task of another assistant to be done in it.
type ByTask = [[OnceLock<PreparedContext>; CONTEXTS.len()]; 2];

/// A kind of tick, and whether a task of another assistant is done in it.
type TickKind = (ContextType, bool);

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

    /// What precedes the conversation in a tick for an event, with the tools that the configured window has room for.
    pub(crate) fn preamble(&self) -> &Preamble {
        let window = self.settings.limits.max_context_tokens();
        let usual = (ContextType::TickEvent, false);
        self.with_most_tools(usual, |preamble| leaves_room(window, preamble).is_ok())
    }

    /// What precedes the conversation in the current tick, or in one for an event, with the tools for which there is room in a
    /// prompt of so many tokens, or of fewer if the model takes fewer.
    pub(crate) fn preamble_within(&self, state: &State, tokens: u32) -> &Preamble {
        let turn = state.turns.current();
        self.with_most_tools(kind_of(state), |preamble| {
            has_room(state, turn, preamble, tokens)
        })
    }

    /// The instructions with the most tools with which they fit, or else with the fewest.
    fn with_most_tools(&self, kind: TickKind, fits: impl Fn(&Preamble) -> bool) -> &Preamble {
        let with = |set| &self.context(kind, set).preamble;
        let mut sets = TOOL_SETS.into_iter().map(with);
        let fitting = sets.find(|preamble| fits(preamble));
        fitting.unwrap_or_else(|| with(ToolSet::Ending))
    }

    fn context(&self, (context, is_for_task): TickKind, set: ToolSet) -> &PreparedContext {
        let [[[first, ..], ..], ..] = &*self.contexts;
        let place = self.contexts.get(set as usize);
        let place = place.and_then(|it| it.get(usize::from(is_for_task)));
        let place = place
            .and_then(|it| it.get(context as usize))
            .unwrap_or(first);
        place.get_or_init(|| {
            let pattern = compose(&self.settings, context, None).pattern;
            // Only a sleeping assistant can wake.
            let is_for_here = |tool: &ToolSpec| {
                context == ContextType::SleepConsolidate || tool.name.as_str() != WAKE_UP
            };
            let mut specs = self.tools.specs();
            let nobody_speaks = specs.all(|tool| tool.speech.is_none());
            // Where nobody can speak, acting is all that is left.
            let is_in_set = |tool: &ToolSpec| {
                set.has(tool) || (nobody_speaks && tool.reach != ToolReach::Builtin)
            };
            let tools = self.tools.only(|tool| {
                is_in_set(tool)
                    && pattern.tools.allows(tool)
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
        let PreparedContext { bounds, tools, .. } = self.context(kind_of(state), ToolSet::All);
        let assessed = turn.and_then(|turn: &Turn| turn.assessment.as_ref());
        let assessed = assessed.map(|it| TickBounds::of_assessment(it, &self.settings));
        View {
            key,
            state,
            tools,
            prepared: self,
            bounds: assessed.map_or(*bounds, |assessed| bounds.and(assessed)),
            counter: &*self.counter,
            now,
            fresh,
        }
    }
}

/// The kind of the current tick, or of one for an event.
fn kind_of(state: &State) -> TickKind {
    let turn = state.turns.current();
    let context = turn.map_or(ContextType::TickEvent, |turn| turn.context);
    let task = turn.and_then(|turn| state.delegations.task_of(turn.trigger_seq()));
    (context, task.is_some())
}
