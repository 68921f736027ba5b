//! OpenRouter: many providers' models behind one API and one key.

mod config;
mod routing;

pub use config::OpenRouterConfig;
pub use routing::{DataCollection, DataRetention, Fallbacks, MaxPrice, Routing};

#[cfg(feature = "openai")]
mod api;
#[cfg(feature = "openai")]
mod cache;
#[cfg(feature = "openai")]
mod headers;
#[cfg(feature = "openai")]
mod model;

#[cfg(feature = "openai")]
pub use model::OpenRouterModel;
