//! OpenRouter: models of many providers behind one API and one key.

#[cfg(feature = "openai")]
mod model;
#[cfg(feature = "openai")]
mod request;

use dormouse_contracts::{ModelName, ProviderId, Usd};

#[cfg(feature = "openai")]
pub use self::model::OpenRouterModel;
use crate::Secret;

/// Configuration of a model at OpenRouter. It is validated when the model is created.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenRouterConfig {
    /// The provider's id, for errors and events.
    pub provider: ProviderId,
    /// The key. OpenRouter needs one; a proxy in front of it may have its own.
    pub api_key: Option<Secret>,
    /// The model, such as `anthropic/claude-sonnet-4.5`.
    pub model: ModelName,
    /// OpenRouter's address, [`OpenRouterConfig::BASE_URL`], unless a proxy is in front of it.
    pub base_url: String,
    /// The application's name in OpenRouter's statistics, sent as `X-Title`; not sent if empty. Control characters
    /// become spaces, and at most 256 bytes are sent.
    pub app_name: String,
    /// The application's site; sent as `HTTP-Referer`, under the same rules.
    pub site_url: String,
    /// The allowed providers and models.
    pub routing: Routing,
}

impl OpenRouterConfig {
    /// OpenRouter's address.
    pub const BASE_URL: &str = "https://openrouter.ai/api/v1";

    /// The default name of the application.
    pub const APP_NAME: &str = "Dormouse";

    /// Creates a configuration with OpenRouter's defaults.
    #[must_use]
    pub fn new(provider: ProviderId, api_key: Secret, model: ModelName) -> Self {
        Self {
            provider,
            api_key: Some(api_key),
            model,
            base_url: Self::BASE_URL.to_owned(),
            app_name: Self::APP_NAME.to_owned(),
            site_url: String::new(),
            routing: Routing::default(),
        }
    }
}

/// Whether providers that are not in [`Routing::order`] may answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallbacks {
    /// Yes, if the listed ones cannot.
    #[default]
    Allowed,
    /// No; the request fails instead.
    Refused,
}

/// Whether providers that store prompts, and may train on them, may answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataCollection {
    /// As set in the account.
    #[default]
    AsAccount,
    /// Yes.
    Allowed,
    /// No.
    Denied,
}

/// How long a provider may keep a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataRetention {
    /// As set in the account.
    #[default]
    AsAccount,
    /// Without any answer.
    None,
}

/// Maximum price per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaxPrice {
    /// Of prompt tokens; `None` is unlimited.
    pub prompt: Option<Usd>,
    /// Of reply tokens; `None` is unlimited.
    pub completion: Option<Usd>,
}

/// Which providers and models may answer. The default leaves the choice to OpenRouter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routing {
    /// Models to try in order if the first one cannot answer. The reply names the one that did.
    pub models: Vec<ModelName>,
    /// Providers to try first, in this order, by OpenRouter's short names such as `anthropic` or `deepinfra/turbo`.
    pub order: Vec<String>,
    /// Whether other providers may answer if these cannot.
    pub fallbacks: Fallbacks,
    /// Whether providers that collect data may answer.
    pub data_collection: DataCollection,
    /// How long a provider may keep a prompt.
    pub retention: DataRetention,
    /// Maximum price per million tokens.
    pub max_price: MaxPrice,
}
