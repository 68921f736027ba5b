//! The description of a tool.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ids::ToolName, perception::Words, trust::Trust};

/// The arguments of a tool call: a JSON object.
pub type Arguments = Map<String, Value>;

/// How a tool affects the loop that called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolCategory {
    /// Another call may follow in the same tick.
    SafeChain,
    /// Ends the loop with the reply that calls it: it is the other party's turn.
    Terminal,
    /// Changes something important: at most one per tick, and it ends the loop.
    Dangerous,
    /// Waits for an outside result; another call may follow.
    AsyncRequired,
}

/// What a call of a tool can affect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolReach {
    /// Changes the world. It is recorded as intended before it is performed, and performed at most once.
    Effect,
    /// Reads the world. Repeating it is harmless.
    Query,
    /// Affects only the assistant: its result is an event, and nothing else happens.
    Builtin,
}

/// Who hears a tool that speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SpeechKind {
    /// Everyone in the room.
    Aloud,
    /// One listener in the same room.
    Whisper,
    /// One listener anywhere.
    Page,
    /// Everyone on a channel.
    Channel,
}

/// How a tool speaks. An engine finds its tool for speaking by this and not by the name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speech {
    /// Who hears it.
    pub kind: SpeechKind,
    /// The argument with the words, a text. The `maxLength` of its schema limits the characters of one call.
    pub words: String,
    /// The argument with the listener or the channel, if the tool has one. A call needs no other argument.
    pub to: Option<String>,
}

/// For how long the result of a query may be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CacheScope {
    /// Until the tick ends.
    Tick,
    /// Until the assistant wakes the next time.
    Session,
}

/// How the results of a query are used again, when the same assistant asks it again with the same arguments. After an
/// effect of the assistant they are never used again, because the effect may change the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachePolicy {
    /// The span in which results may be used again.
    pub scope: CacheScope,
    /// The longest time after the answer for which it may be used; absent if only the scope counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Duration>,
}

/// A tool as it is offered to a model. Start with [`ToolSpec::effect`] or [`ToolSpec::query`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: ToolName,
    /// What it does, for the model to read.
    pub description: String,
    /// The JSON Schema of its arguments; an object schema.
    pub parameters: Value,
    /// How a call affects the loop.
    pub category: ToolCategory,
    /// What a call can affect.
    pub reach: ToolReach,
    /// How long one call may take.
    pub timeout: Duration,
    /// How it speaks; absent if nobody hears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speech: Option<Speech>,
    /// A call is allowed only if everything that the model was shown has at least this trust; absent if any trust is
    /// enough. A [dangerous](ToolCategory::Dangerous) call needs at least what the assistant's settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_trust: Option<Trust>,
    /// Whether its results may be used again, if it is a [query](ToolReach::Query).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CachePolicy>,
    /// How far its results are believed, if a source outside of the world carries it out; absent for a tool of the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_trust: Option<Trust>,
}

impl ToolSpec {
    /// The default timeout of a call.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

    /// A tool that changes something outside of the assistant. Another call may follow in the same tick.
    #[must_use]
    pub fn effect(name: ToolName, description: impl Into<String>, parameters: Value) -> Self {
        Self {
            name,
            description: description.into(),
            parameters,
            category: ToolCategory::SafeChain,
            reach: ToolReach::Effect,
            timeout: Self::DEFAULT_TIMEOUT,
            speech: None,
            required_trust: None,
            cache: None,
            result_trust: None,
        }
    }

    /// A tool that only reads. Another call may follow in the same tick.
    #[must_use]
    pub fn query(name: ToolName, description: impl Into<String>, parameters: Value) -> Self {
        Self {
            reach: ToolReach::Query,
            ..Self::effect(name, description, parameters)
        }
    }

    /// The most characters of words that one call says, if the tool speaks. Without a bound in its schema, it is the
    /// number of characters that always fit into [`Words`], however many bytes each takes.
    #[must_use]
    pub fn longest_words(&self) -> Option<usize> {
        let words = &self.speech.as_ref()?.words;
        let schema = self.parameters.get("properties")?.get(words)?;
        let bound = schema.get("maxLength").and_then(Value::as_u64);
        let bound = bound.and_then(|bound| usize::try_from(bound).ok());
        Some(
            bound
                .unwrap_or(usize::MAX)
                .min(Words::LIMIT / char::MAX.len_utf8()),
        )
    }
}
