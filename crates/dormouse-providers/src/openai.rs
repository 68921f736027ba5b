//! Any server that speaks OpenAI's API: chat completions, embeddings.

mod config;

pub use config::{OpenAiConfig, OpenAiEmbedderConfig};

#[cfg(feature = "openai")]
mod chunk;
#[cfg(feature = "openai")]
mod embedder;
#[cfg(feature = "openai")]
mod events;
#[cfg(feature = "openai")]
mod lines;
#[cfg(feature = "openai")]
mod model;
#[cfg(feature = "openai")]
mod reply;
#[cfg(feature = "openai")]
mod request;
#[cfg(feature = "openai")]
mod wire;

#[cfg(feature = "openai")]
pub use {embedder::OpenAiEmbedder, model::OpenAiModel};
