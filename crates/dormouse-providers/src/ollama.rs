//! Ollama's own API: chat and embeddings.

#[cfg(feature = "openai")]
mod embedder;
#[cfg(feature = "openai")]
mod model;
#[cfg(feature = "openai")]
mod reply;
#[cfg(feature = "openai")]
mod request;

use std::{num::NonZeroU32, time::Duration};

use dormouse_contracts::ModelName;

#[cfg(feature = "openai")]
pub use self::{embedder::OllamaEmbedder, model::OllamaModel};
use crate::Secret;

/// A model on an Ollama server. The fields are validated when the model or the embedder is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OllamaConfig {
    /// The server's address, such as `http://127.0.0.1:11434`.
    pub base_url: String,
    /// The key, if a proxy in front of the server needs one; Ollama itself does not.
    pub api_key: Option<Secret>,
    /// The model, as listed by `ollama list`.
    pub model: ModelName,
}

/// Configuration of a chat model on an Ollama server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OllamaModelConfig {
    /// The server and the model.
    pub server: OllamaConfig,
    /// Size of the context window in tokens, prompt and reply together. Ollama allocates memory for the whole window and
    /// reloads the model if it changes, so all users of a model should request the same size. `None` uses the server's
    /// default, which may be as small as 4096.
    pub context_window: Option<NonZeroU32>,
    /// How long the server keeps the model in memory after a reply. `None` uses the server's default, usually 5 minutes.
    pub keep_alive: Option<KeepAlive>,
}

impl From<OllamaConfig> for OllamaModelConfig {
    /// Uses the server's defaults for everything else.
    fn from(server: OllamaConfig) -> Self {
        Self {
            server,
            context_window: None,
            keep_alive: None,
        }
    }
}

/// How long a server keeps a model in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepAlive {
    /// For this time, rounded up to whole seconds; zero unloads the model at once.
    For(Duration),
    /// Until the server stops.
    Forever,
}
