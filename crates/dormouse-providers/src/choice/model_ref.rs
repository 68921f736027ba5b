//! References to models, as users write them.

use std::{fmt, str::FromStr};

use dormouse_contracts::{IdError, ModelName};

use super::{
    Available, Choice, ChoiceError, ChoiceReason, ServedBy, ServedByError, ServerConfig,
    at_endpoint, endpoint,
};

/// A reference to a model: `PROVIDER:MODEL`, `PROVIDER:MODEL@URL` or `offline`.
///
/// The providers are those of [`ServedBy`]. The model name is everything between the first colon and the address; it may
/// contain colons. Displays as written.
///
/// ```
/// # use dormouse_providers::{ModelRef, ServedBy};
/// let model_ref: ModelRef = "ollama:qwen3:8b@http://127.0.0.1:11434".parse()?;
/// let (by, model, base_url) = (ServedBy::Ollama, "qwen3:8b".parse()?, Some("http://127.0.0.1:11434".to_owned()));
/// assert_eq!(model_ref, ModelRef::Served { by, model, base_url });
/// assert_eq!(model_ref.to_string(), "ollama:qwen3:8b@http://127.0.0.1:11434");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelRef {
    /// The offline model of `dormouse-offline`.
    Offline,
    /// A model on a server.
    Served {
        /// The provider; never [`ServedBy::Offline`].
        by: ServedBy,
        /// The model, as the server names it.
        model: ModelName,
        /// The server, if it differs from the provider's known one.
        base_url: Option<String>,
    },
}

/// Why a text is not a model reference. The text is not repeated: it may contain a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelRefError {
    /// The provider is unknown.
    #[error(
        "no such model; write PROVIDER:MODEL or PROVIDER:MODEL@URL, where PROVIDER is openai, anthropic, openrouter, \
         ollama or local, or write offline"
    )]
    Unknown,
    /// The model name is missing.
    #[error("{0}: needs a model name, as in {0}:MODEL")]
    NoModel(ServedBy),
    /// `offline` cannot have a model name.
    #[error("offline takes no model name; write offline alone")]
    OfflineTakesNoModel,
    /// The model name is invalid.
    #[error("the model name is invalid")]
    Model(#[source] IdError),
    /// The address is invalid.
    #[error("expected the server's address after the @, as in {0}:MODEL@http://127.0.0.1:8080/v1")]
    Address(ServedBy),
}

impl FromStr for ModelRef {
    type Err = ModelRefError;

    fn from_str(text: &str) -> Result<Self, ModelRefError> {
        let text = text.trim();
        let (provider, model) = match text.split_once(':') {
            None => (text, None),
            Some((provider, model)) => (provider, Some(model)),
        };
        let by = ServedBy::from_str(provider).map_err(|ServedByError| ModelRefError::Unknown)?;
        match (by, model) {
            (ServedBy::Offline, None) => Ok(Self::Offline),
            (ServedBy::Offline, Some(_)) => Err(ModelRefError::OfflineTakesNoModel),
            (by, None) => Err(ModelRefError::NoModel(by)),
            (by, Some(served)) => {
                let named = named(served).map_err(|error| match error {
                    NamedError::NoModel => ModelRefError::NoModel(by),
                    NamedError::Model(error) => ModelRefError::Model(error),
                    NamedError::Address => ModelRefError::Address(by),
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

impl fmt::Display for ModelRef {
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

/// Chooses the referenced model, with the provider's address and key from `available`.
///
/// A reference with an address gets the key that belongs to exactly that address, if there is one; a key is never sent
/// anywhere else. [`ServerConfig::with_key`] sets another. The requested provider and model in `available` are ignored.
///
/// # Errors
///
/// [`ChoiceError`] if the reference has no address, and the provider's key or address is missing.
pub fn choose_model(model_ref: &ModelRef, available: &Available) -> Result<Choice, ChoiceError> {
    let reason = ChoiceReason::Requested;
    let (by, model, base_url) = match model_ref {
        ModelRef::Offline => return Ok(Choice::Offline { reason }),
        ModelRef::Served {
            by,
            model,
            base_url,
        } => (*by, model.clone(), base_url),
    };
    match base_url {
        Some(url) => {
            let key = endpoint::key_of(available, url).cloned();
            let config = ServerConfig::at(by, url, key, model);
            Ok(Choice::Server { config, reason })
        }
        None => {
            let requested = Available {
                model: Some(model),
                ..available.clone()
            };
            at_endpoint(by, &requested, reason)
        }
    }
}

/// Why a text is not `MODEL` or `MODEL@URL`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NamedError {
    /// The name is missing, or an address is in its place.
    NoModel,
    /// The name is invalid.
    Model(IdError),
    /// The address is invalid.
    Address,
}

/// Parses a model name and an optional address. The name may start with an @, but must not contain another.
pub(crate) fn named(text: &str) -> Result<(ModelName, Option<String>), NamedError> {
    let at = text.char_indices().skip(1).find(|(_, c)| *c == '@');
    let (model, base_url) = match at.and_then(|(at, _)| text.split_at_checked(at)) {
        None => (text, None),
        Some((model, url)) => (model, url.strip_prefix('@')),
    };
    // The text is an address without a model name.
    let is_only_address = model.starts_with("@http:") || model.starts_with("@https:");
    if model.is_empty() || is_only_address || (model == "@" && base_url.is_none()) {
        return Err(NamedError::NoModel);
    }
    let is_address = |url: &str| url.starts_with("http://") || url.starts_with("https://");
    if !base_url.is_none_or(is_address) {
        return Err(NamedError::Address);
    }
    let model = ModelName::try_new(model).map_err(NamedError::Model)?;
    Ok((model, base_url.map(str::to_owned)))
}

#[cfg(test)]
mod tests;
