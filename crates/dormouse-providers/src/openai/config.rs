//! Which server, which model, which key.

use std::num::NonZeroUsize;

use dormouse_contracts::{ModelName, ProviderId};

use crate::Secret;

/// Where an OpenAI-compatible model is served. Checked when the model is made from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAiConfig {
    /// Who serves it, for errors and events.
    pub provider: ProviderId,
    /// The server, as `http://127.0.0.1:8080`, with or without a version such as `/v1` at the end.
    pub base_url: String,
    /// The key, where the server wants one.
    pub api_key: Option<Secret>,
    /// The model, as the server names it.
    pub model: ModelName,
}

/// Where an OpenAI-compatible text encoder is served. Checked when the embedder is made from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAiEmbedderConfig {
    /// The server and the model.
    pub server: OpenAiConfig,
    /// How many numbers a vector shall have, for models that can do with fewer than their own; `None` leaves it to the
    /// model, and says nothing of it in the request.
    pub dimensions: Option<NonZeroUsize>,
}
