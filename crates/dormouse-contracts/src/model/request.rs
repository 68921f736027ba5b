//! What a model is asked.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Message, ToolDefinition, TurnContext};
use crate::ToolName;

/// Which tools the model may or must call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// This one.
    Tool(ToolName),
}

/// How much a model shall think before it answers. Models that do not think take no notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningEffort {
    /// As little as it can.
    Minimal,
    /// A little.
    Low,
    /// As usual.
    Medium,
    /// A lot; slow and dear.
    High,
}

impl ReasoningEffort {
    /// The word by which providers and users know it: `minimal`, `low`, `medium`, `high`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What form the text of a reply shall have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputFormat {
    /// Any text.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// JSON that a schema describes. Where a provider cannot hold its model to it the field is left out and told as such
    /// ([`ReplyInfo::left_out`](crate::ReplyInfo)): check what comes back.
    Schema {
        /// What it is called, in letters, digits, `_` and `-`; at most 64 of them.
        name: String,
        /// The JSON Schema.
        schema: Value,
    },
}

/// What a request is for. Routing goes by it, as does who pays attention to a fallback; the model itself is not told.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Purpose {
    /// Answering what happened in the world.
    #[default]
    Answer,
    /// Pursuing goals while nothing happens. Nobody waits for it.
    Heartbeat,
    /// Summing up what no longer fits into the prompt.
    Compaction,
    /// Scoring the importance of what happened.
    Scoring,
    /// Judging how hard a task is.
    Assessment,
}

impl Purpose {
    /// All of them, in the order in which they are shown to people.
    pub const ALL: [Self; 5] = [
        Self::Answer,
        Self::Heartbeat,
        Self::Compaction,
        Self::Scoring,
        Self::Assessment,
    ];

    /// The word by which users know it: `answer`, `heartbeat`, `compaction`, `scoring`, `assessment`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Heartbeat => "heartbeat",
            Self::Compaction => "compaction",
            Self::Scoring => "scoring",
            Self::Assessment => "assessment",
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One request to a chat model.
///
/// What a provider does not know of it is left out and told in the reply ([`ReplyInfo::left_out`](crate::ReplyInfo)).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools offered natively; empty where calls are made in the text.
    pub tools: Vec<ToolDefinition>,
    /// Which of them may be called.
    pub tool_choice: ToolChoice,
    /// Sampling temperature in `0.0..=2.0`; the model's own where absent.
    pub temperature: Option<f32>,
    /// Nucleus sampling in `0.0..=1.0`; the model's own where absent.
    pub top_p: Option<f32>,
    /// The most tokens the reply may have; the model's own limit where absent.
    pub max_tokens: Option<u32>,
    /// How much it shall think; the model's own where absent.
    #[serde(default)]
    pub reasoning_effort: Option<ReasoningEffort>,
    /// The form of the reply.
    #[serde(default)]
    pub output: OutputFormat,
    /// How many of the first messages come again unchanged in the next request. Providers that cache prompts on demand
    /// are told to keep everything up to there; 0 marks nothing.
    #[serde(default)]
    pub stable_messages: usize,
    /// Further parameters, in the provider's own words, put into the body of the request. None of them replaces a field
    /// that is set above.
    #[serde(default)]
    pub extra: Map<String, Value>,
    /// What it is for.
    #[serde(default)]
    pub purpose: Purpose,
    /// The turn it continues, for a model that follows rules; absent where it continues none. No server is sent it.
    #[serde(default)]
    pub turn: Option<Box<TurnContext>>,
}
