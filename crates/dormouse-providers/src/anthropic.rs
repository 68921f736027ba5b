//! Servers with Anthropic's Messages API.

#[cfg(feature = "openai")]
mod conversation;
#[cfg(feature = "openai")]
mod generation;
#[cfg(feature = "openai")]
mod model;
#[cfg(feature = "openai")]
mod reply;
#[cfg(feature = "openai")]
mod request;

use std::num::NonZeroU32;

use dormouse_contracts::{ModelName, ProviderId};

#[cfg(feature = "openai")]
pub use self::model::AnthropicModel;
#[cfg(feature = "openai")]
pub(crate) use self::model::reach;
use crate::Secret;

/// Configuration of a model with Anthropic's Messages API. It is validated when the model is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnthropicConfig {
    /// The provider's id, for errors and events.
    pub provider: ProviderId,
    /// The server's address, such as `https://api.anthropic.com`, with or without `/v1` or `/v1/messages` at the end.
    pub base_url: String,
    /// The key, if the server needs one. It is sent as `x-api-key`.
    pub api_key: Option<Secret>,
    /// The model, as the server names it.
    pub model: ModelName,
    /// The length limit of a reply, in tokens, for requests without one; this API requires a limit. `None` uses the limit of
    /// the model if its name is known, and 4096 otherwise.
    pub output_limit: Option<NonZeroU32>,
}
