//! The sections about the assistant itself.

use dormouse_classify::ClassifyConfig;
use dormouse_contracts::{AssistantId, ChannelId, EntityId, Trust, invariant};
use dormouse_engine::{
    ApprovalRule, AssistantConfig, ContextConfig, ContextType, ExecutionConfig, ExecutionPattern,
    Insulation, Limits, OutOfRange,
};
use serde::{Deserialize, Deserializer, de::Error};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{
    numbers::{
        ApprovalExpires, GiveUpAfter, MaxConsecutiveErrors, MaxContextTokens, MaxExchanges,
        MaxHistory, MaxIterations, MaxParts, MaxRepeatedCalls, Seconds, SubAgents, TickRate, Whole,
    },
    prompting::contexts,
    section::section,
    words, world,
};

/// The key of an assistant without a configured key.
pub const DEFAULT_KEY: &str = "dormouse";

/// The engine's defaults.
pub(super) fn engine() -> AssistantConfig {
    AssistantConfig::new(default_key())
}

#[expect(
    clippy::expect_used,
    reason = "the name is a constant, and a test makes it"
)]
fn default_key() -> AssistantId {
    AssistantId::try_new(DEFAULT_KEY).expect("an assistant key")
}

section! {
    /// `[assistant]`: who it is.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct AssistantSection {
        /// Its name in the log, and the word that an @mention must match
        #[serde(deserialize_with = "key")]
        #[schemars(with = "String", extend("default" = DEFAULT_KEY, "x-alias" = "assistant_key", "x-when" = "start"))]
        key: Key = Key(None),
        /// Its name in the world
        #[serde(deserialize_with = "world::name")]
        #[schemars(with = "String", extend(
            "x-unset" = "the key with a capital first letter, and \"-\" in place of \".\"",
            "x-example" = "Dormouse", "x-when" = "start",
        ))]
        name: Option<String> = None,
        /// Who it is and how it behaves
        #[schemars(with = "String", extend(
            "x-alias" = "system_prompt", "x-unset" = "a kind resident whose name is the key",
            "x-example" = "You are Dormouse, who keeps the tea-house. Be kind, brief and truthful.",
        ))]
        persona: Option<String> = None,
        /// Said to the sender of a message that gets no answer; empty: nothing
        apology: String = engine().apology,
        /// Said if the world accepts the first part of a long answer and refuses a later one; empty: nothing
        broken_off: String = engine().broken_off,
        /// Said once to the sender if the answer takes longer than slow_after; empty: nothing
        wait_notice: String = engine().wait_notice,
        /// Said once to each waiting sender in a long outage; empty: nothing
        outage_notice: String = engine().outage_notice,
        /// Said aloud in its world, once, when the emergency stop is triggered; empty: nothing
        stop_notice: String = engine().stop_notice,
        /// Said once to each waiting sender while the budgets allow no call of the model; empty: nothing
        budget_notice: String = engine().budget_notice,
        /// False: messages are accepted and kept, but not answered until it is true again
        #[schemars(extend("x-alias" = "enabled"))]
        enabled: bool = true,
    }
}

/// The configured key, if there is one.
#[derive(Clone, Debug, Default)]
pub struct Key(Option<AssistantId>);

fn key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
    AssistantId::deserialize(deserializer).map(|key| Key(Some(key)))
}

impl AssistantSection {
    /// The assistant's key: the configured one, or `dormouse`.
    pub fn key(&self) -> AssistantId {
        self.key.0.clone().unwrap_or_else(default_key)
    }

    /// The same configuration for another assistant of the folder.
    pub fn set_key(&mut self, key: AssistantId) {
        self.key = Key(Some(key));
    }

    /// The assistant's name in the world: the configured one, or its key with a capital letter.
    pub fn name(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        character_name(&self.key())
    }
}

/// The name of an assistant without a configured one: its key with a capital letter. Names cannot contain full stops, so
/// hyphens replace them.
pub(crate) fn character_name(key: &AssistantId) -> String {
    let key = key.as_str().replace('.', "-");
    let mut letters = key.chars();
    let first = invariant!(letters.next(), "a key is not empty");
    first.to_ascii_uppercase().to_string() + letters.as_str()
}

