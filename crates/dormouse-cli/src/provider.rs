//! Which model thinks, and saying why: flags before configuration, configuration before environment.

use std::{env, ffi::OsString, path::PathBuf, sync::Arc};

use dormouse_contracts::{BoxError, ChatModel, Purpose};
use dormouse_providers::{
    Available, Choice, ChoiceError, Found, Network, Secret, SecretError, ServedBy, choose,
    open_model,
};

use crate::{args::ProviderFlags, config::ProviderSection};

mod models;
#[cfg(test)]
mod tests;

pub(crate) use models::{Models, assemble, network};

/// The environment, as far as it matters here. A variable that is set and empty counts as not set.
pub(crate) struct Environment(Box<dyn Fn(&'static str) -> Option<OsString>>);

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Keys are among the values.
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

impl Environment {
    /// The environment of this process.
    pub(crate) fn of_process() -> Self {
        Self(Box::new(|name: &'static str| env::var_os(name)))
    }

    /// The same with a key for everybody who has none: enough for a replay, in which nobody is asked.
    pub(crate) fn with_any_key(self) -> Self {
        Self(Box::new(move |name| {
            let found = (self.0)(name).filter(|value| !value.is_empty());
            found.or_else(|| name.ends_with("_API_KEY").then(|| "replayed".into()))
        }))
    }

    pub(crate) fn text(&self, name: &'static str) -> Result<Option<String>, ProviderError> {
        match (self.0)(name).filter(|value| !value.is_empty()) {
            None => Ok(None),
            Some(value) => value
                .into_string()
                .map(Some)
                .map_err(|_lossy| ProviderError::NotText { name }),
        }
    }

    pub(crate) fn secret(&self, name: &'static str) -> Result<Option<Secret>, ProviderError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        Secret::try_new(&text)
            .map(Some)
            .map_err(|source| ProviderError::Secret { name, source })
    }
}

/// Why no provider can be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProviderError {
    /// A variable holds bytes that are no text.
    #[error("the environment variable {name} is not UTF-8 text")]
    NotText {
        /// Which.
        name: &'static str,
    },
    /// A variable holds no key.
    #[error("the environment variable {name} holds no usable key")]
    Secret {
        /// Which.
        name: &'static str,
        /// Why not.
        source: SecretError,
    },
    /// A server was named for a provider that has its own, or none.
    #[error(
        "the provider {0} takes no --base-url; it belongs to openai, anthropic, ollama and local"
    )]
    BaseUrl(ServedBy),
    /// The provider local was asked for, and nothing says where it is.
    #[error(
        "the provider local needs a server: give --base-url URL, or base_url under [provider] in the configuration, or \
         set DORMOUSE_BASE_URL"
    )]
    NoServer,
    /// What was asked for is not there.
    #[error(transparent)]
    Choice(ChoiceError),
    /// A list of models for one use names none.
    #[error("the list of models for {0} is empty")]
    EmptyList(Purpose),
    /// The prices in the configuration are none.
    #[error("the configured prices cannot be used")]
    Prices(#[source] BoxError),
    /// A limit in the configuration is none.
    #[error("the configured limit cannot be used")]
    Limit(#[source] BoxError),
    /// The certificates cannot be used.
    #[error("the certificates in {} cannot be used", file.display())]
    Certificates {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: BoxError,
    },
    /// The server's address or something else of it is wrong.
    #[error("the provider cannot be used")]
    Server(#[source] BoxError),
}

/// The provider that will be used.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    choice: Choice,
    /// What was found, for models that are named besides.
    available: Available,
    /// Why it was chosen, for people.
    pub(crate) why: String,
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
        } = &self.available;
        let keys = [
            dormouse_api_key,
            openai_api_key,
            anthropic_api_key,
            openrouter_api_key,
        ];
        keys.into_iter().flatten().collect()
    }

    /// The model itself. Connects to nothing yet.
    pub(crate) fn model(&self) -> Result<Arc<dyn ChatModel>, ProviderError> {
        open_model(&self.choice, &Network::direct())
            .map_err(|error| ProviderError::Server(error.into()))
    }
}

/// Chooses the provider.
pub(crate) fn select(
    flags: &ProviderFlags,
    section: &ProviderSection,
    environment: &Environment,
) -> Result<Chosen, ProviderError> {
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
    let named_server = flags.base_url.clone().or_else(|| section.base_url.clone());
    let by_server = available.asked.is_none() && named_server.is_some();
    if let Some(url) = named_server {
        take_server(&mut available, url, flags)?;
    }
    let choice = choose(&available).map_err(|error| match error {
        ChoiceError::NoServer => ProviderError::NoServer,
        error => ProviderError::Choice(error),
    })?;
    let why = match because(&choice) {
        Found::Asked if by_server && flags.base_url.is_some() => {
            "--base-url names a server".to_owned()
        }
        Found::Asked if by_server => "the configuration names a server".to_owned(),
        Found::Asked if flags.provider.is_some() => "asked for by --provider".to_owned(),
        Found::Asked => "asked for by the configuration".to_owned(),
        found => found.to_string(),
    };
    Ok(Chosen {
        choice,
        available,
        why,
    })
}

/// Puts the server where the provider that was asked for looks for it. A server named without a provider is local.
fn take_server(
    available: &mut Available,
    url: String,
    flags: &ProviderFlags,
) -> Result<(), ProviderError> {
    match available.asked {
        None | Some(ServedBy::Local) => {
            available.asked = Some(ServedBy::Local);
            available.dormouse_base_url = Some(url);
        }
        Some(ServedBy::OpenAi) => available.openai_base_url = Some(url),
        Some(ServedBy::Anthropic) => available.anthropic_base_url = Some(url),
        Some(ServedBy::Ollama) => available.ollama_host = Some(url),
        // A server in the configuration is for the provider there; another one asked for by flag has its own.
        Some(_) if flags.base_url.is_none() && flags.provider.is_some() => {}
        Some(other) => return Err(ProviderError::BaseUrl(other)),
    }
    Ok(())
}

fn because(choice: &Choice) -> Found {
    match choice {
        Choice::Offline { because } | Choice::Server { because, .. } => *because,
    }
}
