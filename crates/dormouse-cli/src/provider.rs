//! Which model thinks, and saying why: flags before configuration, configuration before environment.

use std::{env, sync::Arc};

use dormouse_contracts::{ChatModel, Purpose};
use dormouse_offline::OfflineModel;
use dormouse_providers::{
    Available, Choice, ChoiceError, Environment, Found, ModelWish, Network, Secret, ServedBy,
    choose, choose_model, open_model,
};

use crate::{args::ProviderFlags, config::ProviderSection};

mod command;
mod error;
mod key;
mod known;
mod list;
mod models;
mod pauses;
mod show;
mod standing;
#[cfg(test)]
mod tests;
mod trial;

pub(crate) use command::{Provider, run};
pub(crate) use error::ProviderError;
use key::OwnKey;
pub(crate) use known::Known;
pub(crate) use models::{Models, assemble, network, price_table, service};
pub(crate) use pauses::retry_command;
pub(crate) use trial::{one_word, probe_tools};

/// The provider that will be used.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    choice: Choice,
    /// What was found, for models that are named besides.
    found: Findings,
    /// Why it was chosen, for people.
    pub(crate) why: String,
}

/// What was found in flags, configuration and environment.
#[derive(Clone, Debug)]
struct Findings {
    available: Available,
    /// The key that the configuration tells, and whose it is.
    own_key: Option<OwnKey>,
    /// Whether a server was named without a provider.
    by_server: bool,
}

impl Chosen {
    /// Who serves the model, and which.
    pub(crate) fn name(&self) -> (String, String) {
        match &self.choice {
            Choice::Offline { .. } => ("offline".to_owned(), "offline".to_owned()),
            Choice::Server { config, .. } => {
                (config.provider().to_string(), config.model().to_string())
            }
        }
    }

    /// Where the model is served; nothing if it needs no server.
    pub(crate) fn server(&self) -> Option<&str> {
        match &self.choice {
            Choice::Offline { .. } => None,
            Choice::Server { config, .. } => Some(config.base_url()),
        }
    }

    /// Every key that was found.
    pub(crate) fn keys(&self) -> Vec<&Secret> {
        let Available {
            dormouse_api_key,
            openai_api_key,
            anthropic_api_key,
            openrouter_api_key,
            ..
        } = &self.found.available;
        let own_key = self.found.own_key.as_ref().map(|own| &own.key);
        let keys = [
            dormouse_api_key.as_ref(),
            openai_api_key.as_ref(),
            anthropic_api_key.as_ref(),
            openrouter_api_key.as_ref(),
            own_key,
        ];
        keys.into_iter().flatten().collect()
    }

    /// A model of the list for this purpose, with what was found.
    fn listed(&self, wish: &ModelWish, purpose: Option<Purpose>) -> Result<Choice, ProviderError> {
        self.found
            .wished(wish)
            .map_err(|error| ProviderError::Listed {
                wish: wish.clone(),
                purpose,
                source: Box::new(error),
            })
    }

    /// All lists of models: the main one, which begins with the chosen one, and those of single uses.
    pub(crate) fn lists(&self, section: &ProviderSection) -> Result<Vec<List>, ProviderError> {
        let mut main = vec![self.choice.clone()];
        for wish in &section.fallbacks {
            main.push(self.listed(wish, None)?);
        }
        let mut lists = vec![List {
            purpose: None,
            models: main,
        }];
        for (purpose, wishes) in &section.uses {
            let models = wishes.iter().map(|wish| self.listed(wish, Some(*purpose)));
            lists.push(List {
                purpose: Some(*purpose),
                models: models.collect::<Result<_, _>>()?,
            });
        }
        Ok(lists)
    }
}

impl Findings {
    /// A model that is named with its provider.
    fn wished(&self, wish: &ModelWish) -> Result<Choice, ProviderError> {
        let choice = choose_model(wish, &self.available).map_err(ProviderError::Choice)?;
        let elsewhere = matches!(
            wish,
            ModelWish::Served {
                base_url: Some(_),
                ..
            }
        );
        Ok(if elsewhere {
            choice
        } else {
            key::given(self, choice)
        })
    }
}

/// A list of models, of which the first that is well answers.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// What for; nothing for whatever has no list of its own.
    pub(crate) purpose: Option<Purpose>,
    pub(crate) models: Vec<Choice>,
}

/// The environment of this process.
pub(crate) fn environment() -> Environment {
    Environment::of(|name| env::var_os(name))
}

