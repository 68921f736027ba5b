//! The key that the configuration names, and the provider that it belongs to.

use dormouse_providers::{Available, Choice, Environment, Secret, ServedBy};

use super::{error::ProviderError, selection::ModelSelection};
use crate::config::ProviderSection;

/// A key of one provider.
#[derive(Clone, Debug)]
pub(super) struct OwnKey {
    pub(super) of: ServedBy,
    pub(super) key: Secret,
}

/// Reads the key of the configured provider, for the configured server. If a flag names another server, that server
/// does not get the key.
pub(super) fn own(
    flags: &ModelSelection,
    section: &ProviderSection,
    environment: &Environment,
    asked: Option<ServedBy>,
) -> Result<Option<OwnKey>, ProviderError> {
    let Some(place) = &section.key_from else {
        return Ok(None);
    };
    let of = match (section.kind, &section.base_url) {
        (Some(kind), _) => kind,
        (None, Some(_)) => ServedBy::Local,
        (None, None) => {
            return Err(ProviderError::KeyOfNobody {
                place: place.place().to_owned(),
            });
        }
    };
    let is_asked = asked.unwrap_or(ServedBy::Local) == of;
    let address_stays = match is_asked {
        true => {
            let written = section.base_url.as_ref().map(|url| &url.value);
            flags.base_url.is_none() || flags.base_url.as_ref() == written
        }
        // Another provider is used, not the configured one, so the key would go to the wrong server.
        false => section.base_url.is_none(),
    };
    if !address_stays {
        return Ok(None);
    }
    let key = environment.key_from(&place.value);
    let key = key.map_err(|source| ProviderError::KeyFrom {
        place: place.place().to_owned(),
        source,
    })?;
    Ok(key.map(|key| OwnKey { of, key }))
}

/// Stores the key in the field of its provider, in place of a key from the environment.
pub(super) fn put(available: &mut Available, own: &OwnKey) {
    let place = match own.of {
        ServedBy::OpenAi => &mut available.openai_api_key,
        ServedBy::Anthropic => &mut available.anthropic_api_key,
        ServedBy::OpenRouter => &mut available.openrouter_api_key,
        ServedBy::Local => &mut available.dormouse_api_key,
        _ => return,
    };
    *place = Some(own.key.clone());
}

/// The same choice with this key, if the key belongs to its provider.
pub(super) fn with_own_key(own_key: Option<&OwnKey>, choice: Choice) -> Choice {
    match (choice, own_key) {
        (Choice::Server { config, reason }, Some(own))
            if config.provider().as_str() == own.of.as_str() =>
        {
            let config = config.with_key(own.key.clone());
            Choice::Server { config, reason }
        }
        (choice, _) => choice,
    }
}
