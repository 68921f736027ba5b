//! Chat models and text encoders of many providers behind one port each; guards, failover, token counts and prices.
//!
//! Layer 2. [`OpenAiModel`] supports any server with OpenAI's chat completions or Responses, [`AnthropicModel`] any with
//! Anthropic's Messages, [`OpenRouterModel`] OpenRouter, and [`OllamaModel`] Ollama's own API. [`choose`] selects one from
//! the configuration and the environment, which the program passes in. [`GuardedModel`] puts a model behind a guard, and
//! [`FailoverModel`] combines a list of models.
//!
//! [`OpenAiEmbedder`] and [`OllamaEmbedder`] turn texts into vectors; [`choose_embedder`] selects one.
//! [`token_counter_for`] counts tokens, exactly if the vocabulary is known; [`PriceTable`] computes costs.
//!
//! Models and encoders do not retry, and only guarded models have rate limits and deadlines. To add these to other
//! calls, wrap the calls with `dormouse-resilience`.
//!
//! Stability: the models' constructors and the order in [`choose`] are stable.

mod anthropic;
#[cfg(feature = "openai")]
mod batches;
mod choice;
mod embedder_choice;
#[cfg(feature = "openai")]
mod embedding_server;
mod environment;
mod failover;
mod guarded;
#[cfg(feature = "openai")]
mod http;
#[cfg(feature = "openai")]
mod listing;
mod message_cache;
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
mod tool_list_cache;
#[cfg(feature = "openai")]
mod vectors;

pub use anthropic::AnthropicConfig;
#[cfg(feature = "openai")]
pub use anthropic::AnthropicModel;
#[cfg(feature = "openai")]
pub use choice::open_model;
pub use choice::{
    Available, Choice, ChoiceError, ChoiceReason, ModelRef, ModelRefError, ServedBy, ServedByError,
    ServerConfig, choose, choose_model,
};
pub use embedder_choice::{
    EmbedderChoice, EmbedderChoiceError, EmbedderOpener, EmbedderRef, EmbedderRefError,
    EmbedderSettings, NoEmbedder, OpenEmbedderError, RequestedEmbedderError, choose_embedder,
};
pub use environment::{Environment, EnvironmentError};
pub use failover::{
    EmptyRoute, FailoverBuilder, FailoverModel, Heartbeats, ModelSwitch, Route, SwitchCause,
};
pub use guarded::{Accounts, GuardedModel, Spending};
#[cfg(feature = "openai")]
pub use http::{CertificateError, Network, NetworkTimeouts, ServerConfigError, check_base_url};
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
