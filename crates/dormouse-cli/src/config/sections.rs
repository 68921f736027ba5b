//! The sections of the file.

use dormouse_contracts::{AssistantId, invariant};
use dormouse_engine::{ExecutionPattern, Limits, OutOfRange};
use serde::{Deserialize, Deserializer, de::Error};

use super::{
    numbers::{
        GiveUpAfter, MaxConsecutiveErrors, MaxContextTokens, MaxHistory, MaxIterations, MaxParts,
        Seconds, TickRate,
    },
    world,
};

/// The key of an assistant without a configured key.
pub(crate) const DEFAULT_KEY: &str = "dormouse";

/// `[assistant]`: who it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AssistantSection {
    #[serde(deserialize_with = "key")]
    pub(crate) key: Key,
    #[serde(deserialize_with = "world::name")]
    pub(crate) name: Option<String>,
    pub(crate) persona: Option<String>,
    pub(crate) apology: Option<String>,
    pub(crate) broken_off: Option<String>,
    pub(crate) wait_notice: Option<String>,
    pub(crate) outage_notice: Option<String>,
    pub(crate) enabled: bool,
}

impl Default for AssistantSection {
    fn default() -> Self {
        Self {
            key: Key(None),
            name: None,
            persona: None,
            apology: None,
            broken_off: None,
            wait_notice: None,
            outage_notice: None,
            enabled: true,
        }
    }
}

/// The configured key, if there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Key(Option<AssistantId>);

fn key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
    AssistantId::deserialize(deserializer).map(|key| Key(Some(key)))
}

impl AssistantSection {
    /// The assistant's key: the configured one, or `dormouse`.
    #[expect(
        clippy::expect_used,
        reason = "the name is a constant, and a test makes it"
    )]
    pub(crate) fn key(&self) -> AssistantId {
        match &self.key.0 {
            Some(key) => key.clone(),
            None => AssistantId::try_new(DEFAULT_KEY).expect("an assistant key"),
        }
    }

    /// The same configuration for another assistant of the folder.
    pub(crate) fn set_key(&mut self, key: AssistantId) {
        self.key = Key(Some(key));
    }

    /// The assistant's name in the world: the configured one, or its key with a capital letter. Names cannot contain
    /// full stops, so hyphens replace them.
    pub(crate) fn name(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let key = self.key();
        let key = key.as_str().replace('.', "-");
        let mut letters = key.chars();
        let first = invariant!(letters.next(), "a key is not empty");
        first.to_ascii_uppercase().to_string() + letters.as_str()
    }
}

/// `[limits]`: what bounds it.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LimitsSection {
    tick_rate: Option<TickRate>,
    max_iterations_per_tick: Option<MaxIterations>,
    max_context_tokens: Option<MaxContextTokens>,
    max_history: Option<MaxHistory>,
    max_consecutive_errors: Option<MaxConsecutiveErrors>,
    max_parts_per_answer: Option<MaxParts>,
    give_up_after: Option<GiveUpAfter>,
    /// The time after which a sender is notified that the answer takes longer.
    pub(crate) slow_after: Option<Seconds>,
}

impl LimitsSection {
    /// The engine's limits with the configured values. `window` is the context window if none is configured.
    pub(crate) fn limits(self, window: Option<u32>) -> Result<Limits, OutOfRange> {
        let mut limits = Limits::default();
        if let Some(tokens) = window {
            limits = limits.with_max_context_tokens(tokens)?;
        }
        if let Some(number) = self.tick_rate {
            limits = number.set(limits)?;
        }
        if let Some(number) = self.max_iterations_per_tick {
            limits = number.set(limits)?;
        }
        if let Some(number) = self.max_context_tokens {
            limits = number.set(limits)?;
        }
        if let Some(number) = self.max_history {
            limits = number.set(limits)?;
        }
        if let Some(number) = self.max_consecutive_errors {
            limits = number.set(limits)?;
        }
        if let Some(number) = self.max_parts_per_answer {
            limits = number.set(limits)?;
        }
        if let Some(number) = self.give_up_after {
            limits = number.set(limits)?;
        }
        Ok(limits)
    }
}

/// `[execution]`: how many actions a tick may take.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(try_from = "ExecutionFields")]
pub(crate) struct ExecutionSection(ExecutionPattern);

impl ExecutionSection {
    /// The pattern.
    pub(crate) fn pattern(self) -> ExecutionPattern {
        self.0
    }
}

/// The two fields for this setting, as they are written.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ExecutionFields {
    multi_action_enabled: Option<bool>,
    mode: Option<Mode>,
}

impl TryFrom<ExecutionFields> for ExecutionSection {
    type Error = String;

    fn try_from(fields: ExecutionFields) -> Result<Self, String> {
        let ExecutionFields {
            multi_action_enabled,
            mode,
        } = fields;
        let pattern = match (mode, multi_action_enabled) {
            (Some(Mode(ExecutionPattern::ReactLoop)), Some(false)) => {
                return Err(contradiction("react_loop", false));
            }
            (Some(Mode(ExecutionPattern::SingleAction)), Some(true)) => {
                return Err(contradiction("single_action", true));
            }
            (Some(Mode(pattern)), _) => pattern,
            (None, Some(true)) => ExecutionPattern::ReactLoop,
            (None, Some(false)) => ExecutionPattern::SingleAction,
            (None, None) => ExecutionPattern::default(),
        };
        Ok(Self(pattern))
    }
}

fn contradiction(mode: &str, switch: bool) -> String {
    format!("mode = {mode:?} contradicts multi_action_enabled = {switch}: remove one of the two")
}

/// A mode by name.
#[derive(Clone, Copy, Debug)]
struct Mode(ExecutionPattern);

impl<'de> Deserialize<'de> for Mode {
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
