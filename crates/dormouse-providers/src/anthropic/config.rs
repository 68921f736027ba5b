//! Which server, which model, which key.

use std::num::NonZeroU32;

use dormouse_contracts::{ModelName, ProviderId};

use crate::Secret;

/// Where a model with Anthropic's Messages API is served. Checked when the model is made from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnthropicConfig {
    /// Who serves it, for errors and events.
    pub provider: ProviderId,
    /// The server, as `https://api.anthropic.com`, with or without `/v1` or `/v1/messages` at the end.
    pub base_url: String,
    /// The key, where the server wants one. It is sent as `x-api-key`.
    pub api_key: Option<Secret>,
    /// The model, as the server names it.
    pub model: ModelName,
    /// The most tokens of a reply where a request names no limit, since this API must be told one. `None`: what the model
    /// can do, where its name tells; else 4096.
    pub output_limit: Option<NonZeroU32>,
}
