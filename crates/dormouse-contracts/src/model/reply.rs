//! The reply of a model.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{message::ToolCall, usage::Usage};
use crate::ids::{CallId, ModelName, ProviderId};

/// Why a model stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The reply was finished.
    #[default]
    Stop,
    /// It called tools.
    ToolCalls,
    /// It reached a length limit; the reply may be incomplete.
    Length,
    /// A content filter stopped it.
    ContentFilter,
    /// A reason that this version does not know.
    Other(String),
}

/// How much of a limit is left, as a provider reports it in headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// The limit per window.
    pub limit: Option<u64>,
    /// What is left of it.
    pub remaining: Option<u64>,
    /// When the whole limit is available again.
    pub resets_in: Option<Duration>,
}

/// The rate limits that a provider reports with a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimits {
    /// Requests.
    pub requests: Option<Allowance>,
    /// Tokens.
    pub tokens: Option<Allowance>,
}

/// A part of a request that a provider or its model does not support.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RequestField {
    /// [`ChatRequest::tools`](crate::ChatRequest::tools).
    Tools,
    /// [`ChatRequest::tool_choice`](crate::ChatRequest::tool_choice).
    ToolChoice,
    /// [`ChatRequest::temperature`](crate::ChatRequest::temperature).
    Temperature,
    /// [`ChatRequest::top_p`](crate::ChatRequest::top_p).
    TopP,
    /// [`ChatRequest::max_tokens`](crate::ChatRequest::max_tokens).
    MaxTokens,
    /// [`ChatRequest::reasoning_effort`](crate::ChatRequest::reasoning_effort).
    ReasoningEffort,
    /// [`ChatRequest::output`](crate::ChatRequest::output).
    Output,
    /// The request to report the usage of a streamed reply.
    StreamUsage,
    /// One of [`ChatRequest::extra`](crate::ChatRequest::extra).
    Extra(String),
}

/// Facts about a reply besides its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyInfo {
    /// The provider that answered.
    pub provider: ProviderId,
    /// The model that was asked. With failover it is not always the first configured one.
    pub model: ModelName,
    /// The model that the provider reports, if it does. Unchecked, at most 256 bytes.
    pub served_model: Option<String>,
    /// The provider's id of the request, for its support. Unchecked, at most 256 bytes.
    pub request_id: Option<String>,
    /// Its rate limits.
    pub rate_limits: RateLimits,
    /// What was left out of the request, because the provider or the model does not support it.
    pub left_out: Vec<RequestField>,
}

/// A piece of a reply, in the order it arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatDelta {
    /// More text.
    Text(String),
    /// More of the model's thoughts, which are not part of its text.
    Reasoning(String),
    /// A tool call begins. `index` distinguishes the calls of one reply.
    CallStart {
        /// The number of the call within the reply.
        index: usize,
        /// Its id, from the provider or else from the adapter.
        id: CallId,
        /// The tool's name.
        name: String,
    },
    /// More of the arguments of a call that has begun.
    CallArguments {
        /// The number of the call within the reply.
        index: usize,
        /// The next piece of JSON text.
        fragment: String,
    },
    /// The model stopped.
    Finished(FinishReason),
    /// The cost. If it comes more than once, the last one counts.
    Usage(Usage),
    /// Facts about the reply. If they come more than once, the last ones count.
    Info(Box<ReplyInfo>),
}

/// A whole reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatReply {
    /// Its text.
    pub content: String,
    /// The model's thoughts, if the provider sends them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The tools it called, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Why it stopped.
    pub finish: FinishReason,
    /// The cost; absent if the provider did not report it.
    pub usage: Option<Usage>,
    /// Facts about it; absent if the model has no provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<Box<ReplyInfo>>,
}
