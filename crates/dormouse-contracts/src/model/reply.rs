//! What a model answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{ToolCall, Usage};
use crate::{CallId, ModelName, ProviderId};

/// Why a model stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// It was done.
    #[default]
    Stop,
    /// It called tools.
    ToolCalls,
    /// It ran into a length limit; what it said may be cut short.
    Length,
    /// It was cut off by a content filter.
    ContentFilter,
    /// Something this version has no name for.
    Other(String),
}

/// How much of a limit is left, as a provider tells it in the headers of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// The whole of it, for one window.
    pub limit: Option<u64>,
    /// What is left.
    pub remaining: Option<u64>,
    /// When all of it is there again.
    pub resets_in: Option<Duration>,
}

/// What a provider says of its rate limits in an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimits {
    /// Requests.
    pub requests: Option<Allowance>,
    /// Tokens.
    pub tokens: Option<Allowance>,
}

/// A part of a request that a provider or its model does not know.
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
    /// The request to be told the usage of a streamed reply.
    StreamUsage,
    /// One of [`ChatRequest::extra`](crate::ChatRequest::extra).
    Extra(String),
}

/// What is known of a reply besides what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyInfo {
    /// Who answered.
    pub provider: ProviderId,
    /// Which of its models was asked; behind a failover not always the first of the list.
    pub model: ModelName,
    /// Which model the provider says it used, where it says so. Unchecked, at most 256 bytes.
    pub served_model: Option<String>,
    /// The provider's name for this request, for its support. Unchecked, at most 256 bytes.
    pub request_id: Option<String>,
    /// What is left of its limits.
    pub rate_limits: RateLimits,
    /// What was left out of the request, because the provider or the model does not know it.
    pub left_out: Vec<RequestField>,
}

/// A piece of a reply, in the order it arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatDelta {
    /// More text.
    Text(String),
    /// More of what the model thinks before it speaks. It is no part of what it says.
    Reasoning(String),
    /// A tool call begins. `index` tells calls of one reply apart.
    CallStart {
        /// Which call of this reply.
        index: usize,
        /// Its id, as the provider gave it or as the adapter made it.
        id: CallId,
        /// The tool's name.
        name: String,
    },
    /// More of the arguments of a call that has begun.
    CallArguments {
        /// Which call of this reply.
        index: usize,
        /// The next piece of JSON text.
        fragment: String,
    },
    /// The model stopped.
    Finished(FinishReason),
    /// What it cost. Where it comes more than once, the last one counts.
    Usage(Usage),
    /// What is known of the reply. Where it comes more than once, the last one counts.
    Info(Box<ReplyInfo>),
}

/// A whole reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatReply {
    /// Its text.
    pub content: String,
    /// What the model thought before it spoke, where the provider tells.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The tools it called, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Why it stopped.
    pub finish: FinishReason,
    /// What it cost; absent where the provider did not say.
    pub usage: Option<Usage>,
    /// What else is known of it; absent where the model needs no provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<Box<ReplyInfo>>,
}
