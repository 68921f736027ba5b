//! Asking a model, and why that failed.

use dormouse_contracts::{ChatModel, ChatRequest, Message, ModelErrorKind, complete};
use serde::{Deserialize, Serialize};

/// Why a batch was not written. Its sources stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Failure {
    /// The model failed.
    #[error("the model failed: {0}")]
    Model(ModelErrorKind),
    /// Its reply is not a list of facts.
    #[error("the model's reply is not a list of facts")]
    Unreadable,
}

/// Asks a model for one reply, at temperature 0.
pub(super) async fn ask(
    model: &dyn ChatModel,
    messages: Vec<Message>,
    reply_tokens: u32,
) -> Result<String, Failure> {
    let request = ChatRequest {
        messages,
        temperature: Some(0.0),
        max_tokens: Some(reply_tokens),
        ..ChatRequest::default()
    };
    let reply = complete(model, &request).await;
    reply
        .map(|reply| reply.content)
        .map_err(|error| Failure::Model(error.kind()))
}
