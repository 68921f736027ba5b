//! The key that the configuration tells, and whose it is.

use dormouse_providers::{Available, Choice, Environment, Secret, ServedBy};

use super::{Findings, ProviderError};
use crate::{args::ProviderFlags, config::ProviderSection};

/// A key of one provider.
#[derive(Clone, Debug)]
pub(super) struct OwnKey {
    pub(super) of: ServedBy,
    pub(super) key: Secret,
}

/// The key in the configuration: of the provider that stands there, at the server that stands there. A server that a flag
/// names in its place gets none of it.
pub(super) fn own(
    flags: &ProviderFlags,
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
        (None, None) => return Err(ProviderError::KeyOfNobody),
    };
    let is_asked = asked.unwrap_or(ServedBy::Local) == of;
    let address_stays = match is_asked {
        true => flags.base_url.is_none() || flags.base_url == section.base_url,
        // The address that stands beside the key is not looked at then.
        false => section.base_url.is_none(),
    };
    if !address_stays {
        return Ok(None);
    }
    let key = environment.key_from(place);
    let key = key.map_err(ProviderError::KeyFrom)?;
    Ok(key.map(|key| OwnKey { of, key }))
}

/// Puts the key where it is looked for, before any that the environment has.
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

/// The same choice with the key that belongs to it.
pub(super) fn given(found: &Findings, choice: Choice) -> Choice {
    match (choice, &found.own_key) {
        (Choice::Server { config, because }, Some(own))
            if config.provider().as_str() == own.of.as_str() =>
        {
            let config = config.with_key(own.key.clone());
            Choice::Server { config, because }
        }
        (choice, _) => choice,
    }
}
