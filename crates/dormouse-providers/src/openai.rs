//! Any server that speaks OpenAI's chat completions.

mod config;

pub use config::OpenAiConfig;
