//! Any server that speaks OpenAI's API: chat completions, embeddings.

mod config;

pub use config::{OpenAiConfig, OpenAiEmbedderConfig};

#[cfg(feature = "openai")]
mod chunk;
#[cfg(feature = "openai")]
mod decoder;
#[cfg(feature = "openai")]
mod embedder;
#[cfg(feature = "openai")]
mod model;
#[cfg(feature = "openai")]
mod request;

#[cfg(feature = "openai")]
pub use {embedder::OpenAiEmbedder, model::OpenAiModel};
