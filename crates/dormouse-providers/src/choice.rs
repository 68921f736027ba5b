//! Which provider to use, from what was found at start.

use std::{fmt, str::FromStr};

use dormouse_contracts::{ModelName, ProviderId};

use crate::{OpenAiConfig, Secret};

/// What the composition root found in its flags, its configuration and its environment. Nothing is read here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Available {
    /// A provider that was asked for by name (`--provider`).
    pub asked: Option<ServedBy>,
    /// A model that was asked for by name (`--model`).
    pub model: Option<ModelName>,
    /// `DORMOUSE_BASE_URL`: a server meant for this program.
    pub dormouse_base_url: Option<String>,
    /// `DORMOUSE_API_KEY`: the key of that server, if it wants one.
    pub dormouse_api_key: Option<Secret>,
    /// `OPENAI_API_KEY`.
    pub openai_api_key: Option<Secret>,
    /// `OPENAI_BASE_URL`: where the above key belongs, or without one a server that wants none.
    pub openai_base_url: Option<String>,
    /// `OPENROUTER_API_KEY`.
    pub openrouter_api_key: Option<Secret>,
}

/// Who may serve a model, by the names a user writes: `openai`, `openrouter`, `local`, `offline`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServedBy {
    /// OpenAI, or the server that `OPENAI_BASE_URL` names.
    OpenAi,
    /// OpenRouter.
    OpenRouter,
    /// The server that `DORMOUSE_BASE_URL`, or else `OPENAI_BASE_URL`, names.
    Local,
    /// Nobody: the model in this crate that needs no server.
    Offline,
}

/// A name that is no provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such provider; there are openai, openrouter, local and offline")]
pub struct ServedByError;

impl ServedBy {
    /// The name a user writes.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenRouter => "openrouter",
            Self::Local => "local",
            Self::Offline => "offline",
        }
    }
}

impl fmt::Display for ServedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ServedBy {
    type Err = ServedByError;
    fn from_str(text: &str) -> Result<Self, ServedByError> {
        [Self::OpenAi, Self::OpenRouter, Self::Local, Self::Offline]
            .into_iter()
            .find(|served_by| served_by.as_str() == text)
            .ok_or(ServedByError)
    }
}

/// What decided the choice. Displays as a phrase for the line a program prints at start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// It was asked for by name.
    Asked,
    /// `DORMOUSE_BASE_URL` is set.
    DormouseBaseUrl,
    /// `OPENAI_API_KEY` is set.
    OpenAiKey,
    /// `OPENROUTER_API_KEY` is set.
    OpenRouterKey,
    /// `OPENAI_BASE_URL` is set.
    OpenAiBaseUrl,
    /// There is no key and no server.
    Nothing,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Asked => "asked for",
            Self::DormouseBaseUrl => "DORMOUSE_BASE_URL is set",
            Self::OpenAiKey => "OPENAI_API_KEY is set",
            Self::OpenRouterKey => "OPENROUTER_API_KEY is set",
            Self::OpenAiBaseUrl => "OPENAI_BASE_URL is set",
            Self::Nothing => "no key and no server was found",
        })
    }
}

/// Which model to use, and what decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// [`OfflineModel`](crate::OfflineModel).
    Offline {
        /// What decided it.
        because: Found,
    },
    /// An OpenAI-compatible server.
    Server {
        /// Which one, and which model.
        config: OpenAiConfig,
        /// What decided it.
        because: Found,
    },
}

/// A provider was asked for that cannot be used with what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// It wants a key.
    #[error("the provider {provider} needs a key: set {variable}")]
    NoKey {
        /// Which provider.
        provider: ServedBy,
        /// Where its key is looked for.
        variable: &'static str,
    },
    /// It is not known where the server is.
    #[error("the provider local needs a server: set DORMOUSE_BASE_URL")]
    NoServer,
}

pub(crate) const OPENAI: &str = "https://api.openai.com/v1";
const OPENROUTER: &str = "https://openrouter.ai/api/v1";

