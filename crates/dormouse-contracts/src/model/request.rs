//! A request to a model.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    digest::MessageDigests,
    message::{Message, ToolDefinition},
    task::Task,
    turn::TurnContext,
};
use crate::ids::ToolName;

/// Which tools the model may or must call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// This one.
    Tool(ToolName),
}

/// How much a model thinks before it answers. Models that do not think ignore it.
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
    /// A lot, which is slow and expensive.
    High,
}

impl ReasoningEffort {
    /// Its name for providers and users: `minimal`, `low`, `medium`, `high`.
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

/// The form of a reply's text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputFormat {
    /// Any text.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// JSON that fits a schema. If a provider cannot enforce it, the field is left out and reported
    /// ([`ReplyInfo::left_out`](crate::ReplyInfo)), so check the reply.
    Schema {
        /// Its name: at most 64 letters, digits, `_` and `-`.
        name: String,
        /// The JSON Schema.
        schema: Value,
    },
}

/// What a request is for. Routing and the handling of a fallback depend on it. It is not sent to the model.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Purpose {
    /// Answering what happened in the world.
    #[default]
    Answer,
    /// What the assistant does by itself, such as pursuing a goal or reflecting. Nobody waits for it.
    Heartbeat,
    /// Summarising what no longer fits into the prompt.
    Compaction,
    /// Scoring the importance of what happened.
    Scoring,
    /// Judging how hard a task is, or how a relationship changes.
    Assessment,
    /// Making facts of what was heard, and attributes of what was noticed about people. Nobody waits for it.
    Consolidation,
}

impl Purpose {
    /// All purposes, in the order in which people see them.
    pub const ALL: [Self; 6] = [
        Self::Answer,
        Self::Heartbeat,
        Self::Compaction,
        Self::Scoring,
        Self::Assessment,
        Self::Consolidation,
    ];

    /// Its name for users: `answer`, `heartbeat`, `compaction`, `scoring`, `assessment`,
    /// `consolidation`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Heartbeat => "heartbeat",
            Self::Compaction => "compaction",
            Self::Scoring => "scoring",
            Self::Assessment => "assessment",
            Self::Consolidation => "consolidation",
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
/// Fields that a provider does not support are left out and reported in the reply
/// ([`ReplyInfo::left_out`](crate::ReplyInfo)).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The known digests of messages that are repeated in later requests. Each digest belongs to the message at the
    /// same position. Code that changes `messages` must reset the digests; otherwise a provider sends the old message.
    #[serde(skip)]
    pub digests: MessageDigests,
    /// The tools offered natively; empty if the prompt describes them and calls are read from the reply's text.
    /// They are shared, because they are the same in each request of an assistant.
    #[serde(with = "shared")]
    pub tools: Arc<[ToolDefinition]>,
    /// Which of them may be called.
    pub tool_choice: ToolChoice,
    /// Sampling temperature in `0.0..=2.0`; the model's default if absent.
    pub temperature: Option<f32>,
    /// Nucleus sampling in `0.0..=1.0`; the model's default if absent.
    pub top_p: Option<f32>,
    /// The maximum length of the reply in tokens; the model's own limit if absent.
    pub max_tokens: Option<u32>,
    /// How much the model thinks; its default if absent.
    #[serde(default)]
    pub reasoning_effort: Option<ReasoningEffort>,
    /// The form of the reply.
    #[serde(default)]
    pub output: OutputFormat,
    /// How many of the first messages stay unchanged in the next request. Providers that cache prompts on demand are asked
    /// to cache these; 0 asks for nothing.
    #[serde(default)]
    pub stable_messages: usize,
    /// Further parameters for the body of the request, as the provider names them. They never replace a field that is set
    /// above.
    #[serde(default)]
    pub extra: Map<String, Value>,
    /// What it is for.
    #[serde(default)]
    pub purpose: Purpose,
    /// The turn that it continues, if any, for a rule-based model. It is never sent to a server.
    #[serde(default)]
    pub turn: Option<Box<TurnContext>>,
    /// What it asks for outside of a turn, if that is known, for a rule-based model. It is never sent to a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<Task>>,
}

/// A shared list, written and read as a list.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        list: &Arc<[T]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter())
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<[T]>, D::Error> {
        Vec::deserialize(deserializer).map(Arc::from)
    }
}
