//! What a tool is, to the one who offers it and the one who calls it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ToolName, Words};

/// The arguments of a tool call: a JSON object.
pub type Arguments = Map<String, Value>;

/// What a tool does to the loop that called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolCategory {
    /// May be followed by another call in the same tick.
    SafeChain,
    /// Ends the loop with the reply that calls it: the other party has the word.
    Terminal,
    /// Changes something that matters: one in a tick, and the loop ends.
    Dangerous,
    /// Waits for something outside; may be followed by another call.
    AsyncRequired,
}

/// How far a call of a tool reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolReach {
    /// Changes the world. It is written down as intended before it is done, and done at most once.
    Effect,
    /// Reads the world. Asking twice does no harm.
    Query,
    /// Stays within the assistant: its result is an event and nothing else happens.
    Inward,
}

/// Who hears what a tool says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SpeechKind {
    /// Everyone in the place.
    Aloud,
    /// One listener in the same place.
    Whisper,
    /// One listener anywhere.
    Page,
    /// Everyone on a channel.
    Channel,
}

/// How a tool speaks. By this, and not by its name, an engine finds the tool for words it has to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speech {
    /// Who hears it.
    pub kind: SpeechKind,
    /// The argument that holds the words, a text. The `maxLength` of its schema is the most characters of one call.
    pub words: String,
    /// The argument that names the listener or the channel, where the tool has one. A call needs no other argument.
    pub to: Option<String>,
}

/// A tool as it is offered to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name a model calls it by.
    pub name: ToolName,
    /// What it does, for the model to read.
    pub description: String,
    /// The JSON Schema of its arguments; an object schema.
    pub parameters: Value,
    /// What calling it does to the loop.
    pub category: ToolCategory,
    /// How far it reaches.
    pub reach: ToolReach,
    /// How long one call may take.
    pub timeout: Duration,
    /// How it speaks; absent where calling it says nothing to anybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speech: Option<Speech>,
}

impl ToolSpec {
    /// How long a call may take where nothing else is said.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

    /// The most characters of words that one call says, if the tool speaks. Where its schema names no bound, as many as
    /// fit into [`Words`], whichever they are.
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