/// Chooses the provider. The first of these that applies:
///
/// 1. the one asked for by name;
/// 2. `DORMOUSE_BASE_URL`, with `DORMOUSE_API_KEY` if that is set: a server meant for this program;
/// 3. `OPENAI_API_KEY`: OpenAI, or the server that `OPENAI_BASE_URL` names;
/// 4. `OPENROUTER_API_KEY`: OpenRouter;
/// 5. `OPENAI_BASE_URL` without a key: a server that wants none;
/// 6. the offline model.
///
/// A key is only ever sent to the server it belongs to: OpenAI's never to the one `DORMOUSE_BASE_URL` names. Unless
/// a model is asked for it is `gpt-4.1-mini` at OpenAI, `openai/gpt-4.1-mini` at OpenRouter, and `default` at any
/// other server (llama-server takes every name, others want theirs).
///
/// # Errors
///
/// [`ChoiceError`] if a provider was asked for by name and its key or its address is not there. Nothing else fails:
/// a program that was asked for nothing always has the offline model.
///
/// # Examples
///
/// ```
/// # use dormouse_providers::{Available, Choice, Found, choose};
/// let nothing = Available::default();
/// assert_eq!(choose(&nothing), Ok(Choice::Offline { because: Found::Nothing }));
/// ```
pub fn choose(available: &Available) -> Result<Choice, ChoiceError> {
    match available.asked {
        Some(ServedBy::Offline) => Ok(Choice::Offline {
            because: Found::Asked,
        }),
        Some(ServedBy::OpenAi) => openai(available, Found::Asked),
        Some(ServedBy::OpenRouter) => openrouter(available, Found::Asked),
        Some(ServedBy::Local) => local(available, Found::Asked),
        None => first_found(available),
    }
}

fn first_found(available: &Available) -> Result<Choice, ChoiceError> {
    if available.dormouse_base_url.is_some() {
        local(available, Found::DormouseBaseUrl)
    } else if available.openai_api_key.is_some() {
        openai(available, Found::OpenAiKey)
    } else if available.openrouter_api_key.is_some() {
        openrouter(available, Found::OpenRouterKey)
    } else if available.openai_base_url.is_some() {
        local(available, Found::OpenAiBaseUrl)
    } else {
        Ok(Choice::Offline {
            because: Found::Nothing,
        })
    }
}

fn openai(available: &Available, because: Found) -> Result<Choice, ChoiceError> {
    let key = available
        .openai_api_key
        .as_ref()
        .ok_or(ChoiceError::NoKey {
            provider: ServedBy::OpenAi,
            variable: "OPENAI_API_KEY",
        })?;
    let base_url = available.openai_base_url.as_deref();
    let default = if base_url.is_none() {
        "gpt-4.1-mini"
    } else {
        "default"
    };
    Ok(server(
        available,
        ServedBy::OpenAi,
        (base_url.unwrap_or(OPENAI), Some(key)),
        default,
        because,
    ))
}

fn openrouter(available: &Available, because: Found) -> Result<Choice, ChoiceError> {
    let key = available
        .openrouter_api_key
        .as_ref()
        .ok_or(ChoiceError::NoKey {
            provider: ServedBy::OpenRouter,
            variable: "OPENROUTER_API_KEY",
        })?;
    Ok(server(
        available,
        ServedBy::OpenRouter,
        (OPENROUTER, Some(key)),
        "openai/gpt-4.1-mini",
        because,
    ))
}

fn local(available: &Available, because: Found) -> Result<Choice, ChoiceError> {
    let at = match (&available.dormouse_base_url, &available.openai_base_url) {
        (Some(url), _) => (url.as_str(), available.dormouse_api_key.as_ref()),
        (None, Some(url)) => (url.as_str(), available.openai_api_key.as_ref()),
        (None, None) => return Err(ChoiceError::NoServer),
    };
    Ok(server(available, ServedBy::Local, at, "default", because))
}

#[expect(
    clippy::expect_used,
    reason = "the names are constants of this file, and a test makes every one of them"
)]
fn server(
    available: &Available,
    served_by: ServedBy,
    (base_url, key): (&str, Option<&Secret>),
    default_model: &str,
    because: Found,
) -> Choice {
    let model = available.model.clone();
    Choice::Server {
        config: OpenAiConfig {
            provider: ProviderId::try_new(served_by.as_str()).expect("a provider's name is an id"),
            base_url: base_url.to_owned(),
            api_key: key.cloned(),
            model: model.unwrap_or_else(|| {
                ModelName::try_new(default_model).expect("a default model's name is a name")
            }),
        },
        because,
    }
}

#[cfg(test)]
mod tests;
