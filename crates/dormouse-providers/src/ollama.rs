//! Ollama's own API: chat, embeddings.

mod config;

pub use config::{KeepAlive, OllamaConfig, OllamaModelConfig};

#[cfg(feature = "openai")]
mod decoder;
#[cfg(feature = "openai")]
mod embedder;
#[cfg(feature = "openai")]
mod model;
#[cfg(feature = "openai")]
mod request;

#[cfg(feature = "openai")]
pub use {embedder::OllamaEmbedder, model::OllamaModel};
