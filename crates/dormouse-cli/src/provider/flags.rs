//! The flags that say which model to use.

use std::str::FromStr;

use clap::Args;
use dormouse_contracts::ModelName;
use dormouse_engine::ToolCalling;
use dormouse_host::provider::ModelSelection;
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

impl ProviderFlags {
    /// Whether no flag is given.
    pub(crate) fn is_default(&self) -> bool {
        let Self {
            provider,
            model,
            base_url,
            tool_calling,
        } = self;
        provider.is_none() && model.is_none() && base_url.is_none() && tool_calling.is_none()
    }

    /// The flags in the form that the host takes.
    pub(crate) fn selection(&self) -> ModelSelection {
        ModelSelection {
            provider: self.provider,
            model: self.model.clone(),
            base_url: self.base_url.clone(),
            tool_calling: self.tool_calling,
        }
    }
}

impl ProviderFlags {
    /// The settings that the flags give, each with its flag.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (&'static str, String, &'static str)> {
        let tool_calling = self.tool_calling.map(|way| match way {
            ToolCalling::Native => "native".to_owned(),
            ToolCalling::Fallback => "fallback".to_owned(),
        });
        let model = self.model.as_ref().map(|model| model.as_str().to_owned());
        let provider = self.provider.map(|provider| provider.as_str().to_owned());
        let flags = [
            ("provider.kind", provider, "--provider"),
            ("provider.model", model, "--model"),
            ("provider.base_url", self.base_url.clone(), "--base-url"),
            ("provider.tool_calling", tool_calling, "--tool-calling"),
        ];
        flags
            .into_iter()
            .filter_map(|(name, value, flag)| Some((name, value?, flag)))
    }
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
