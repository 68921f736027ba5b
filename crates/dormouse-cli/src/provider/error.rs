//! Why no provider can be used.

use std::path::PathBuf;

use dormouse_contracts::{BoxError, Purpose};
use dormouse_providers::{ChoiceError, ResolveSecretError, SecretError, ServedBy};

/// Why no provider can be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProviderError {
    /// A variable holds bytes that are no text.
    #[error("the environment variable {name} is not UTF-8 text")]
    NotText {
        /// Which.
        name: &'static str,
    },
    /// A variable holds no key.
    #[error("the environment variable {name} holds no usable key")]
    Secret {
        /// Which.
        name: &'static str,
        /// Why not.
        source: SecretError,
    },
    /// A key is in a variable, and the name of a file with one in another.
    #[error("both {name} and {name}_FILE are set; set one of them")]
    TwoKeys {
        /// The first of them.
        name: &'static str,
    },
    /// The file that a variable names holds no key.
    #[error("the environment variable {name}_FILE names no file with a usable key")]
    KeyFile {
        /// Which, without its end.
        name: &'static str,
        /// Why not.
        source: ResolveSecretError,
    },
    /// The configuration says where the key is, and there is none.
    #[error("the key that key_from under [provider] tells cannot be used")]
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
