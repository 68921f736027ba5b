//! Outward acts.

use dormouse_contracts::{
    Arguments, Audience, CallId, EffectKey, Outcome, ToolCategory, ToolName, Trust,
};
use serde::{Deserialize, Serialize};

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// An outward act was decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectIntended {
    /// Its idempotency key.
    pub key: EffectKey,
    /// Which call asked for it.
    pub call: CallId,
    /// Which tool of the world.
    pub tool: ToolName,
    /// What calling it does to the loop.
    pub category: ToolCategory,
    /// Its arguments, checked.
    pub arguments: Arguments,
    /// The trust of what it says, if it says anything: the lowest trust of everything that this may have come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Who may learn what it says, other than the assistant: those to whom it is said and who were party to everything that
    /// it may have come from. Nobody, if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// Who may hear its words, other than the assistant, as the world checks it ([`Effect::within`]). Absent if anybody may.
    ///
    /// [`Effect::within`]: dormouse_contracts::Effect::within
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Audience>,
}

/// What became of an outward act.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectSettled {
    /// Which act.
    pub key: EffectKey,
    /// What became of it.
    pub outcome: Outcome,
    /// The result as JSON text, word for word as the model sees it.
    pub content: String,
    /// How many tokens that takes.
    pub tokens: u32,
}

/// The world could not be reached, or could not be asked what became of an act. Nothing was refused: the call stays
/// open, and is made again when its turn goes on. This does not count as an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldFailed {
    /// Which call.
    pub call: CallId,
    /// Why, for people, as far as it is known; at most 500 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the world could be reached, but did not answer this act.
    #[serde(default)]
    pub silent: bool,
}
