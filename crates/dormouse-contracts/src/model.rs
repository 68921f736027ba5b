//! The port to a chat model.

use std::{fmt, future::poll_fn, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{BoxError, BoxFuture, BoxStream, CallId, ModelName, ProviderId, ToolName, ToolSpec};

/// One message of a conversation, as a model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// Instructions of the one who runs the assistant.
    System {
        /// The text.
        content: String,
    },
    /// What the world says to the assistant.
    User {
        /// The text.
        content: String,
    },
    /// What the model said or called.
    Assistant {
        /// Its text; empty where it only called tools.
        content: String,
        /// The tools it called.
        tool_calls: Vec<ToolCall>,
    },
    /// The result of a tool call.
    Tool {
        /// Which call it answers.
        call_id: CallId,
        /// The result as JSON text.
        content: String,
    },
}

/// A tool call as a model made it. Nothing in it has been checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Ties the result to the call.
    pub id: CallId,
    /// The name the model used; there may be no such tool.
    pub name: String,
    /// The arguments as the model wrote them; there may be no JSON in there.
    pub arguments: String,
}

/// A tool as a chat request offers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name to call it by.
    pub name: ToolName,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

impl From<&ToolSpec> for ToolDefinition {
    fn from(spec: &ToolSpec) -> Self {
        Self {
            name: spec.name.clone(),
            description: spec.description.clone(),
            parameters: spec.parameters.clone(),
        }
    }
}

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

/// One request to a chat model.
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
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// It was done.
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

/// What a request cost, in tokens, as the provider counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// Tokens of the reply.
    pub completion_tokens: u32,
}

/// A piece of a reply, in the order it arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatDelta {
    /// More text.
    Text(String),
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
    /// What it cost.
    Usage(Usage),
}

/// A whole reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatReply {
    /// Its text.
    pub content: String,
    /// The tools it called, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Why it stopped.
    pub finish: FinishReason,
    /// What it cost; absent where the provider did not say.
    pub usage: Option<Usage>,
}

/// What went wrong, as far as a caller can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The key is missing, wrong or not allowed to do this: nothing helps but a change of configuration.
    #[error("the provider refused the credentials")]
    Auth,
    /// The provider asked for a pause, and may have said for how long.
    #[error("the provider asks to slow down")]
    RateLimited(Option<Duration>),
    /// The prompt and the reserved reply do not fit into the model's context window.
    #[error("the prompt is longer than the model's context window")]
    ContextExceeded,
    /// The provider understood the request and refused it; the same request never succeeds.
    #[error("the provider refused the request")]
    Refused,
    /// The connection failed, or the provider answered with a server error.
    #[error("the provider is unavailable")]
    Unavailable,
    /// No answer came in time.
    #[error("the provider did not answer in time")]
    TimedOut,
    /// The connection ended in the middle of the reply.
    #[error("the reply was cut off")]
    Interrupted,
    /// The provider answered with something that is no reply.
    #[error("the provider's answer could not be understood")]
    Malformed,
}

impl ModelErrorKind {
    /// Was it this prompt that the provider would not take, while it may take another one?
    #[must_use]
    pub fn refuses_the_prompt(self) -> bool {
        matches!(self, Self::Refused | Self::ContextExceeded)
    }

    /// May the same request succeed if it is made again?
    #[must_use]
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimited(_)
            | Self::Unavailable
            | Self::TimedOut
            | Self::Interrupted
            | Self::Malformed => true,
            Self::Auth | Self::ContextExceeded | Self::Refused => false,
        }
    }

    /// Is it the service that ails, rather than this request? A breaker counts these.
    #[must_use]
    pub fn is_service_ill(self) -> bool {
        match self {
            Self::Auth
            | Self::RateLimited(_)
            | Self::Unavailable
            | Self::TimedOut
            | Self::Interrupted
            | Self::Malformed => true,
            Self::ContextExceeded | Self::Refused => false,
        }
    }
}

/// A call to a model failed.
#[derive(Debug)]
pub struct ModelError {
    provider: ProviderId,
    kind: ModelErrorKind,
    source: Option<BoxError>,
}

impl ModelError {
    /// An error of this kind from this provider, with its cause if there is one.
    #[must_use]
    pub fn new(provider: ProviderId, kind: ModelErrorKind, source: Option<BoxError>) -> Self {
        Self {
            provider,
            kind,
            source,
        }
    }

    /// What a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// Whose fault it is.
    #[must_use]
    pub fn provider(&self) -> &ProviderId {
        &self.provider
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (provider {})", self.kind, self.provider)
    }
}

impl std::error::Error for ModelError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}

/// A model that continues conversations.
pub trait ChatModel: Send + Sync {
    /// Sends `request` and answers with the reply as it comes. Dropping the stream cancels the request. A stream
    /// that ends without [`ChatDelta::Finished`] was cut off. No retry happens inside.
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>>;

    /// Which model this is, and who serves it.
    fn identity(&self) -> (&ProviderId, &ModelName);
}

/// Collects a whole reply from a model's stream. Dropping the future cancels the request.
///
/// # Errors
///
/// The first [`ModelError`] of the stream; [`ModelErrorKind::Interrupted`] if it ends before the model said
/// that it was finished; [`ModelErrorKind::Malformed`] if it continues a tool call that never began.
pub fn complete<'a>(
    model: &'a dyn ChatModel,
    request: &'a ChatRequest,
) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
    Box::pin(async move {
        let mut stream = model.stream(request);
        let mut partial = PartialReply::default();
        while let Some(delta) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
            partial
                .take(delta?)
                .map_err(|kind| ModelError::new(model.identity().0.clone(), kind, None))?;
        }
        partial
            .finish()
            .map_err(|kind| ModelError::new(model.identity().0.clone(), kind, None))
    })
}

#[derive(Default)]
struct PartialReply {
    content: String,
    calls: Vec<(usize, ToolCall)>,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
}

impl PartialReply {
    fn take(&mut self, delta: ChatDelta) -> Result<(), ModelErrorKind> {
        match delta {
            ChatDelta::Text(text) => self.content.push_str(&text),
            ChatDelta::CallStart { index, id, name } => {
                self.calls.push((
                    index,
                    ToolCall {
                        id,
                        name,
                        arguments: String::new(),
                    },
                ));
            }
            ChatDelta::CallArguments { index, fragment } => {
                let call = self.calls.iter_mut().rev().find(|(i, _)| *i == index);
                let (_, call) = call.ok_or(ModelErrorKind::Malformed)?;
                call.arguments.push_str(&fragment);
            }
            ChatDelta::Finished(reason) => self.finish = Some(reason),
            ChatDelta::Usage(usage) => self.usage = Some(usage),
        }
        Ok(())
    }

    fn finish(self) -> Result<ChatReply, ModelErrorKind> {
        Ok(ChatReply {
            content: self.content,
            tool_calls: self.calls.into_iter().map(|(_, call)| call).collect(),
            finish: self.finish.ok_or(ModelErrorKind::Interrupted)?,
            usage: self.usage,
        })
    }
}

#[cfg(test)]
mod tests;
