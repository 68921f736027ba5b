//! Which providers can be used here.

use dormouse_contracts::invariant;
use dormouse_host::provider::{Findings, ProviderError, open};
use dormouse_providers::{Available, Choice, ChoiceError, Network, Secret, ServedBy, choose};
use serde::Serialize;

use super::context::Context;
use crate::exit::Report;

/// Whether one provider can be used, and why.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "provider")]
pub(super) struct ProviderStatus {
    provider: &'static str,
    usable: bool,
    /// Its address; `None` if it needs no server or cannot be used.
    address: Option<String>,
    /// Where its key was found; never the key.
    key: Option<String>,
    /// Why it cannot be used.
    reason: Option<String>,
}

impl ProviderStatus {
    /// Whether this provider can be used.
    pub(super) fn of(by: ServedBy, found: &Findings, context: &Context) -> Self {
        let status = Self {
            provider: by.as_str(),
            usable: false,
            address: None,
            key: None,
            reason: None,
        };
        match choice_of(by, found) {
            Err(error) => Self {
                reason: Some(Report(&error).to_string()),
                ..status
            },
            Ok(Choice::Offline { .. }) => Self {
                usable: true,
                ..status
            },
            Ok(Choice::Server { config, .. }) => Self {
                usable: true,
                address: Some(config.base_url().to_owned()),
                key: config.api_key().map(|key| key_of(by, key, found, context)),
                ..status
            },
        }
    }

    /// For people.
    pub(super) fn to_text(&self) -> String {
        let what = match (&self.reason, &self.address) {
            (Some(reason), _) => format!("no   {reason}"),
            (None, None) => "yes  needs no key and no server; no language model".to_owned(),
            (None, Some(address)) => {
                let key = match &self.key {
                    Some(place) => format!("key from {place}"),
                    None => "without a key".to_owned(),
                };
                // This is only its usual address: no request was made to check it.
                let is_guess = self.provider == ServedBy::Ollama.as_str();
                let guess = if is_guess { ", if it runs" } else { "" };
                format!("yes  at {address}, {key}{guess}")
            }
        };
        format!("{:<10}  {what}", self.provider)
    }
}

fn choice_of(by: ServedBy, found: &Findings) -> Result<Choice, ProviderError> {
    let available = Available {
        requested: Some(by),
        ..found.available.clone()
    };
    let choice = choose(&available).map_err(|error| match error {
        ChoiceError::NoServer => ProviderError::NoServer,
        error => ProviderError::Choice(error),
    })?;
    // An address with credentials is refused here, so that they are never printed.
    open(&choice, &Network::direct())?;
    Ok(found.with_own_key(choice))
}

/// Where this key was found: in the place that the configuration names, or in a variable.
fn key_of(by: ServedBy, key: &Secret, found: &Findings, context: &Context) -> String {
    let own = found.own_key(by);
    if let Some(place) = own.and(context.config.provider.key_from.as_ref()) {
        return place.value.to_string();
    }
    let Available {
        dormouse_api_key,
        openai_api_key,
        anthropic_api_key,
        openrouter_api_key,
        ..
    } = &found.available;
    let variables = [
        ("DORMOUSE_API_KEY", dormouse_api_key),
        ("OPENAI_API_KEY", openai_api_key),
        ("ANTHROPIC_API_KEY", anthropic_api_key),
        ("OPENROUTER_API_KEY", openrouter_api_key),
    ];
    // Two variables may hold the same key. The first, DORMOUSE_API_KEY, is only for a local server.
    let mut with_key = variables
        .into_iter()
        .filter(|(_, other)| other.as_ref() == Some(key))
        .map(|(name, _)| name);
    let first = with_key.next();
    let name = match by {
        ServedBy::Local => first,
        _ => with_key.next().or(first),
    };
    let name = invariant!(
        name,
        "a key comes from the configuration or from a variable"
    );
    context.environment.variable_for(name)
}
