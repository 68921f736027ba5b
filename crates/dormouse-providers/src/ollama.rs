//! Ollama's own API.

use dormouse_contracts::ModelName;

use crate::Secret;

#[cfg(feature = "openai")]
mod embedder;

#[cfg(feature = "openai")]
pub use embedder::OllamaEmbedder;

/// Where a text encoder is served by Ollama. Checked when the embedder is made from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OllamaConfig {
    /// The server, as `http://127.0.0.1:11434`.
    pub base_url: String,
    /// The key, where a proxy before the server wants one; Ollama itself wants none.
    pub api_key: Option<Secret>,
    /// The model, as `ollama list` names it.
    pub model: ModelName,
}
