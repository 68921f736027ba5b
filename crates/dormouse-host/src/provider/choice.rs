//! Which model answers, and why: flags before configuration, configuration before environment.

use dormouse_contracts::Purpose;
use dormouse_providers::{
    Available, Choice, ChoiceError, ChoiceReason, EmbedderChoice, EmbedderSettings, Environment,
    ModelRef, Secret, ServedBy, choose, choose_embedder, choose_model,
};

use super::{
    error::ProviderError,
    key::{self, OwnKey},
    selection::ModelSelection,
};
use crate::{config::ProviderSection, recall::WORDS_ALONE};

/// The provider that will be used.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The provider and its server.
    pub choice: Choice,
    /// The findings, for the further models that the configuration names.
    found: Findings,
    /// Why it was chosen, for people.
    pub why: String,
}

/// What was found in flags, configuration and environment.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Servers and keys.
    pub available: Available,
    /// The key that the configuration names, and the provider that it belongs to.
    own_key: Option<OwnKey>,
    /// Whether a server was named without a provider.
    by_server: bool,
}

impl Chosen {
    /// The provider and the model.
    pub fn name(&self) -> (String, String) {
        match &self.choice {
            Choice::Offline { .. } => ("offline".to_owned(), "offline".to_owned()),
            Choice::Server { config, .. } => {
                (config.provider().to_string(), config.model().to_string())
            }
        }
    }

    /// Where the model is served; `None` if it needs no server.
    pub fn server(&self) -> Option<&str> {
        match &self.choice {
            Choice::Offline { .. } => None,
            Choice::Server { config, .. } => Some(config.base_url()),
        }
    }

    /// The encoder of this provider, for memories whose configuration names none. It is on the same server, which
    /// receives the memories anyway, and uses the same key.
    #[must_use]
    pub fn embedder(&self) -> EmbedderChoice {
        let by = self.name().0.parse().unwrap_or(ServedBy::Offline);
        let chosen = choose_embedder(by, &self.found.available, &EmbedderSettings::default());
        chosen.unwrap_or(WORDS_ALONE)
    }

    /// Every key that was found.
    pub fn keys(&self) -> Vec<&Secret> {
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

    /// A model that a list of the configuration names, with its key.
    ///
    /// # Errors
    ///
    /// [`ProviderError::Listed`] if the model cannot be used.
    pub fn listed(
        &self,
        requested: &ModelRef,
        purpose: Option<Purpose>,
    ) -> Result<Choice, ProviderError> {
        self.found
            .chosen_model(requested)
            .map_err(|error| ProviderError::Listed {
                requested: requested.clone(),
                purpose,
                source: Box::new(error),
            })
    }

    /// All lists of models: the main one, which begins with the chosen model, and those for one purpose each.
    ///
    /// # Errors
    ///
    /// [`ProviderError::Listed`] for the first model that cannot be used.
    pub fn lists(&self, section: &ProviderSection) -> Result<Vec<ModelList>, ProviderError> {
        let mut main = vec![self.choice.clone()];
        for requested in &section.fallbacks {
            main.push(self.listed(requested, None)?);
        }
        let mut lists = vec![ModelList {
            purpose: None,
            models: main,
        }];
        for (purpose, references) in &section.uses {
            let models = references
                .iter()
                .map(|requested| self.listed(requested, Some(*purpose)));
            lists.push(ModelList {
                purpose: Some(*purpose),
                models: models.collect::<Result<_, _>>()?,
            });
        }
        Ok(lists)
    }
}

impl Findings {
    /// A model that is named together with its provider, and its key.
    ///
    /// # Errors
    ///
    /// [`ProviderError::Choice`] if the model cannot be used.
    pub fn chosen_model(&self, requested: &ModelRef) -> Result<Choice, ProviderError> {
        let choice = choose_model(requested, &self.available).map_err(ProviderError::Choice)?;
        let elsewhere = matches!(
            requested,
            ModelRef::Served {
                base_url: Some(_),
                ..
            }
        );
        Ok(if elsewhere {
            choice
        } else {
            key::with_own_key(self.own_key.as_ref(), choice)
        })
    }
}

impl Findings {
    /// The key that the configuration names for this provider.
    #[must_use]
    pub fn own_key(&self, of: ServedBy) -> Option<&Secret> {
        let own = self.own_key.as_ref().filter(|own| own.of == of);
        own.map(|own| &own.key)
    }

