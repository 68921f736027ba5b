//! Which text encoder to use, from what was found at start.

mod open;
mod wish;

use std::{fmt, path::PathBuf};

use dormouse_contracts::ModelName;

pub use self::{
    open::{OpenEmbedderError, open_embedder},
    wish::{EmbedderWish, EmbedderWishError},
};
use crate::{
    Available, OllamaConfig, OpenAiConfig, OpenAiEmbedderConfig, Secret, ServedBy,
    choice::{OPENAI, Place, key_of, name, ollama_url},
};

/// What the composition root found that concerns the embedder alone. Nothing is read here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbedderWanted {
    /// The one that was asked for by name (`--embedder`).
    pub asked: Option<EmbedderWish>,
    /// The key for the server that was asked for, where it is another one than the chat model's.
    pub api_key: Option<Secret>,
    /// A model's folder that is there, for providers without embeddings. Only for a program that can open it.
    pub folder: Option<PathBuf>,
    /// Where Ollama is, if not where [`Available::ollama_host`] says or at `http://127.0.0.1:11434`.
    pub ollama_base_url: Option<String>,
}

/// Which embedder to use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmbedderChoice {
    /// None: what is remembered is found by its words.
    None {
        /// What decided it.
        because: NoEmbedder,
    },
    /// [`OpenAiEmbedder`](crate::OpenAiEmbedder).
    OpenAi(OpenAiEmbedderConfig),
    /// [`OllamaEmbedder`](crate::OllamaEmbedder).
    Ollama(OllamaConfig),
    /// The encoder of `dormouse-encoder`, with the model in this folder.
    Folder(PathBuf),
}

/// Why there is no embedder. Displays as a phrase for the line a program prints at start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoEmbedder {
    /// None was asked for.
    Asked,
    /// Who serves the chat model embeds nothing, and there is no model's folder.
    Provider,
}

impl fmt::Display for NoEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Asked => "asked for",
            Self::Provider => "the provider has no embeddings, and no model's folder was named",
        })
    }
}

/// An embedder was asked for that cannot be used with what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedderChoiceError {
    /// OpenAI wants a key.
    #[error(
        "the embedder openai needs a key: set OPENAI_API_KEY, or name another server as in openai:MODEL@URL"
    )]
    NoKey,
}

const OPENAI_MODEL: &str = "text-embedding-3-small";
const OLLAMA_MODEL: &str = "nomic-embed-text";

/// Chooses the embedder: the one that was asked for, or else the one that goes with the chat model's provider.
///
/// | provider | embedder |
/// | --- | --- |
/// | `OpenAi` | the same server with the same key, `text-embedding-3-small` |
/// | `Anthropic`, `OpenRouter`, `Offline` | the model in [`EmbedderWanted::folder`]; none without it |
/// | `Ollama` | the same server, `nomic-embed-text` |
/// | `Local` | the same server with the same key, `default` |
///
/// A server that was asked for with an address gets [`EmbedderWanted::api_key`], or the key that belongs to that very
/// address; a key is never sent anywhere else.
///
/// # Errors
///
/// [`EmbedderChoiceError`] if OpenAI was asked for by name and there is no key. Nothing else fails.
///
/// # Examples
///
/// ```
/// # use dormouse_providers::{Available, ServedBy, EmbedderChoice, EmbedderWanted, NoEmbedder, choose_embedder};
/// let (available, wanted) = (Available::default(), EmbedderWanted::default());
/// let none = EmbedderChoice::None { because: NoEmbedder::Provider };
/// assert_eq!(choose_embedder(ServedBy::Anthropic, &available, &wanted), Ok(none));
/// ```
pub fn choose_embedder(
    chat: ServedBy,
    available: &Available,
    wanted: &EmbedderWanted,
) -> Result<EmbedderChoice, EmbedderChoiceError> {
    match &wanted.asked {
        Some(EmbedderWish::None) => Ok(EmbedderChoice::None {
            because: NoEmbedder::Asked,
        }),
        Some(EmbedderWish::Folder(folder)) => Ok(EmbedderChoice::Folder(folder.clone())),
        Some(EmbedderWish::Ollama { model, base_url }) => Ok(ollama(
            available,
            wanted,
            model.clone(),
            base_url.as_deref(),
        )),
        Some(EmbedderWish::OpenAi { model, base_url }) => match base_url {
            Some(url) => {
                let key = wanted.api_key.as_ref().or_else(|| key_of(available, url));
                Ok(openai(ServedBy::Local, url, key, model.clone()))
            }
            None => asked_of_openai(available, wanted, model),
        },
        None => Ok(by_provider(chat, available, wanted)),
    }
}

/// At the server that `OPENAI_BASE_URL` names, which may want no key, or at OpenAI, who does.
fn asked_of_openai(
    available: &Available,
    wanted: &EmbedderWanted,
    model: &ModelName,
) -> Result<EmbedderChoice, EmbedderChoiceError> {
    let key = wanted
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

fn by_provider(chat: ServedBy, available: &Available, wanted: &EmbedderWanted) -> EmbedderChoice {
    let served = match (chat, Place::of(chat, available)) {
        (ServedBy::Ollama, _) => Some(ollama(available, wanted, name(OLLAMA_MODEL), None)),
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
    let folder = wanted.folder.clone().map(EmbedderChoice::Folder);
    served.or(folder).unwrap_or(EmbedderChoice::None {
        because: NoEmbedder::Provider,
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
    wanted: &EmbedderWanted,
    model: ModelName,
    base_url: Option<&str>,
) -> EmbedderChoice {
    let known = base_url.or(wanted.ollama_base_url.as_deref());
    let host = available.ollama_host.as_deref().unwrap_or_default();
    EmbedderChoice::Ollama(OllamaConfig {
        base_url: known.map_or_else(|| ollama_url(host), str::to_owned),
        api_key: wanted.api_key.clone(),
        model,
    })
}

#[cfg(test)]
mod tests;
