//! Any server that speaks Anthropic's Messages API.

mod config;

pub use config::AnthropicConfig;

#[cfg(feature = "openai")]
mod conversation;
#[cfg(feature = "openai")]
mod decoder;
#[cfg(feature = "openai")]
mod event;
#[cfg(feature = "openai")]
mod generation;
#[cfg(feature = "openai")]
mod model;
#[cfg(feature = "openai")]
mod names;
#[cfg(feature = "openai")]
mod request;
#[cfg(feature = "openai")]
mod schema;
#[cfg(feature = "openai")]
mod thinking;

#[cfg(feature = "openai")]
pub use model::AnthropicModel;
#[cfg(feature = "openai")]
pub(crate) use model::reach;
