//! `dormouse provider`: looking at who can think for the assistant, and trying it.

use std::{io, str::FromStr, time::Duration};

use clap::{Args, Subcommand};
use dormouse_contracts::{AppendError, IdError, ModelName};
use dormouse_providers::{
    Choice, Environment, ListModelsError, ModelWish, ModelWishError, ServedBy,
};
use serde::Serialize;

use super::{Chosen, ProviderError, list, pauses, select, show, trial};
use crate::{
    args::{Places, ProviderFlags, Whose},
    config::{Config, ConfigError},
    data::{DataError, DataFolder},
    exit::Exit,
    json,
    log::LogError,
};

/// Who can think for the assistant.
#[derive(Debug, Subcommand)]
pub(crate) enum Provider {
    /// Show who can be used here, who is chosen, and why
    List {
        #[command(flatten)]
        flags: ProviderFlags,
        /// Ask the server of the chosen provider which models it has, over the network
        #[arg(long)]
        models: bool,
        /// Print one JSON object per line (docs/json-output.md)
        #[arg(long)]
        json: bool,
    },
    /// Show what is known of a model, without asking anybody
    Show {
        #[command(flatten)]
        of: Which,
        /// Print one JSON object on one line (docs/json-output.md)
        #[arg(long)]
        json: bool,
    },
    /// Have the models asked again at the next start, whatever pause they asked for
    Retry {
        #[command(flatten)]
        of: Whose,
        /// Who wants it, for the log [default: the user's name]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Try a model with at most four short requests, over the network; what is learnt of it is remembered
    Test {
        #[command(flatten)]
        of: Which,
        /// How long each request may take, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=600))]
        timeout: u64,
        /// Print one JSON object per line (docs/json-output.md)
        #[arg(long)]
        json: bool,
    },
}

/// Which model.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// PROVIDER:MODEL, PROVIDER:MODEL@URL, offline, or a model of the chosen provider [default: the chosen one]
    #[arg(value_name = "MODEL", id = "asked", value_parser = Asked::from_str)]
    asked: Option<Asked>,
    #[command(flatten)]
    flags: ProviderFlags,
}

/// A model as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    /// With its provider.
    Wish(ModelWish),
    /// Of the provider that is chosen anyway.
    Bare(ModelName),
}

/// A text that asks for no model.
#[derive(Debug, thiserror::Error)]
enum AskedError {
    #[error(transparent)]
    Wish(#[from] ModelWishError),
    #[error("this is not a model name")]
    Name(#[from] IdError),
}

impl FromStr for Asked {
    type Err = AskedError;

    /// What begins with a provider is one, and its model; a name may have a colon of its own.
    fn from_str(text: &str) -> Result<Self, AskedError> {
        let provider = text.split(':').next().unwrap_or_default();
        let has_model = text.contains(':') || provider == ServedBy::Offline.as_str();
        Ok(match ServedBy::from_str(provider) {
            Ok(_) if has_model => Self::Wish(text.parse()?),
            Ok(_) | Err(_) => Self::Bare(ModelName::try_new(text)?),
        })
    }
}

/// The command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Models(#[from] ListModelsError),
    #[error("the server did not tell its models within {} s", .0.as_secs())]
    Silent(Duration),
    #[error("output could not be written")]
    Output(#[from] io::Error),
    #[error("output could not be written")]
    Json(#[from] serde_json::Error),
    #[error("the operating system refuses")]
    System(#[source] io::Error),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("--by names nobody: say who wants the model to be asked again")]
    Unnamed,
    #[error("that the model is to be asked again could not be written into the log")]
    Append(#[from] AppendError),
}

impl CommandError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Config(_) | Self::Provider(_) | Self::Unnamed => Exit::Usage,
            Self::Log(error) => error.exit(),
            Self::Models(ListModelsError::Config(_)) => Exit::Usage,
            Self::Data(_)
            | Self::Models(_)
            | Self::Silent(_)
            | Self::Append(_)
            | Self::Output(_)
            | Self::Json(_)
            | Self::System(_) => Exit::Failure,
        }
    }
}

/// Everything that the commands look at.
#[derive(Debug)]
pub(super) struct Here {
    pub(super) places: Places,
    pub(super) data: DataFolder,
    pub(super) config: Config,
    pub(super) environment: Environment,
}

/// Carries out a command.
pub(crate) fn run(places: &Places, command: &Provider) -> Result<Exit, CommandError> {
    let data = DataFolder::locate(places.data.as_deref())?;
    let (config, _) = Config::load(places.config.as_deref(), &data.config())?;
    let here = Here {
        places: places.clone(),
        data,
        config,
        environment: super::environment(),
    };
    match command {
        Provider::List {
            flags,
            models,
            json,
        } => list::run(&here, flags, *models, Form::of(*json)),
        Provider::Show { of, json } => {
            let (choice, flags) = here.choose(of)?;
            show::run(&here, &choice, flags, Form::of(*json))
        }
        Provider::Retry { of, by } => {
            pauses::end(places, &here.data, of.assistant.clone(), by.as_deref())
        }
        Provider::Test { of, timeout, json } => {
            let (choice, flags) = here.choose(of)?;
            let limit = Duration::from_secs(*timeout);
            trial::run(&here, &choice, flags, limit, Form::of(*json))
        }
    }
}

impl Here {
    fn choose<'a>(&self, of: &'a Which) -> Result<(Choice, &'a ProviderFlags), ProviderError> {
        let mut flags = of.flags.clone();
        if let Some(Asked::Bare(model)) = &of.asked {
            flags.model = Some(model.clone());
        }
        let choice = match &of.asked {
            Some(Asked::Wish(wish)) => {
                let found = super::look(&flags, &self.config.provider, &self.environment)?;
                found.wished(wish)?
            }
            _ => {
                let chosen: Chosen = select(&flags, &self.config.provider, &self.environment)?;
                chosen.choice
            }
        };
        Ok((choice, &of.flags))
    }
}

/// For whom things are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    People,
    Programs,
}

impl Form {
    fn of(json: bool) -> Self {
        if json { Self::Programs } else { Self::People }
    }

    /// One thing: a line of JSON, or lines for people.
    pub(super) fn tell(
        self,
        out: &mut dyn io::Write,
        value: &impl Serialize,
        text: &str,
    ) -> Result<(), CommandError> {
        match self {
            Self::Programs => out.write_all(json::line(value)?.as_bytes())?,
            Self::People => writeln!(out, "{}", crate::neutralise::neutralise(text))?,
        }
        out.flush()?;
        Ok(())
    }
}

/// A runtime for what is asked over the network.
pub(super) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CommandError::System)?;
    Ok(runtime.block_on(work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_asked_for_with_its_provider_or_without() {
        let bare = |name: &str| Asked::Bare(ModelName::try_new(name).unwrap());
        for name in ["llama3.2", "qwen3:8b", "openai/gpt-4.1", "local"] {
            assert_eq!(name.parse::<Asked>().unwrap(), bare(name));
        }
        for wish in ["ollama:qwen3:8b", "local:m@http://127.0.0.1:1", "offline"] {
            let asked = Asked::Wish(wish.parse().unwrap());
            assert_eq!(wish.parse::<Asked>().unwrap(), asked);
        }
        for none in ["", "local:", "offline:x", "local:m@nowhere", "a\nb"] {
            assert!(none.parse::<Asked>().is_err(), "{none}");
        }
    }
}
