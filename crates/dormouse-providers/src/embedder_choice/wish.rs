//! An embedder, as a user asks for it.

use std::{path::PathBuf, str::FromStr};

use dormouse_contracts::{IdError, ModelName};

use crate::choice::{NamedError, named};

/// An embedder as it is asked for by name (`--embedder`): `none`, `folder:PATH`, `openai:MODEL[@URL]` or
/// `ollama:MODEL[@URL]`.
///
/// ```
/// # use dormouse_providers::EmbedderWish;
/// let wish: EmbedderWish = "ollama:nomic-embed-text:v1.5@http://127.0.0.1:11434".parse()?;
/// let (model, base_url) = ("nomic-embed-text:v1.5".parse()?, Some("http://127.0.0.1:11434".to_owned()));
/// assert_eq!(wish, EmbedderWish::Ollama { model, base_url });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmbedderWish {
    /// None: nothing is recalled by meaning.
    None,
    /// The model in this folder.
    Folder(PathBuf),
    /// An OpenAI-compatible server.
    OpenAi {
        /// The model, as the server names it.
        model: ModelName,
        /// The server, if it is not the one that is known otherwise.
        base_url: Option<String>,
    },
    /// Ollama.
    Ollama {
        /// The model, as the server names it.
        model: ModelName,
        /// The server, if it is not the one that is known otherwise.
        base_url: Option<String>,
    },
}

/// Why a text asks for no embedder. The text is not repeated: a key may have gone into it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedderWishError {
    /// It begins like none of them.
    #[error(
        "no such embedder; there are none, folder:PATH, openai:MODEL, openai:MODEL@URL, ollama:MODEL and ollama:MODEL@URL"
    )]
    Unknown,
    /// A folder without a path.
    #[error("folder: needs the path of a model's folder behind it, as in folder:/models/minilm")]
    NoPath,
    /// A server without a model.
    #[error(
        "openai: and ollama: need the name of a model behind them, as in openai:text-embedding-3-small"
    )]
    NoModel,
    /// A model's name that is none.
    #[error("the text in the place of the model is not a model name")]
    Model(#[source] IdError),
    /// An address that is none.
    #[error(
        "behind the @ stands the address of the server, as in openai:MODEL@http://127.0.0.1:8080/v1"
    )]
    Address,
}

impl FromStr for EmbedderWish {
    type Err = EmbedderWishError;

    fn from_str(text: &str) -> Result<Self, EmbedderWishError> {
        let text = text.trim();
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            Some(("folder", "")) => Err(EmbedderWishError::NoPath),
            Some(("folder", path)) => Ok(Self::Folder(path.into())),
            Some(("openai", rest)) => {
                let (model, base_url) = named(rest)?;
                Ok(Self::OpenAi { model, base_url })
            }
            Some(("ollama", rest)) => {
                let (model, base_url) = named(rest)?;
                Ok(Self::Ollama { model, base_url })
            }
            None if matches!(text, "openai" | "ollama") => Err(EmbedderWishError::NoModel),
            None if text == "folder" => Err(EmbedderWishError::NoPath),
            _ => Err(EmbedderWishError::Unknown),
        }
    }
}

impl From<NamedError> for EmbedderWishError {
    fn from(error: NamedError) -> Self {
        match error {
            NamedError::NoModel => Self::NoModel,
            NamedError::Model(error) => Self::Model(error),
            NamedError::Address => Self::Address,
        }
    }
}
