//! References to text encoders, as users write them.

use std::{path::PathBuf, str::FromStr};

use dormouse_contracts::{IdError, ModelName};

use crate::choice::{NamedError, named};

/// A reference to an embedder (`--embedder`): `none`, `folder:PATH`, `openai:MODEL[@URL]` or `ollama:MODEL[@URL]`.
///
/// ```
/// # use dormouse_providers::EmbedderRef;
/// let embedder_ref: EmbedderRef = "ollama:nomic-embed-text:v1.5@http://127.0.0.1:11434".parse()?;
/// let (model, base_url) = ("nomic-embed-text:v1.5".parse()?, Some("http://127.0.0.1:11434".to_owned()));
/// assert_eq!(embedder_ref, EmbedderRef::Ollama { model, base_url });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmbedderRef {
    /// No embedder: memory search compares only words.
    None,
    /// The model in this folder.
    Folder(PathBuf),
    /// An OpenAI-compatible server.
    OpenAi {
        /// The model, as the server names it.
        model: ModelName,
        /// The server; `None` for the one from the environment, or else the default.
        base_url: Option<String>,
    },
    /// Ollama.
    Ollama {
        /// The model, as the server names it.
        model: ModelName,
        /// The server; `None` for the one from the environment, or else the default.
        base_url: Option<String>,
    },
}

/// Why a text is not an embedder reference. The text is not repeated: it may contain a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedderRefError {
    /// The form is unknown.
    #[error(
        "unknown embedder; expected `none`, `folder:PATH`, `openai:MODEL[@URL]` or `ollama:MODEL[@URL]`"
    )]
    Unknown,
    /// The path of the folder is missing.
    #[error(
        "the path after `folder:` is missing; name a model's folder, as in `folder:/models/minilm`"
    )]
    NoPath,
    /// This program was built without support for `folder:`.
    #[error(
        "this program was built without the feature `encoder`, which `folder:` needs; build it again with --features encoder, or use `openai:` or `ollama:`"
    )]
    NotBuiltIn,
    /// The model name is missing.
    #[error(
        "the model name after `openai:` or `ollama:` is missing; expected a name, as in `openai:text-embedding-3-small`"
    )]
    NoModel,
    /// The model name is invalid.
    #[error("the model name is invalid")]
    Model(#[source] IdError),
    /// The address is invalid.
    #[error(
        "the server's address after the @ is invalid; expected a URL, as in `openai:MODEL@http://127.0.0.1:8080/v1`"
    )]
    Address,
}

impl FromStr for EmbedderRef {
    type Err = EmbedderRefError;

    fn from_str(text: &str) -> Result<Self, EmbedderRefError> {
        let text = text.trim();
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            Some(("folder", "")) => Err(EmbedderRefError::NoPath),
            Some(("folder", path)) => Ok(Self::Folder(path.into())),
            Some(("openai", rest)) => {
                let (model, base_url) = named(rest)?;
                Ok(Self::OpenAi { model, base_url })
            }
            Some(("ollama", rest)) => {
                let (model, base_url) = named(rest)?;
                Ok(Self::Ollama { model, base_url })
            }
            None if matches!(text, "openai" | "ollama") => Err(EmbedderRefError::NoModel),
            None if text == "folder" => Err(EmbedderRefError::NoPath),
            _ => Err(EmbedderRefError::Unknown),
        }
    }
}

impl From<NamedError> for EmbedderRefError {
    fn from(error: NamedError) -> Self {
        match error {
            NamedError::NoModel => Self::NoModel,
            NamedError::Model(error) => Self::Model(error),
            NamedError::Address => Self::Address,
        }
    }
}
