//! Addresses, keys and default models of the providers.

use std::net::Ipv6Addr;

use dormouse_contracts::ModelName;

use super::{Available, ChoiceError, ServedBy};
use crate::Secret;

pub(crate) const OPENAI: &str = "https://api.openai.com/v1";
const ANTHROPIC: &str = "https://api.anthropic.com";
const OPENROUTER: &str = "https://openrouter.ai/api/v1";

/// The address, key and default model of a provider.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) base_url: String,
    pub(crate) api_key: Option<Secret>,
    pub(crate) default_model: ModelName,
}

impl Endpoint {
    /// Returns the provider's endpoint; `None` if it needs no server.
    pub(crate) fn of(
        served_by: ServedBy,
        available: &Available,
    ) -> Result<Option<Self>, ChoiceError> {
        Ok(Some(match served_by {
            ServedBy::OpenAi => Self {
                api_key: Some(key_for(served_by, available)?.clone()),
                ..Self::vendor(OPENAI, available.openai_base_url.as_ref(), "gpt-4.1-mini")
            },
            ServedBy::Anthropic => {
                let own = available.anthropic_base_url.as_ref();
                Self {
                    api_key: Some(key_for(served_by, available)?.clone()),
                    ..Self::vendor(ANTHROPIC, own, "claude-haiku-4-5")
                }
            }
            ServedBy::OpenRouter => Self {
                api_key: Some(key_for(served_by, available)?.clone()),
                ..Self::vendor(OPENROUTER, None, "openai/gpt-4.1-mini")
            },
            ServedBy::Ollama => Self::ollama(available),
            ServedBy::Local => Self::local(available)?,
            ServedBy::Offline => return Ok(None),
        }))
    }

    /// Returns a vendor's endpoint, or that of a compatible server at `elsewhere`. Compatible servers usually accept
    /// the model name `default`.
    fn vendor(base_url: &str, elsewhere: Option<&String>, default_model: &str) -> Self {
        let default_model = match elsewhere {
            None => default_model,
            Some(_) => "default",
        };
        Self {
            base_url: elsewhere.map_or(base_url, String::as_str).to_owned(),
            api_key: None,
            default_model: name(default_model),
        }
    }

    fn ollama(available: &Available) -> Self {
        let host = available.ollama_host.as_deref();
        let models = available.ollama_answers.as_ref();
        let first = models.and_then(|models| models.first());
        Self {
            base_url: ollama_url(host.unwrap_or_default()),
            api_key: None,
            default_model: first.cloned().unwrap_or_else(|| name("llama3.2")),
        }
    }

    fn local(available: &Available) -> Result<Self, ChoiceError> {
        let own = (&available.dormouse_base_url, &available.dormouse_api_key);
        let other = (&available.openai_base_url, &available.openai_api_key);
        let (base_url, key) = if own.0.is_some() { own } else { other };
        let base_url = base_url.as_ref().ok_or(ChoiceError::NoServer)?;
        Ok(Self {
            base_url: base_url.clone(),
            api_key: key.clone(),
            default_model: name("default"),
        })
    }
}

/// Returns the vendor's key, which is required.
fn key_for(served_by: ServedBy, available: &Available) -> Result<&Secret, ChoiceError> {
    let (key, variable) = match served_by {
        ServedBy::Anthropic => (&available.anthropic_api_key, "ANTHROPIC_API_KEY"),
        ServedBy::OpenRouter => (&available.openrouter_api_key, "OPENROUTER_API_KEY"),
        ServedBy::OpenAi | ServedBy::Ollama | ServedBy::Local | ServedBy::Offline => {
            (&available.openai_api_key, "OPENAI_API_KEY")
        }
    };
    key.as_ref().ok_or(ChoiceError::NoKey {
        provider: served_by,
        variable,
    })
}

/// Returns the key that belongs to exactly this address.
pub(crate) fn key_of<'a>(available: &'a Available, url: &str) -> Option<&'a Secret> {
    let is = |other: Option<&str>| other.is_some_and(|other| is_same(other, url));
    let or = |own: &Option<String>, vendor: &'static str| match own {
        None => is(Some(vendor)),
        own => is(own.as_deref()),
    };
    let key = if is(available.dormouse_base_url.as_deref()) {
        &available.dormouse_api_key
    } else if or(&available.openai_base_url, OPENAI) {
        &available.openai_api_key
    } else if or(&available.anthropic_base_url, ANTHROPIC) {
        &available.anthropic_api_key
    } else if is(Some(OPENROUTER)) {
        &available.openrouter_api_key
    } else {
        return None;
    };
    key.as_ref()
}

/// Whether both are addresses of the same server.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    bare(one) == bare(other)
}

/// Removes the optional parts of an address.
fn bare(url: &str) -> &str {
    let url = url.trim().trim_end_matches('/');
    url.strip_suffix("/v1").unwrap_or(url)
}

/// Parses `OLLAMA_HOST` by Ollama's rules: a host, a port, both, or a URL. An address for all interfaces means this
/// machine.
pub(crate) fn ollama_url(host: &str) -> String {
    let text = host.trim().trim_end_matches('/');
    let (scheme, rest, port) = match text.split_once("://") {
        Some((scheme, rest)) => (scheme, rest, ""),
        None => ("http", text, ":11434"),
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = match authority.rsplit_once(':') {
        _ if authority.parse::<Ipv6Addr>().is_ok() => (format!("[{authority}]"), port.to_owned()),
        Some((host, number)) if !number.ends_with(']') => (host.to_owned(), format!(":{number}")),
        _ => (authority.to_owned(), port.to_owned()),
    };
    let host = match &*host {
        "" | "0.0.0.0" => "127.0.0.1",
        "[::]" => "[::1]",
        host => host,
    };
    format!("{scheme}://{host}{port}{path}")
}

#[expect(
    clippy::expect_used,
    reason = "the names are constants of this crate, and tests create all of them"
)]
pub(crate) fn name(name: &str) -> ModelName {
    ModelName::try_new(name).expect("a default model has a valid name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_host_is_parsed_like_ollama_parses_it() {
        for (host, url) in [
            ("", "http://127.0.0.1:11434"),
            (":8080", "http://127.0.0.1:8080"),
            ("10.0.0.1", "http://10.0.0.1:11434"),
            ("0.0.0.0:11434", "http://127.0.0.1:11434"),
            (" example.com:56789/ ", "http://example.com:56789"),
            ("example.com/ollama", "http://example.com:11434/ollama"),
            ("::1", "http://[::1]:11434"),
            ("[::1]", "http://[::1]:11434"),
            ("[::]:8080", "http://[::1]:8080"),
            ("http://0.0.0.0:11434", "http://127.0.0.1:11434"),
            ("https://example.com", "https://example.com"),
        ] {
            assert_eq!(ollama_url(host), url, "{host}");
        }
    }
}
