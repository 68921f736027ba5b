//! Which of OpenRouter's models, in whose name, and by which way.

use dormouse_contracts::{ModelName, ProviderId};

use super::Routing;
use crate::Secret;

/// How a model is asked at OpenRouter. Checked when the model is made from it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenRouterConfig {
    /// Who serves it, for errors and events.
    pub provider: ProviderId,
    /// The key. OpenRouter wants one; what stands before it may have its own.
    pub api_key: Option<Secret>,
    /// The model, such as `anthropic/claude-sonnet-4.5`.
    pub model: ModelName,
    /// Where OpenRouter is: [`OpenRouterConfig::BASE_URL`], unless something stands before it.
    pub base_url: String,
    /// What the application is called in OpenRouter's lists; sent as `X-Title`, and not at all where it is empty. Control
    /// characters become spaces, and 256 bytes are sent at most.
    pub app_name: String,
    /// The application's site; sent as `HTTP-Referer`, under the same rules.
    pub site_url: String,
    /// Which providers and which models may answer.
    pub routing: Routing,
}

impl OpenRouterConfig {
    /// Where OpenRouter is.
    pub const BASE_URL: &str = "https://openrouter.ai/api/v1";

    /// What the application is called, unless it is given a name.
    pub const APP_NAME: &str = "Dormouse";

    /// This model with this key, with everything else as OpenRouter has it.
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
