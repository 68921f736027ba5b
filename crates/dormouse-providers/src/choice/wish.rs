//! A model, as a user asks for it.

use std::{fmt, str::FromStr};

use dormouse_contracts::{IdError, ModelName};

use super::{
    Available, Choice, ChoiceError, Found, NamedError, ServedBy, ServedByError, ServerConfig,
    at_its_place, named, places,
};

/// A model as it is written in a list of models: `PROVIDER:MODEL`, `PROVIDER:MODEL@URL` or `offline`.
///
/// Providers are those of [`ServedBy`]. Everything behind the first colon up to an address is the model, which may have
/// colons of its own. Displays as it is written.
///
/// ```
/// # use dormouse_providers::{ModelWish, ServedBy};
/// let wish: ModelWish = "ollama:qwen3:8b@http://127.0.0.1:11434".parse()?;
/// let (by, model, base_url) = (ServedBy::Ollama, "qwen3:8b".parse()?, Some("http://127.0.0.1:11434".to_owned()));
/// assert_eq!(wish, ModelWish::Served { by, model, base_url });
/// assert_eq!(wish.to_string(), "ollama:qwen3:8b@http://127.0.0.1:11434");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelWish {
    /// The offline model of `dormouse-offline`.
    Offline,
    /// A model on a server.
    Served {
        /// Who serves it; never [`ServedBy::Offline`].
        by: ServedBy,
        /// The model, as the server names it.
        model: ModelName,
        /// The server, if it is not the one that is known of this provider.
        base_url: Option<String>,
    },
}

/// Why a text asks for no model. The text is not repeated: a key may have gone into it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelWishError {
    /// It begins with no provider.
    #[error(
        "no such model; write PROVIDER:MODEL or PROVIDER:MODEL@URL, where PROVIDER is openai, anthropic, openrouter, \
         ollama or local, or write offline"
    )]
    Unknown,
    /// A provider without a model.
    #[error("{0}: needs the name of a model behind it, as in {0}:MODEL")]
    NoModel(ServedBy),
    /// The offline model is one.
    #[error("offline is a model itself and takes no other behind it")]
    OfflineIsOne,
    /// A model's name that is none.
    #[error("the text in the place of the model is not a model name")]
    Model(#[source] IdError),
    /// An address that is none.
    #[error(
        "behind the @ stands the address of the server, as in {0}:MODEL@http://127.0.0.1:8080/v1"
    )]
    Address(ServedBy),
}

impl FromStr for ModelWish {
    type Err = ModelWishError;

    fn from_str(text: &str) -> Result<Self, ModelWishError> {
        let text = text.trim();
        let (provider, model) = match text.split_once(':') {
            None => (text, None),
            Some((provider, model)) => (provider, Some(model)),
        };
        let by = ServedBy::from_str(provider).map_err(|ServedByError| ModelWishError::Unknown)?;
        match (by, model) {
            (ServedBy::Offline, None) => Ok(Self::Offline),
            (ServedBy::Offline, Some(_)) => Err(ModelWishError::OfflineIsOne),
            (by, None) => Err(ModelWishError::NoModel(by)),
            (by, Some(served)) => {
                let named = named(served).map_err(|error| match error {
                    NamedError::NoModel => ModelWishError::NoModel(by),
                    NamedError::Model(error) => ModelWishError::Model(error),
                    NamedError::Address => ModelWishError::Address(by),
                });
                let (model, base_url) = named?;
                Ok(Self::Served {
                    by,
                    model,
                    base_url,
                })
            }
        }
    }
}

impl fmt::Display for ModelWish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offline => f.write_str("offline"),
            Self::Served {
                by,
                model,
                base_url,
            } => {
                write!(f, "{by}:{model}")?;
                base_url.iter().try_for_each(|url| write!(f, "@{url}"))
            }
        }
    }
}

/// Chooses the model that was asked for, with what was found: the provider's address and its key.
///
/// A server that was asked for with an address gets the key that belongs to that very address, if one does; a key is never
/// sent anywhere else. [`ServerConfig::with_key`] gives it another. What `available` says was asked for is not looked at.
///
/// # Errors
///
/// [`ChoiceError`] if no address was given, and the provider's key or its address is not there.
pub fn choose_model(wish: &ModelWish, available: &Available) -> Result<Choice, ChoiceError> {
    let because = Found::Asked;
    let (by, model, base_url) = match wish {
        ModelWish::Offline => return Ok(Choice::Offline { because }),
        ModelWish::Served {
            by,
            model,
            base_url,
        } => (*by, model.clone(), base_url),
    };
    match base_url {
        Some(url) => {
            let key = places::key_of(available, url).cloned();
            let config = ServerConfig::at(by, url, key, model);
            Ok(Choice::Server { config, because })
        }
        None => {
            let asked = Available {
                model: Some(model),
                ..available.clone()
            };
            at_its_place(by, &asked, because)
        }
    }
}

#[cfg(test)]
mod tests;
