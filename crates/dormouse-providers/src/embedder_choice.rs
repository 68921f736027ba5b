//! Chooses the text encoder from the program's flags, configuration and environment.

mod embedder_ref;
mod open;

use std::{fmt, path::PathBuf};

use dormouse_contracts::ModelName;

pub use self::{
    embedder_ref::{EmbedderRef, EmbedderRefError},
    open::{EmbedderOpener, OpenEmbedderError, RequestedEmbedderError},
};
use crate::{
    Available, OllamaConfig, OpenAiConfig, OpenAiEmbedderConfig, Secret, ServedBy,
    choice::{Endpoint, OPENAI, key_of, name, ollama_url},
};

/// Settings for the embedder. The program reads them; this crate reads no flags, files or environment for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbedderSettings {
    /// The requested embedder (`--embedder`).
    pub requested: Option<EmbedderRef>,
    /// The key of the requested server, if it differs from the chat model's.
    pub api_key: Option<Secret>,
    /// Ollama's address, if it differs from [`Available::ollama_host`] and `http://127.0.0.1:11434`.
    pub ollama_base_url: Option<String>,
}

/// The chosen embedder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmbedderChoice {
    /// There is no embedder; memories are found by their words only.
    None {
        /// Why there is none.
        reason: NoEmbedder,
    },
    /// [`OpenAiEmbedder`](crate::OpenAiEmbedder).
    OpenAi(OpenAiEmbedderConfig),
    /// [`OllamaEmbedder`](crate::OllamaEmbedder).
    Ollama(OllamaConfig),
    /// The encoder of `dormouse-encoder`, with the model in this folder.
    Folder(PathBuf),
}

/// The model and who serves it, or why there is none. Addresses are left out: they may hold keys.
impl fmt::Display for EmbedderChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None { reason } => write!(f, "none ({reason})"),
            Self::OpenAi(config) => {
                write!(f, "{} of {}", config.server.model, config.server.provider)
            }
            Self::Ollama(config) => write!(f, "{} of ollama", config.model),
            Self::Folder(folder) => write!(f, "the model in {}", folder.display()),
        }
    }
}

/// Why there is no embedder. Displays as a phrase for the start message of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoEmbedder {
    /// The user requested none.
    Requested,
    /// The chat model's provider has no embeddings.
    Provider,
}

impl fmt::Display for NoEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Requested => "asked for",
            Self::Provider => "the provider has no embeddings",
        })
    }
}

/// Why a requested embedder cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedderChoiceError {
    /// OpenAI needs a key.
    #[error(
        "the embedder openai needs a key: set OPENAI_API_KEY, or name another server as in openai:MODEL@URL"
    )]
    NoKey,
}

const OPENAI_MODEL: &str = "text-embedding-3-small";
const OLLAMA_MODEL: &str = "nomic-embed-text";

/// Chooses the embedder: the requested one, or the one of the chat model's provider.
///
/// | provider | embedder |
/// | --- | --- |
/// | `OpenAi` | the same server with the same key, `text-embedding-3-small` |
/// | `Anthropic`, `OpenRouter`, `Offline` | none |
/// | `Ollama` | the same server, `nomic-embed-text` |
/// | `Local` | the same server with the same key, `default` |
///
/// A requested server with an address gets [`EmbedderSettings::api_key`], or the key that belongs to exactly that
/// address; a key is never sent anywhere else.
///
/// # Errors
///
/// [`EmbedderChoiceError`] if OpenAI is requested without a key.
///
/// # Examples
///
/// ```
/// # use dormouse_providers::{Available, ServedBy, EmbedderChoice, EmbedderSettings, NoEmbedder, choose_embedder};
/// let (available, settings) = (Available::default(), EmbedderSettings::default());
/// let none = EmbedderChoice::None { reason: NoEmbedder::Provider };
/// assert_eq!(choose_embedder(ServedBy::Anthropic, &available, &settings), Ok(none));
/// ```
pub fn choose_embedder(
    chat: ServedBy,
    available: &Available,
    settings: &EmbedderSettings,
) -> Result<EmbedderChoice, EmbedderChoiceError> {
    match &settings.requested {
        Some(EmbedderRef::None) => Ok(EmbedderChoice::None {
            reason: NoEmbedder::Requested,
        }),
        Some(EmbedderRef::Folder(folder)) => Ok(EmbedderChoice::Folder(folder.clone())),
        Some(EmbedderRef::Ollama { model, base_url }) => Ok(ollama(
            available,
            settings,
            model.clone(),
            base_url.as_deref(),
        )),
        Some(EmbedderRef::OpenAi { model, base_url }) => match base_url {
            Some(url) => {
                let key = settings.api_key.as_ref().or_else(|| key_of(available, url));
                Ok(openai(ServedBy::Local, url, key, model.clone()))
            }
            None => requested_openai(available, settings, model),
        },
        None => Ok(by_provider(chat, available, settings)),
    }
}

/// Returns the server in `OPENAI_BASE_URL`, which may not need a key. Without that variable, returns OpenAI, which
/// needs one.
fn requested_openai(
    available: &Available,
    settings: &EmbedderSettings,
    model: &ModelName,
) -> Result<EmbedderChoice, EmbedderChoiceError> {
    let key = settings
        .api_key
        .as_ref()
        .or(available.openai_api_key.as_ref());
    let url = available.openai_base_url.as_deref();
    if key.is_none() && url.is_none() {
        return Err(EmbedderChoiceError::NoKey);
    }
    Ok(openai(
        ServedBy::OpenAi,
        url.unwrap_or(OPENAI),
        key,
        model.clone(),
    ))
}

fn by_provider(
    chat: ServedBy,
    available: &Available,
    settings: &EmbedderSettings,
) -> EmbedderChoice {
    let served = match (chat, Endpoint::of(chat, available)) {
        (ServedBy::Ollama, _) => Some(ollama(available, settings, name(OLLAMA_MODEL), None)),
        (ServedBy::OpenAi, Ok(Some(place))) if available.openai_base_url.is_none() => Some(openai(
            chat,
            &place.base_url,
            place.api_key.as_ref(),
            name(OPENAI_MODEL),
        )),
        (ServedBy::OpenAi | ServedBy::Local, Ok(Some(place))) => Some(openai(
            chat,
            &place.base_url,
            place.api_key.as_ref(),
            place.default_model,
        )),
        (_, Ok(_) | Err(_)) => None,
    };
    served.unwrap_or(EmbedderChoice::None {
        reason: NoEmbedder::Provider,
    })
}

fn openai(
    served_by: ServedBy,
    base_url: &str,
    key: Option<&Secret>,
    model: ModelName,
) -> EmbedderChoice {
    EmbedderChoice::OpenAi(OpenAiEmbedderConfig {
        server: OpenAiConfig {
            provider: served_by.id(),
            base_url: base_url.to_owned(),
            api_key: key.cloned(),
            model,
        },
        dimensions: None,
    })
}

fn ollama(
    available: &Available,
    settings: &EmbedderSettings,
    model: ModelName,
    base_url: Option<&str>,
) -> EmbedderChoice {
    let known = base_url.or(settings.ollama_base_url.as_deref());
    let host = available.ollama_host.as_deref().unwrap_or_default();
    EmbedderChoice::Ollama(OllamaConfig {
        base_url: known.map_or_else(|| ollama_url(host), str::to_owned),
        api_key: settings.api_key.clone(),
        model,
    })
}

#[cfg(test)]
mod tests;