/// Makes a model. Connects to nothing yet.
pub(crate) fn open(
    choice: &Choice,
    network: &Network,
) -> Result<Arc<dyn ChatModel>, ProviderError> {
    match choice {
        Choice::Offline { .. } => Ok(Arc::new(OfflineModel::new())),
        Choice::Server { config, .. } => {
            open_model(config, network).map_err(|error| ProviderError::Server(error.into()))
        }
    }
}

/// Chooses the provider.
pub(crate) fn select(
    flags: &ProviderFlags,
    section: &ProviderSection,
    environment: &Environment,
) -> Result<Chosen, ProviderError> {
    let found = look(flags, section, environment)?;
    decide(found, flags)
}

/// Takes in what there is.
fn look(
    flags: &ProviderFlags,
    section: &ProviderSection,
    environment: &Environment,
) -> Result<Findings, ProviderError> {
    let mut available = Available {
        asked: flags.provider.or(section.kind),
        model: flags.model.clone().or_else(|| section.model.clone()),
        dormouse_base_url: environment.text("DORMOUSE_BASE_URL")?,
        dormouse_api_key: environment.secret("DORMOUSE_API_KEY")?,
        openai_api_key: environment.secret("OPENAI_API_KEY")?,
        openai_base_url: environment.text("OPENAI_BASE_URL")?,
        anthropic_api_key: environment.secret("ANTHROPIC_API_KEY")?,
        anthropic_base_url: environment.text("ANTHROPIC_BASE_URL")?,
        openrouter_api_key: environment.secret("OPENROUTER_API_KEY")?,
        ollama_host: environment.text("OLLAMA_HOST")?,
        ollama_answers: None,
    };
    // A server in the configuration is for the provider there; another one asked for by flag has its own.
    let written_for = section.kind.unwrap_or(ServedBy::Local);
    let is_meant = flags.provider.is_none_or(|by| by == written_for);
    let written = section.base_url.clone().filter(|_| is_meant);
    let named_server = flags.base_url.clone().or(written);
    let by_server = available.asked.is_none() && named_server.is_some();
    if let Some(url) = named_server {
        take_server(&mut available, url)?;
    }
    let own_key = key::own(flags, section, environment, available.asked)?;
    if let Some(own) = &own_key {
        key::put(&mut available, own);
    }
    Ok(Findings {
        available,
        own_key,
        by_server,
    })
}

fn decide(found: Findings, flags: &ProviderFlags) -> Result<Chosen, ProviderError> {
    let choice = choose(&found.available).map_err(|error| match error {
        ChoiceError::NoServer => ProviderError::NoServer,
        error => ProviderError::Choice(error),
    })?;
    refuse_unknown(&choice, flags)?;
    let why = match because(&choice) {
        Found::Asked if found.by_server && flags.base_url.is_some() => {
            "--base-url names a server".to_owned()
        }
        Found::Asked if found.by_server => "the configuration names a server".to_owned(),
        Found::Asked if flags.provider.is_some() => "asked for by --provider".to_owned(),
        Found::Asked => "asked for by the configuration".to_owned(),
        found => found.to_string(),
    };
    Ok(Chosen {
        choice: key::given(&found, choice),
        found,
        why,
    })
}

/// Without a server there is one model. Whoever asks for another must not be answered by it.
fn refuse_unknown(choice: &Choice, flags: &ProviderFlags) -> Result<(), ProviderError> {
    let other = flags
        .model
        .as_ref()
        .filter(|model| model.as_str() != ServedBy::Offline.as_str());
    match (choice, other) {
        (Choice::Offline { .. }, Some(model)) => Err(ProviderError::NoSuchModel(model.clone())),
        _ => Ok(()),
    }
}

/// Puts the server where the provider that was asked for looks for it. A server named without a provider is local.
fn take_server(available: &mut Available, url: String) -> Result<(), ProviderError> {
    match available.asked {
        None | Some(ServedBy::Local) => {
            available.asked = Some(ServedBy::Local);
            available.name_local_server(url);
        }
        Some(ServedBy::OpenAi) => available.openai_base_url = Some(url),
        Some(ServedBy::Anthropic) => available.anthropic_base_url = Some(url),
        Some(ServedBy::Ollama) => available.ollama_host = Some(url),
        Some(other) => return Err(ProviderError::BaseUrl(other)),
    }
    Ok(())
}

fn because(choice: &Choice) -> Found {
    match choice {
        Choice::Offline { because } | Choice::Server { because, .. } => *because,
    }
}
