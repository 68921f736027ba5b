//! Which Ollama, which model, and how it is kept.

use std::{num::NonZeroU32, time::Duration};

use dormouse_contracts::ModelName;

use crate::Secret;

/// Where a model is served by Ollama. Checked when the model or the embedder is made from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OllamaConfig {
    /// The server, as `http://127.0.0.1:11434`.
    pub base_url: String,
    /// The key, where a proxy before the server wants one; Ollama itself wants none.
    pub api_key: Option<Secret>,
    /// The model, as `ollama list` names it.
    pub model: ModelName,
}

/// A chat model that Ollama serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OllamaModelConfig {
    /// The server and the model.
    pub server: OllamaConfig,
    /// How many tokens prompt and reply may have together. Ollama takes the memory for all of them when it loads the
    /// model, and loads it again for another number, so that all who use a model should ask for the same. `None`
    /// leaves it to the server, whose own default may be as little as 4096.
    pub context_window: Option<NonZeroU32>,
    /// How long the server keeps the model in memory after a reply; `None` leaves it to the server: 5 minutes, unless
    /// it is set up otherwise.
    pub keep_alive: Option<KeepAlive>,
}

impl From<OllamaConfig> for OllamaModelConfig {
    /// Everything else is left to the server.
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
    /// So long, in whole seconds, a part of one counting as one; zero lets it go at once.
    For(Duration),
    /// Until the server ends.
    Forever,
}