    /// The same choice, with the key that the configuration names if that belongs to its provider.
    #[must_use]
    pub fn with_own_key(&self, choice: Choice) -> Choice {
        key::with_own_key(self.own_key.as_ref(), choice)
    }
}

/// A list of models. The first one that is available answers.
#[derive(Clone, Debug)]
pub struct ModelList {
    /// The purpose of its requests; `None` for the list of all purposes without a list of their own.
    pub purpose: Option<Purpose>,
    /// The models, the preferred one first.
    pub models: Vec<Choice>,
}

/// Chooses the provider.
///
/// # Errors
///
/// [`ProviderError`] if no provider can be used.
pub fn select(
    flags: &ModelSelection,
    section: &ProviderSection,
    environment: &Environment,
) -> Result<Chosen, ProviderError> {
    let found = find(flags, section, environment)?;
    decide(found, flags)
}

/// Collects the servers and keys that flags, configuration and environment name.
///
/// # Errors
///
/// [`ProviderError`] if a server or a key that is named cannot be used.
pub fn find(
    flags: &ModelSelection,
    section: &ProviderSection,
    environment: &Environment,
) -> Result<Findings, ProviderError> {
    let mut available = Available {
        requested: flags.provider.or(section.kind),
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
    // The configured server belongs to the configured provider, not to another provider that a flag selects.
    let written_for = section.kind.unwrap_or(ServedBy::Local);
    let is_meant = flags.provider.is_none_or(|by| by == written_for);
    let written = section.base_url.as_ref().filter(|_| is_meant);
    let written = written.map(|url| url.value.clone());
    let named_server = flags.base_url.clone().or(written);
    let by_server = available.requested.is_none() && named_server.is_some();
    if let Some(url) = named_server {
        take_server(&mut available, url)?;
    }
    let own_key = key::own(flags, section, environment, available.requested)?;
    if let Some(own) = &own_key {
        key::put(&mut available, own);
    }
    Ok(Findings {
        available,
        own_key,
        by_server,
    })
}

/// Chooses from the findings.
///
/// # Errors
///
/// [`ProviderError`] if no provider can be used.
pub fn decide(found: Findings, flags: &ModelSelection) -> Result<Chosen, ProviderError> {
    let choice = choose(&found.available).map_err(|error| match error {
        ChoiceError::NoServer => ProviderError::NoServer,
        error => ProviderError::Choice(error),
    })?;
    refuse_unknown(&choice, flags)?;
    let why = match because(&choice) {
        ChoiceReason::Requested if found.by_server && flags.base_url.is_some() => {
            "--base-url names a server".to_owned()
        }
        ChoiceReason::Requested if found.by_server => "the configuration names a server".to_owned(),
        ChoiceReason::Requested if flags.provider.is_some() => "asked for by --provider".to_owned(),
        ChoiceReason::Requested => "asked for by the configuration".to_owned(),
        found => found.to_string(),
    };
    Ok(Chosen {
        choice: key::with_own_key(found.own_key.as_ref(), choice),
        found,
        why,
    })
}

/// The offline model must not answer in place of a requested model.
fn refuse_unknown(choice: &Choice, flags: &ModelSelection) -> Result<(), ProviderError> {
    let other = flags
        .model
        .as_ref()
        .filter(|model| model.as_str() != ServedBy::Offline.as_str());
    match (choice, other) {
        (Choice::Offline { .. }, Some(model)) => Err(ProviderError::NoSuchModel(model.clone())),
        _ => Ok(()),
    }
}

/// Sets the server of the requested provider. A server named without a provider is `local`.
fn take_server(available: &mut Available, url: String) -> Result<(), ProviderError> {
    match available.requested {
        None | Some(ServedBy::Local) => {
            available.requested = Some(ServedBy::Local);
            available.name_local_server(url);
        }
        Some(ServedBy::OpenAi) => available.openai_base_url = Some(url),
        Some(ServedBy::Anthropic) => available.anthropic_base_url = Some(url),
        Some(ServedBy::Ollama) => available.ollama_host = Some(url),
        Some(other) => return Err(ProviderError::BaseUrl(other)),
    }
    Ok(())
}

fn because(choice: &Choice) -> ChoiceReason {
    match choice {
        Choice::Offline { reason } | Choice::Server { reason, .. } => *reason,
    }
}
