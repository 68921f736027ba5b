//! The sections of the file.

use dormouse_contracts::AssistantId;
use dormouse_engine::{ExecutionPattern, Limits, OutOfRange};
use serde::{Deserialize, Deserializer, de::Error};

use super::numbers::{MaxConsecutiveErrors, MaxContextTokens, MaxHistory, MaxIterations, TickRate};

/// `[assistant]`: who it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AssistantSection {
    #[serde(deserialize_with = "key")]
    pub(crate) key: Key,
    pub(crate) name: Option<String>,
    pub(crate) persona: Option<String>,
    pub(crate) enabled: bool,
}

impl Default for AssistantSection {
    fn default() -> Self {
        Self {
            key: Key(None),
            name: None,
            persona: None,
            enabled: true,
        }
    }
}

/// The key that was given, if one was.
#[derive(Clone, Debug, Default)]
pub(crate) struct Key(Option<AssistantId>);

fn key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
    AssistantId::deserialize(deserializer).map(|key| Key(Some(key)))
}

impl AssistantSection {
    /// The assistant's key: the one that was given, or `dormouse`.
    #[expect(
        clippy::expect_used,
        reason = "the name is a constant, and a test makes it"
    )]
    pub(crate) fn key(&self) -> AssistantId {
        match &self.key.0 {
            Some(key) => key.clone(),
            None => AssistantId::try_new("dormouse").expect("an assistant key"),
        }
    }

    /// The assistant's name in the world: the one that was given, or its key with a capital letter.
    pub(crate) fn name(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let key = self.key();
        let mut letters = key.as_str().chars();
        letters
            .next()
            .map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
            .unwrap_or_default()
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
}

impl LimitsSection {
    /// The engine's limits with what was given, in a context window of so many tokens where none was given.
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
        Ok(limits)
    }
}

/// `[execution]`: how many actions a tick may take.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ExecutionSection {
    multi_action_enabled: bool,
    mode: Option<Mode>,
}

impl Default for ExecutionSection {
    fn default() -> Self {
        Self {
            multi_action_enabled: true,
            mode: None,
        }
    }
}

impl ExecutionSection {
    /// The pattern. A mode that is named wins over `multi_action_enabled`.
    pub(crate) fn pattern(self) -> ExecutionPattern {
        match (self.mode, self.multi_action_enabled) {
            (Some(Mode(pattern)), _) => pattern,
            (None, true) => ExecutionPattern::ReactLoop,
            (None, false) => ExecutionPattern::SingleAction,
        }
    }
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
                "the mode plan_execute is reserved and does not exist yet; use react_loop or single_action",
            )),
            _ => Err(Error::custom(format_args!(
                "there is no mode {name:?}; there are react_loop and single_action"
            ))),
        }
    }
}
