//! Why no provider can be used.

use std::path::PathBuf;

use dormouse_contracts::{BoxError, ModelName, Purpose};
use dormouse_providers::{ChoiceError, EnvironmentError, ModelRef, ResolveSecretError, ServedBy};

/// Why no provider can be used.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// A variable of the environment cannot be used.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The configuration names a place for the key, but there is no usable key in that place.
    #[error("{place}: the key cannot be read")]
    KeyFrom {
        /// The place of that setting in the configuration.
        place: String,
        /// Why not.
        source: ResolveSecretError,
    },
    /// The configuration says where a key is, but not which provider it belongs to.
    #[error(
        "{place}: also set kind or base_url in [provider], because they say which server the key is for"
    )]
    KeyOfNobody {
        /// The place of that setting in the configuration.
        place: String,
    },
    /// A server was named for a provider that has its own server or needs none.
    #[error("the provider {0} takes no --base-url; only openai, anthropic, ollama and local do")]
    BaseUrl(ServedBy),
    /// The provider `local` was requested without a server.
    #[error(
        "the provider local needs a server: give --base-url URL, or base_url under [provider] in the configuration, or \
         set DORMOUSE_BASE_URL"
    )]
    NoServer,
    /// The requested provider cannot be used.
    #[error(transparent)]
    Choice(ChoiceError),
    /// A model was requested that the offline provider does not have.
    #[error(
        "the provider offline does not have the model {0}{hint}. It is used because no key and no server was found: set a \
         provider's key, give --provider, or write PROVIDER:{0} in a command that takes a MODEL",
        hint = not_a_provider(.0)
    )]
    NoSuchModel(ModelName),
    /// A model that a list of the configuration names cannot be used.
    #[error("{} cannot be used", listed(.requested, *.purpose))]
    Listed {
        /// Which model.
        requested: ModelRef,
        /// Which list: the list for one purpose, or the one for all others.
        purpose: Option<Purpose>,
        /// Why not.
        source: Box<ProviderError>,
    },
    /// A list of models for one purpose is empty.
    #[error("the list of models for {0} is empty")]
    EmptyList(Purpose),
    /// The prices in the configuration are invalid.
    #[error("the configured prices cannot be used")]
    Prices(#[source] BoxError),
    /// A limit in the configuration is invalid.
    #[error("the configured limit cannot be used")]
    Limit(#[source] BoxError),
    /// The certificates cannot be used.
    #[error("{place} is {file:?}; expected a readable file of certificates in PEM format")]
    Certificates {
        /// The place of that setting in the configuration.
        place: String,
        /// The file.
        file: PathBuf,
        /// Why not.
        source: BoxError,
    },
    /// The server's address or another setting of the server is invalid.
    #[error("the provider cannot be used")]
    Server(#[source] BoxError),
}

/// A name such as `foo:bar` may be meant as a provider and its model.
fn not_a_provider(model: &ModelName) -> String {
    let Some((prefix, _)) = model.as_str().split_once(':') else {
        return String::new();
    };
    let names = ServedBy::ALL.map(ServedBy::as_str).join(", ");
    format!(", and {prefix} is not a provider (these are: {names})")
}

/// The model and its place in the configuration. Its address may contain credentials that must not be printed.
fn listed(requested: &ModelRef, purpose: Option<Purpose>) -> String {
    let model = if let ModelRef::Served { by, model, .. } = requested {
        format!("{by}:{model}")
    } else {
        requested.to_string()
    };
    match purpose {
        None => format!("{model} in fallbacks under [provider]"),
        Some(purpose) => format!("{model} in uses.{purpose} under [provider]"),
    }
}
