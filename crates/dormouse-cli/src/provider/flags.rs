//! The flags that say which model to use.

use std::str::FromStr;

use clap::Args;
use dormouse_contracts::ModelName;
use dormouse_engine::ToolCalling;
use dormouse_providers::{ServedBy, ServedByError};

/// Who thinks for the assistant.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProviderFlags {
    /// Who serves the model: openai, anthropic, openrouter, ollama, local or offline [default: by what is found]
    #[arg(long, value_name = "NAME", value_parser = provider)]
    pub(crate) provider: Option<ServedBy>,
    /// The model, as its provider names it
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<ModelName>,
    /// The server of the provider, if it is not the usual one
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// How tools are offered to the model: native or fallback (as JSON in its text)
    #[arg(long, value_name = "WAY", value_parser = tool_calling)]
    pub(crate) tool_calling: Option<ToolCalling>,
}

fn provider(text: &str) -> Result<ServedBy, ServedByError> {
    ServedBy::from_str(text)
}

/// A way of offering tools that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are native and fallback")]
pub(crate) struct NoSuchWay;

fn tool_calling(text: &str) -> Result<ToolCalling, NoSuchWay> {
    match text {
        "native" => Ok(ToolCalling::Native),
        "fallback" => Ok(ToolCalling::Fallback),
        _ => Err(NoSuchWay),
    }
}
