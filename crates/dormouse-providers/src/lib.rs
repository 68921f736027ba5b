//! Chat models and text encoders behind one port each, whoever serves them; guards, lists that fall over, tokens and prices.
//!
//! Layer 2. [`OpenAiModel`] speaks to any server with OpenAI's chat completions or Responses, [`AnthropicModel`] to any with
//! Anthropic's messages, [`OpenRouterModel`] to OpenRouter, [`OllamaModel`] to Ollama in its own words. [`choose`] picks between them from what was found in the
//! configuration and the environment, neither of which is read here. [`GuardedModel`] puts any of them behind a guard, and
//! [`FailoverModel`] makes a list of them into one model.
//!
//! [`OpenAiEmbedder`] and [`OllamaEmbedder`] turn texts into vectors;
//! [`choose_embedder`] picks among them likewise. [`token_counter_for`] counts tokens, exactly where the vocabulary is known;
//! [`PriceTable`] says what they cost.
//!
//! No model and no encoder here retries, and none but a guarded one limits its rate or sets itself a deadline: wrap the call with
//! `dormouse-resilience`. None knows the engine.
//!
//! Stability: the models' constructors and the order in [`choose`] are kept.

mod anthropic;
#[cfg(feature = "openai")]
mod batches;
mod choice;
mod embedder_choice;
mod environment;
mod failover;
mod guarded;
#[cfg(feature = "openai")]
mod http;
#[cfg(feature = "openai")]
mod listing;
mod model_pattern;
mod ollama;
mod openai;
mod openrouter;
mod prices;
mod secret;
#[cfg(feature = "openai")]
mod server;
#[cfg(feature = "openai")]
mod stream;
mod tokens;
#[cfg(feature = "openai")]
mod vectors;

pub use anthropic::AnthropicConfig;
#[cfg(feature = "openai")]
pub use anthropic::AnthropicModel;
#[cfg(feature = "openai")]
pub use choice::open_model;
pub use choice::{
    Available, Choice, ChoiceError, Found, ModelWish, ModelWishError, ServedBy, ServedByError,
    ServerConfig, choose, choose_model,
};
pub use embedder_choice::{
    EmbedderChoice, EmbedderChoiceError, EmbedderWanted, EmbedderWish, EmbedderWishError,
    NoEmbedder, OpenEmbedderError, choose_embedder, open_embedder,
};
pub use environment::{Environment, EnvironmentError};
pub use failover::{
    EmptyRoute, FailoverBuilder, FailoverModel, Heartbeats, ModelSwitch, Route, SwitchCause,
};
pub use guarded::{Accounts, GuardedModel, Spending};
#[cfg(feature = "openai")]
pub use http::{CertificateError, Network, Patience, ServerConfigError, check_base_url};
#[cfg(feature = "openai")]
pub use listing::{ListModelsError, ListedModel, ListedPrice, list_models};
pub use model_pattern::ModelPatternError;
pub use ollama::{KeepAlive, OllamaConfig, OllamaModelConfig};
#[cfg(feature = "openai")]
pub use ollama::{OllamaEmbedder, OllamaModel};
pub use openai::{OpenAiApi, OpenAiConfig, OpenAiEmbedderConfig};
#[cfg(feature = "openai")]
pub use openai::{OpenAiEmbedder, OpenAiModel};
#[cfg(feature = "openai")]
pub use openrouter::OpenRouterModel;
pub use openrouter::{
    DataCollection, DataRetention, Fallbacks, MaxPrice, OpenRouterConfig, Routing,
};
pub use prices::{
    Cost, CostSource, Ledger, LedgerKey, Price, PriceDate, PriceDateError, PriceEntry, PriceError,
    PriceField, PriceProblem, PriceTable, Tally,
};
pub use secret::{ResolveSecretError, Secret, SecretError, SecretSource, SecretSourceError};
#[cfg(feature = "tiktoken")]
pub use tokens::Tiktoken;
pub use tokens::{
    CachedCounter, CalibratedCounter, Calibration, Estimate, EstimateError, Family, FamilyEstimate,
    Observed, RequestCount, context_window, count_request, output_limit, token_counter_for, warm,
};

#[cfg(all(doctest, feature = "openai"))]
#[doc = include_str!("../README.md")]
struct Readme;