section! {
    /// `[limits]`: its limits.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct LimitsSection {
        /// Minimum time between two turns that nobody asked for (such as turns for goals), and between two ticks of one turn. Messages do not wait for it
        #[schemars(extend("x-alias" = "tick_rate"))]
        tick_rate: TickRate = TickRate::default(),
        /// Maximum number of steps in one tick (a step is one reply of the model), and of tool calls in it. In the last step the model can only speak
        #[schemars(extend("x-alias" = "max_iterations_per_tick"))]
        max_iterations_per_tick: MaxIterations = MaxIterations::default(),
        /// The model's context window, in tokens
        #[schemars(with = "MaxContextTokens", extend(
            "x-alias" = "max_context_tokens", "x-unset" = "the model's own if it is known, else 32768",
            "x-example" = 32768,
        ))]
        max_context_tokens: Option<MaxContextTokens> = None,
        /// Earlier turns that a prompt may show
        #[schemars(extend("x-alias" = "max_history"))]
        max_history: MaxHistory = MaxHistory::default(),
        /// After this many errors in a row, a message is given up, or the assistant stops (see below)
        #[schemars(extend("x-alias" = "max_consecutive_errors"))]
        max_consecutive_errors: MaxConsecutiveErrors = MaxConsecutiveErrors::default(),
        /// Maximum number of parts in which one reply is said. A long answer is divided at the ends of sentences
        max_parts_per_answer: MaxParts = MaxParts::default(),
        /// Maximum number of messages of other assistants that are answered before a person says something again; 0: none
        max_exchanges: MaxExchanges = MaxExchanges::default(),
        /// The loop for a message ends when the model has made the same call with the same result this often
        max_repeated_calls: MaxRepeatedCalls = MaxRepeatedCalls::default(),
        /// Time until a message is given up if it is the only one that fails (see below); 0: never
        give_up_after: GiveUpAfter = GiveUpAfter::default(),
        /// Time until `play` prints that the answer takes longer
        slow_after: Seconds = Seconds(engine().slow_after),
    }
}

impl LimitsSection {
    /// The engine's limits with the configured values. `window` is the context window if none is configured.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] if the window is not within the bounds of a window.
    pub fn limits(&self, window: Option<u32>) -> Result<Limits, OutOfRange> {
        let mut limits = Limits::default();
        if let Some(tokens) = window {
            limits = limits.with_max_context_tokens(tokens)?;
        }
        if let Some(number) = self.max_context_tokens {
            limits = number.set(limits)?;
        }
        limits = self.tick_rate.set(limits)?;
        limits = self.max_iterations_per_tick.set(limits)?;
        limits = self.max_history.set(limits)?;
        limits = self.max_consecutive_errors.set(limits)?;
        limits = self.max_parts_per_answer.set(limits)?;
        limits = self.max_exchanges.set(limits)?;
        limits = self.max_repeated_calls.set(limits)?;
        self.give_up_after.set(limits)
    }
}

