//! Any server that speaks OpenAI's chat completions.

mod config;

pub use config::OpenAiConfig;

#[cfg(feature = "openai")]
mod address;
#[cfg(feature = "openai")]
mod chunk;
#[cfg(feature = "openai")]
mod complaint;
#[cfg(feature = "openai")]
mod events;
#[cfg(feature = "openai")]
mod failure;
#[cfg(feature = "openai")]
mod lines;
#[cfg(feature = "openai")]
mod model;
#[cfg(feature = "openai")]
mod pause;
#[cfg(feature = "openai")]
mod redact;
#[cfg(feature = "openai")]
mod reply;
#[cfg(feature = "openai")]
mod request;
#[cfg(feature = "openai")]
mod wire;

#[cfg(feature = "openai")]
pub use {address::OpenAiConfigError, model::OpenAiModel};
