//! Any server that speaks OpenAI's API: chat completions, responses, embeddings.

mod api;
mod config;

pub use api::OpenAiApi;
pub use config::{OpenAiConfig, OpenAiEmbedderConfig};

#[cfg(feature = "openai")]
mod chat;
#[cfg(feature = "openai")]
mod chunk;
#[cfg(feature = "openai")]
mod decoder;
#[cfg(feature = "openai")]
mod embedder;
#[cfg(feature = "openai")]
mod length;
#[cfg(feature = "openai")]
mod model;
#[cfg(feature = "openai")]
mod ordinary;
#[cfg(feature = "openai")]
mod request;
#[cfg(feature = "openai")]
mod responses;
#[cfg(feature = "openai")]
mod schema;

#[cfg(feature = "openai")]
pub use {embedder::OpenAiEmbedder, model::OpenAiModel};
// What OpenRouter shares with it.
#[cfg(feature = "openai")]
pub(crate) use {
    decoder::ChatDecoder,
    request::{Dialect, chat},
};