section! {
    /// `[execution]`: how far a tick may go.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct ExecutionSection {
        /// True: ReAct loop; false: a single action in each tick
        #[schemars(with = "bool", extend("x-alias" = "multi_action_enabled", "x-unset" = "true", "x-example" = true))]
        multi_action_enabled: Option<bool> = None,
        /// Another name for multi_action_enabled. If both are set, they must agree
        #[schemars(schema_with = "words::mode", extend(
            "x-alias" = "execution_config", "x-unset" = "react_loop", "x-example" = "react_loop",
        ))]
        mode: Option<ExecutionMode> = None,
        /// True: each task is assessed, and its difficulty decides how many actions and steps its ticks may take, within the other limits
        #[schemars(extend("x-alias" = "task_assessment_enabled"))]
        task_assessment_enabled: bool = ExecutionConfig::default().task_assessment_enabled,
        /// True: rules assess each task. False: a model assesses it with one call; if that call fails, rules do
        #[schemars(extend("x-alias" = "use_quick_assessment"))]
        use_quick_assessment: bool = ExecutionConfig::default().use_quick_assessment,
        /// True: the assistant may delegate tasks
        #[schemars(extend("x-alias" = "sub_agents_enabled"))]
        sub_agents_enabled: bool = ExecutionConfig::default().sub_agents_enabled,
        /// Tasks that may be delegated at the same time
        #[schemars(extend("x-alias" = "sub_agent_budget"))]
        sub_agent_budget: SubAgents = Whole(ExecutionConfig::default().sub_agent_budget),
        /// What a delegate sees in addition to its task. none: goals and recent talk; delegate: only goals; orchestrator: nothing
        #[schemars(schema_with = "words::insulation", extend("x-alias" = "personality_insulation", "default" = "none"))]
        personality_insulation: Insulation = Insulation::None,
        /// Tasks are delegated only to assistants with this tag
        #[schemars(with = "String", extend(
            "x-alias" = "delegate_assistant_tag", "x-unset" = "any assistant", "x-example" = "specialist",
        ))]
        delegate_assistant_tag: Option<String> = None,
        /// True: a delegate must shorten its result to a summary
        #[schemars(extend("x-alias" = "result_summarization"))]
        result_summarization: bool = ExecutionConfig::default().result_summarization,
        /// False: the assessment of a task may require the model to call a dangerous tool twice before the call is made. True: it never does
        #[schemars(extend("x-alias" = "trusted_api"))]
        trusted_api: bool = ExecutionConfig::default().trusted_api,
        /// For single contexts (kinds of ticks): values that replace the built-in ones; `dormouse exec show` prints which apply
        #[serde(deserialize_with = "contexts")]
        #[schemars(schema_with = "words::contexts", extend("x-alias" = "context_configs", "default" = {}, "x-example" = {
            "tick_autonomous": {"categories": ["safe_chain", "terminal"], "max_iterations": 2},
        }))]
        contexts: BTreeMap<ContextType, ContextConfig> = BTreeMap::new(),
    }
}

/// A mode that contradicts the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "execution: mode = {mode:?} contradicts multi_action_enabled = {switch}: remove one of the two"
)]
pub(super) struct Contradiction {
    mode: &'static str,
    switch: bool,
}

impl ExecutionSection {
    /// The execution pattern.
    pub fn pattern(&self) -> ExecutionPattern {
        match (self.mode, self.multi_action_enabled) {
            (Some(ExecutionMode(pattern)), _) => pattern,
            (None, Some(true)) => ExecutionPattern::ReactLoop,
            (None, Some(false)) => ExecutionPattern::SingleAction,
            (None, None) => ExecutionPattern::default(),
        }
    }

    /// The other settings, in the form that the engine takes.
    pub fn config(&self) -> ExecutionConfig {
        ExecutionConfig {
            task_assessment_enabled: self.task_assessment_enabled,
            use_quick_assessment: self.use_quick_assessment,
            sub_agents_enabled: self.sub_agents_enabled,
            sub_agent_budget: self.sub_agent_budget.0,
            personality_insulation: self.personality_insulation,
            delegate_assistant_tag: self.delegate_assistant_tag.clone(),
            result_summarization: self.result_summarization,
            trusted_api: self.trusted_api,
            contexts: self.contexts.clone(),
        }
    }

    /// Whether its two settings agree.
    pub(super) fn check(&self) -> Result<(), Contradiction> {
        let (mode, switch) = match (self.mode, self.multi_action_enabled) {
            (Some(ExecutionMode(ExecutionPattern::ReactLoop)), Some(false)) => {
                ("react_loop", false)
            }
            (Some(ExecutionMode(ExecutionPattern::SingleAction)), Some(true)) => {
                ("single_action", true)
            }
            _ => return Ok(()),
        };
        Err(Contradiction { mode, switch })
    }
}

/// Reads `[execution]`, whose two settings must agree.
pub(super) fn execution<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<ExecutionSection, D::Error> {
    let section = ExecutionSection::deserialize(deserializer)?;
    section.check().map_err(Error::custom)?;
    Ok(section)
}

