//! Which server, which model, which key.

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
