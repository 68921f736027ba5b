//! Why no provider can be used.

use std::path::PathBuf;

use dormouse_contracts::{BoxError, ModelName, Purpose};
use dormouse_providers::{ChoiceError, EnvironmentError, ModelWish, ResolveSecretError, ServedBy};

/// Why no provider can be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProviderError {
    /// A variable of the environment cannot be used.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The configuration says where the key is, and there is none.
    #[error("the key that key_from under [provider] names cannot be used")]
    KeyFrom(#[source] ResolveSecretError),
    /// The configuration says where a key is, and not whose.
    #[error(
        "key_from under [provider] needs kind or base_url beside it, which say whose key it is"
    )]
    KeyOfNobody,
    /// A server was named for a provider that has its own, or none.
    #[error(
        "the provider {0} takes no --base-url; it belongs to openai, anthropic, ollama and local"
    )]
    BaseUrl(ServedBy),
    /// The provider local was asked for, and nothing says where it is.
    #[error(
        "the provider local needs a server: give --base-url URL, or base_url under [provider] in the configuration, or \
         set DORMOUSE_BASE_URL"
    )]
    NoServer,
    /// What was asked for is not there.
    #[error(transparent)]
    Choice(ChoiceError),
    /// A model was asked for, and only the offline model is there.
    #[error(
        "the provider offline does not have the model {0}: it is a model itself, and used where no key and no server is \
         found. Set a provider's key, give --provider with its name, or write PROVIDER:{0} in a command that takes a MODEL"
    )]
    NoSuchModel(ModelName),
    /// A model that a list of the configuration names cannot be used.
    #[error("{} cannot be used", listed(.wish, *.purpose))]
    Listed {
        /// Which model.
        wish: ModelWish,
        /// Which list: that for one use, or the one for all others.
        purpose: Option<Purpose>,
        /// Why not.
        source: Box<ProviderError>,
    },
    /// A list of models for one use names none.
    #[error("the list of models for {0} is empty")]
    EmptyList(Purpose),
    /// The prices in the configuration are none.
    #[error("the configured prices cannot be used")]
    Prices(#[source] BoxError),
    /// A limit in the configuration is none.
    #[error("the configured limit cannot be used")]
    Limit(#[source] BoxError),
    /// The certificates cannot be used.
    #[error("the certificates in {} cannot be used", file.display())]
    Certificates {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: BoxError,
    },
    /// The server's address or something else of it is wrong.
    #[error("the provider cannot be used")]
    Server(#[source] BoxError),
}

/// The model and where it stands in the configuration. Its address may hold what must not be printed.
fn listed(wish: &ModelWish, purpose: Option<Purpose>) -> String {
    let model = if let ModelWish::Served { by, model, .. } = wish {
        format!("{by}:{model}")
    } else {
        wish.to_string()
    };
    match purpose {
        None => format!("{model} in fallbacks under [provider]"),
        Some(purpose) => format!("{model} in uses.{purpose} under [provider]"),
    }
}
