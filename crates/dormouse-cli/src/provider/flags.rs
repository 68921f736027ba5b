//! The flags that say which model to use.

use std::str::FromStr;

use clap::Args;
use dormouse_contracts::ModelName;
use dormouse_engine::ToolCalling;
use dormouse_providers::{ServedBy, ServedByError};

/// Which model to use.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProviderFlags {
    /// The provider: openai, anthropic, openrouter, ollama, local or offline [default: the first with a key or a server]
    #[arg(long, value_name = "NAME", value_parser = provider)]
    pub(crate) provider: Option<ServedBy>,
    /// The model, by the name its provider uses
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<ModelName>,
    /// The server of the provider, if it is not the default one
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// How tools are offered to the model: native, or fallback (calls are JSON in its text)
    #[arg(long, value_name = "WAY", value_parser = tool_calling)]
    pub(crate) tool_calling: Option<ToolCalling>,
}

fn provider(text: &str) -> Result<ServedBy, ServedByError> {
    ServedBy::from_str(text)
}

/// A text that is not a way of offering tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected native or fallback")]
pub(crate) struct UnknownToolCalling;

fn tool_calling(text: &str) -> Result<ToolCalling, UnknownToolCalling> {
    match text {
        "native" => Ok(ToolCalling::Native),
        "fallback" => Ok(ToolCalling::Fallback),
        _ => Err(UnknownToolCalling),
    }
}