/// A mode by name.
#[derive(Clone, Copy, Debug)]
pub struct ExecutionMode(ExecutionPattern);

impl<'de> Deserialize<'de> for ExecutionMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        match name.as_str() {
            "react_loop" => Ok(Self(ExecutionPattern::ReactLoop)),
            "single_action" => Ok(Self(ExecutionPattern::SingleAction)),
            "plan_execute" => Err(Error::custom(
                "expected react_loop or single_action; plan_execute is reserved and does not exist yet",
            )),
            _ => Err(Error::custom("expected react_loop or single_action")),
        }
    }
}

section! {
    /// `[classify]`: which messages it answers.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct ClassifySection {
        /// False: every message is ignored (rule 0)
        #[schemars(extend("x-alias" = "interaction_enabled"))]
        interaction_enabled: bool = ClassifyConfig::default().interaction_enabled,
        /// True: a message that addresses the assistant triggers an answer (rule 2)
        #[schemars(extend("x-alias" = "enable_addressing"))]
        enable_addressing: bool = ClassifyConfig::default().enable_addressing,
        /// What speech and poses in rooms are by rule 6: kept for the next prompt, ignored, or answered
        #[schemars(schema_with = "words::rooms")]
        rooms: dormouse_classify::RoomPolicy = dormouse_classify::RoomPolicy::default(),
        /// People whose every message triggers an answer (rule 5)
        #[schemars(with = "BTreeSet<String>", extend(
            "x-alias" = "trigger_permissions", "x-example" = ["player:alice"],
        ))]
        trigger_permissions: BTreeSet<EntityId> = BTreeSet::new(),
        /// For each channel: whether its messages are answered ("trigger"), kept for the next prompt ("context") or ignored ("ignore") by rule 6, and their trust
        #[schemars(schema_with = "words::channels", extend("default" = {}, "x-example" = {"public": {"action": "context", "trust": 0.5}}))]
        channels: BTreeMap<ChannelId, dormouse_classify::ChannelConfig> = BTreeMap::new(),
        /// Trust of the messages of single people, 0 to 1, in place of the trust of the source
        #[schemars(schema_with = "words::trusts", extend("default" = {}, "x-example" = {"player:bob": 0.2}))]
        trust_overrides: BTreeMap<EntityId, Trust> = BTreeMap::new(),
    }
}

impl ClassifySection {
    /// The section in the form that classification takes.
    pub fn config(&self) -> ClassifyConfig {
        ClassifyConfig {
            interaction_enabled: self.interaction_enabled,
            enable_addressing: self.enable_addressing,
            trigger_permissions: self.trigger_permissions.clone(),
            channels: self.channels.clone(),
            rooms: self.rooms,
            trust_overrides: self.trust_overrides.clone(),
        }
    }
}

section! {
    /// `[trust]`: what raises or lowers the trust of messages and notes.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct TrustSection {
        /// True: the history of a sender changes the trust of their messages a little. False: only the source of a message decides
        sender_history: bool = engine().sender_history,
        /// A claim gets a trust of 0.5 if this many people make it independently: none of them heard it from another one. 0: off
        #[serde(deserialize_with = "accounts")]
        #[schemars(schema_with = "words::accounts")]
        independent_accounts: u32 = engine().independent_accounts,
        /// What a DANGEROUS act needs. "trust": enough trust in what was shown; "required": also a person who confirms the act
        #[schemars(schema_with = "words::approval", extend("default" = "trust"))]
        approval: ApprovalRule = ApprovalRule::default(),
        /// Time within which an act must be confirmed and done
        approval_expires: ApprovalExpires = Seconds(Duration::from_secs(engine().approval_expires_seconds.into())),
    }
}

/// Reads the number of accounts. A single account confirms nothing, so 1 is not accepted.
fn accounts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let number = u32::deserialize(deserializer)?;
    match number {
        0 | 2..=100 => Ok(number),
        _ => Err(D::Error::custom("expected 0, or 2 to 100")),
    }
}
