//! The port to a chat model.

mod digest;
mod error;
mod message;
mod reply;
mod request;
mod task;
mod turn;
mod usage;

use std::future::poll_fn;

pub use self::{
    digest::{MessageDigest, MessageDigests},
    error::{ErrorClass, ModelError, ModelErrorKind},
    message::{Message, ToolCall, ToolDefinition},
    reply::{Allowance, ChatDelta, ChatReply, FinishReason, RateLimits, ReplyInfo, RequestField},
    request::{ChatRequest, OutputFormat, Purpose, ReasoningEffort, ToolChoice},
    task::{DoubtfulFact, Task, TaskLine},
    turn::{
        AssistantTask, DueAction, EarlierTurn, Persona, TaskReport, TurnCall, TurnContext,
        TurnStep, TurnTrigger,
    },
    usage::{Usage, Usd},
};
use crate::{
    future::{BoxFuture, BoxStream},
    ids::{ModelName, ProviderId, ServiceName},
};

/// A model that continues conversations.
pub trait ChatModel: Send + Sync {
    /// Sends `request` and returns the reply as it arrives. Dropping the stream cancels the request. A stream that ends
    /// without [`ChatDelta::Finished`] was cut off; only [`ChatDelta::Usage`] and [`ChatDelta::Info`] may follow that.
    /// Nothing is retried.
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>>;

    /// The name of the model, and its provider.
    fn identity(&self) -> (&ProviderId, &ModelName);

    /// The services that may answer. A pause that one of them asks for does not affect the others.
    fn services(&self) -> Vec<ServiceName> {
        vec![self.identity().0.into()]
    }
}

/// Collects a whole reply from a model's stream. Dropping the future cancels the request.
///
/// # Errors
///
/// The first [`ModelError`] of the stream; [`ModelErrorKind::Interrupted`] if it ends without [`ChatDelta::Finished`];
/// [`ModelErrorKind::Malformed`] if it continues a tool call that never began.
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
    reasoning: String,
    calls: Vec<(usize, ToolCall)>,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    info: Option<Box<ReplyInfo>>,
}

impl PartialReply {
    fn take(&mut self, delta: ChatDelta) -> Result<(), ModelErrorKind> {
        match delta {
            ChatDelta::Text(text) => self.content.push_str(&text),
            ChatDelta::Reasoning(text) => self.reasoning.push_str(&text),
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
            ChatDelta::Info(info) => self.info = Some(info),
        }
        Ok(())
    }

    fn finish(self) -> Result<ChatReply, ModelErrorKind> {
        Ok(ChatReply {
            content: self.content,
            reasoning: self.reasoning,
            tool_calls: self.calls.into_iter().map(|(_, call)| call).collect(),
            finish: self.finish.ok_or(ModelErrorKind::Interrupted)?,
            usage: self.usage,
            info: self.info,
        })
    }
}

#[cfg(test)]
mod tests;
