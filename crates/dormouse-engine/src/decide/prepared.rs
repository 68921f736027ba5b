//! What decisions need of a configuration in a prepared form.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use dormouse_contracts::{
    AssistantId, EffectKey, Timestamp, TokenCounter, ToolName, ToolReach, ToolSpec,
};
use dormouse_tools::{Registry, RegistryError};

use super::View;
use crate::{
    builtin::{TOOL_SEARCH, TOOL_SETS, ToolSet, WAKE_UP},
    catalogue::{Catalogue, is_core},
    config::Settings,
    context::CONTEXTS,
    delegating::is_offered,
    event::ContextType,
    execution::{TickBounds, TickPattern, compose},
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
    /// The instructions for tools that were chosen lately. They change seldom, and are counted anew when they do.
    chosen: Arc<Mutex<VecDeque<ChosenPreamble>>>,
}

/// How many different choices of tools are kept with their instructions.
const CHOICES_KEPT: usize = 2 * TOOL_SETS.len();

/// The instructions for some tools of a kind of tick.
struct ChosenPreamble {
    place: (TickKind, ToolSet),
    tools: Vec<ToolName>,
    preamble: Arc<Preamble>,
}

/// Each kind of tick, without and with a task of another assistant to be done in it.
type ByTask = [[OnceLock<PreparedContext>; CONTEXTS.len()]; 2];

/// A kind of tick, and whether a task of another assistant is done in it.
type TickKind = (ContextType, bool);

/// What a kind of tick has.
#[derive(Clone, Debug)]
struct PreparedContext {
    pattern: TickPattern,
    /// All tools that it allows.
    tools: Registry,
    /// What is chosen among them; absent if all fit the budget.
    catalogue: Option<Catalogue>,
    /// The instructions with all of them.
    preamble: OnceLock<Arc<Preamble>>,
}

impl fmt::Debug for ChosenPreamble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChosenPreamble").field(&self.tools).finish()
    }
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
        tools: Registry,
        counter: Arc<dyn TokenCounter>,
    ) -> Self {
        Self {
            key: key.clone(),
            persona: persona.to_owned(),
            settings: settings.clone(),
            counter,
            tools,
            contexts: Default::default(),
            chosen: Arc::default(),
        }
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
        let tools = Registry::try_new(tools.iter().cloned())?;
        Ok(Self::new(key, persona, settings, tools, counter))
    }

    /// All tools, in every kind of tick.
    pub(crate) fn tools(&self) -> &Registry {
        &self.tools
    }

    /// What precedes the conversation in a tick for an event, with the tools that the configured window has room for.
    pub(crate) fn preamble(&self) -> Arc<Preamble> {
        let window = self.settings.limits.max_context_tokens();
        let usual = (ContextType::TickEvent, false);
        self.with_most_tools(usual, &[], |preamble| leaves_room(window, preamble).is_ok())
    }

    /// What precedes the conversation in the current tick, or in one for an event, with the tools for which there is room in a
    /// prompt of so many tokens, or of fewer if the model takes fewer.
    pub(crate) fn preamble_within(&self, state: &State, tokens: u32) -> Arc<Preamble> {
        let turn = state.turns.current();
        let offered = state.offered_tools.tools();
        self.with_most_tools(kind_of(state), offered, |preamble| {
            has_room(state, turn, preamble, tokens)
        })
    }

    /// The instructions with the most tools with which they fit, or else with the fewest. If there is a budget for
    /// definitions and not all fit it, then with no other tools than `offered` and the core.
    fn with_most_tools(
        &self,
        kind: TickKind,
        offered: &[ToolName],
        fits: impl Fn(&Preamble) -> bool,
    ) -> Arc<Preamble> {
        let with = |set| self.preamble_of(kind, set, offered);
        let mut sets = TOOL_SETS.into_iter().map(with);
        let fitting = sets.find(|preamble| fits(preamble));
        fitting.unwrap_or_else(|| with(ToolSet::Ending))
    }

    fn preamble_of(&self, kind: TickKind, set: ToolSet, offered: &[ToolName]) -> Arc<Preamble> {
        let PreparedContext {
            pattern,
            tools,
            preamble,
            ..
        } = self.context(kind, set);
        let make = |tools: &Registry| Arc::new(self.make_preamble(pattern, tools));
        let Some(catalogue) = &self.context(kind, ToolSet::All).catalogue else {
            return Arc::clone(preamble.get_or_init(|| make(tools)));
        };
        let place = (kind, set);
        let mut offered = catalogue.fitting(offered);
        offered.sort_unstable();
        let mut kept = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept
            .iter()
            .find(|it| it.place == place && it.tools == offered)
        {
            return Arc::clone(&known.preamble);
        }
        let is_offered = |tool: &ToolSpec| is_core(tool) || offered.contains(&tool.name);
        let preamble = make(&tools.only(is_offered));
        kept.truncate(CHOICES_KEPT.saturating_sub(1));
        kept.push_front(ChosenPreamble {
            place,
            tools: offered,
            preamble: Arc::clone(&preamble),
        });
        preamble
    }

    fn make_preamble(&self, pattern: &TickPattern, tools: &Registry) -> Preamble {
        let identity = Identity {
            key: &self.key,
            persona: &self.persona,
        };
        let counter = Arc::clone(&self.counter);
        Preamble::new(&identity, &self.settings, pattern, tools, counter)
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
            let is_allowed = |tool: &ToolSpec| {
                is_in_set(tool)
                    && pattern.tools.allows(tool)
                    && is_offered(tool, &pattern, is_for_task)
                    && is_for_here(tool)
            };
            let is_search = |tool: &ToolSpec| tool.name.as_str() == TOOL_SEARCH;
            let tools = |with_search| {
                // A search finds nothing but what is allowed, so that it needs no permission itself.
                self.tools.only(|tool| match is_search(tool) {
                    true => with_search && is_in_set(tool),
                    false => is_allowed(tool),
                })
            };
            let catalogue = match set {
                ToolSet::All => self.catalogue(&tools(false)),
                _ => None,
            };
            let has_search = match set {
                ToolSet::All => catalogue.is_some(),
                _ => {
                    let all = self.context((context, is_for_task), ToolSet::All);
                    all.catalogue.is_some()
                }
            };
            PreparedContext {
                tools: tools(has_search),
                catalogue,
                preamble: OnceLock::new(),
                pattern,
            }
        })
    }

    /// What is chosen among the tools that a kind of tick allows; `None` if all fit the budget, or if nothing could find the
    /// others. The latter is so in logs that are older than the search.
    fn catalogue(&self, allowed: &Registry) -> Option<Catalogue> {
        let search = self.tools.get(TOOL_SEARCH)?;
        let budget = self.settings.tool_tokens;
        let counter = &*self.counter;
        let catalogue = Catalogue::of(allowed, budget, counter)?;
        Some(catalogue.with_core(search, counter))
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
        let PreparedContext {
            pattern,
            tools,
            catalogue,
            ..
        } = self.context(kind_of(state), ToolSet::All);
        let bounds = pattern.bounds;
        let assessed = turn.and_then(|turn: &Turn| turn.assessment.as_ref());
        let assessed = assessed.map(|it| TickBounds::of_assessment(it, &self.settings));
        View {
            key,
            state,
            tools,
            catalogue: catalogue.as_ref(),
            prepared: self,
            bounds: assessed.map_or(bounds, |assessed| bounds.and(assessed)),
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
