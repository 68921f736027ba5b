//! The command line of `dormouse provider`.

use std::str::FromStr;

use clap::{Args, Subcommand};
use dormouse_contracts::{IdError, ModelName};
use dormouse_providers::{ModelRef, ModelRefError, ServedBy};

use crate::{
    command::{JsonFlag, Whose, whole},
    provider::flags::ProviderFlags,
};

/// Models and their providers.
#[derive(Debug, Subcommand)]
pub(crate) enum Provider {
    /// List the providers: which can be used, which one is chosen, and why
    List {
        #[command(flatten)]
        flags: ProviderFlags,
        /// Ask the server of the chosen provider for its models, over the network
        #[arg(long)]
        models: bool,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Show what is known about a model, without a request
    Show {
        #[command(flatten)]
        of: Which,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Print what the models of each assistant of the folder cost, according to its log
    Spent {
        #[command(flatten)]
        json: JsonFlag,
    },
    /// End the pauses that providers asked for, so that the next start calls them again
    Retry {
        #[command(flatten)]
        of: Whose,
        /// Who ends the pauses, for the log [default: your user name]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Try a model with at most four short requests, over the network, and remember what was learnt about it
    Test {
        #[command(flatten)]
        of: Which,
        /// How long each request may take, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = whole::<u64>(1..=600))]
        timeout: u64,
        #[command(flatten)]
        json: JsonFlag,
    },
}

/// Which model.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// PROVIDER:MODEL, PROVIDER:MODEL@URL, offline, or a model of the chosen provider [default: the chosen one]
    #[arg(value_name = "MODEL", id = "asked", value_parser = Asked::from_str)]
    pub(super) asked: Option<Asked>,
    #[command(flatten)]
    pub(super) flags: ProviderFlags,
}

/// A model as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// With its provider.
    Model(ModelRef),
    /// Of the chosen provider.
    Bare(ModelName),
}

/// A text that is not a model.
#[derive(Debug, thiserror::Error)]
pub(super) enum AskedError {
    #[error(transparent)]
    Model(#[from] ModelRefError),
    #[error("{0} is a provider; expected a model as well, as in {0}:MODEL")]
    ProviderAlone(ServedBy),
    #[error("this is not a model name")]
    Name(#[from] IdError),
}

impl FromStr for Asked {
    type Err = AskedError;

    /// A text that begins with a provider names it and its model. Names of models may contain colons, too.
    fn from_str(text: &str) -> Result<Self, AskedError> {
        let (provider, has_model) = match text.split_once(':') {
            Some((provider, _)) => (provider, true),
            None => (text, text == ServedBy::Offline.as_str()),
        };
        Ok(match ServedBy::from_str(provider) {
            Ok(_) if has_model => Self::Model(text.parse()?),
            Ok(by) => return Err(AskedError::ProviderAlone(by)),
            Err(_) => Self::Bare(ModelName::try_new(text)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_asked_for_with_its_provider_or_without() {
        let bare = |name: &str| Asked::Bare(ModelName::try_new(name).unwrap());
        for name in ["llama3.2", "qwen3:8b", "openai/gpt-4.1"] {
            assert_eq!(name.parse::<Asked>().unwrap(), bare(name));
        }
        for requested in ["ollama:qwen3:8b", "local:m@http://127.0.0.1:1", "offline"] {
            let asked = Asked::Model(requested.parse().unwrap());
            assert_eq!(requested.parse::<Asked>().unwrap(), asked);
        }
        for none in [
            "",
            "local",
            "local:",
            "offline:x",
            "local:m@nowhere",
            "a\nb",
        ] {
            assert!(none.parse::<Asked>().is_err(), "{none}");
        }
    }
}
