//! `[provider]`: which model answers, and its settings.

use std::{collections::BTreeMap, path::PathBuf};

use dormouse_contracts::{ModelName, Purpose, ReasoningEffort};
use dormouse_engine::ToolCalling;
use dormouse_providers::{
    ModelRef, SecretSource, ServedBy, ServedByError, ServerConfigError, check_base_url,
};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Map, Value};

use super::{
    located::Located,
    numbers::{AMinute, AtOnce, MaxTokens, Seconds, Temperature, TopP},
};

/// `[provider]`. Keys are not among its fields, only the place of one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ProviderSection {
    #[serde(deserialize_with = "kind")]
    pub(crate) kind: Option<ServedBy>,
    pub(crate) model: Option<ModelName>,
    pub(crate) base_url: Option<Located<String>>,
    pub(crate) key_from: Option<Located<SecretSource>>,
    pub(crate) tool_calling: Option<ToolCalling>,
    pub(crate) temperature: Option<Temperature>,
    pub(crate) top_p: Option<TopP>,
    pub(crate) max_tokens: Option<MaxTokens>,
    pub(crate) reasoning_effort: Option<ReasoningEffort>,
    #[serde(deserialize_with = "extra")]
    pub(crate) extra: Map<String, Value>,
    pub(crate) timeout: Option<Seconds>,
    pub(crate) first_byte_timeout: Option<Seconds>,
    pub(crate) between_bytes_timeout: Option<Seconds>,
    pub(crate) retry_for: Option<Seconds>,
    pub(crate) certificates: Option<Located<PathBuf>>,
    pub(crate) app_name: Option<String>,
    pub(crate) site_url: Option<String>,
    pub(crate) requests_per_minute: Option<AMinute>,
    pub(crate) tokens_per_minute: Option<AMinute>,
    pub(crate) at_once: Option<AtOnce>,
    #[serde(deserialize_with = "model_refs")]
    pub(crate) fallbacks: Vec<ModelRef>,
    pub(crate) heartbeats: HeartbeatPolicy,
    #[serde(deserialize_with = "uses")]
    pub(crate) uses: BTreeMap<Purpose, Vec<ModelRef>>,
}

impl ProviderSection {
    /// Why the base URL cannot be used. Ollama takes a host alone, as `OLLAMA_HOST` does.
    pub(super) fn wrong_base_url(&self) -> Option<(&Located<String>, ServerConfigError)> {
        let base_url = self.base_url.as_ref()?;
        let is_host = self.kind == Some(ServedBy::Ollama) && !base_url.value.contains("://");
        let error = check_base_url(&base_url.value).err()?;
        (!is_host).then_some((base_url, error))
    }
}

/// Which models may answer heartbeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HeartbeatPolicy {
    /// The first model of the list.
    #[default]
    First,
    /// Any of them.
    Any,
}

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ServedBy>, D::Error> {
    served_by(deserializer).map(Some)
}

/// Reads the name of a provider.
pub(super) fn served_by<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ServedBy, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map_err(|_unknown: ServedByError| {
        let names = ServedBy::ALL.map(ServedBy::as_str).join(", ");
        Error::custom(format_args!("expected one of {names}"))
    })
}

fn model_refs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ModelRef>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    let references = names.iter().map(|name| name.parse());
    references.collect::<Result<_, _>>().map_err(Error::custom)
}

/// A list of models, as written.
#[derive(Deserialize)]
struct ModelRefs(#[serde(deserialize_with = "model_refs")] Vec<ModelRef>);

fn uses<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<Purpose, Vec<ModelRef>>, D::Error> {
    let lists = BTreeMap::<Purpose, ModelRefs>::deserialize(deserializer)?;
    if let Some((purpose, _)) = lists.iter().find(|(_, ModelRefs(list))| list.is_empty()) {
        return Err(Error::custom(format_args!(
            "the list for {purpose} is empty; expected at least one model"
        )));
    }
    Ok(lists
        .into_iter()
        .map(|(purpose, ModelRefs(list))| (purpose, list))
        .collect())
}

/// Further parameters. Keys are not accepted here either.
fn extra<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    let extra = Map::<String, Value>::deserialize(deserializer)?;
    let is_key = |name: &&String| {
        let name = name.to_ascii_lowercase();
        let words = [
            "api_key",
            "apikey",
            "api-key",
            "secret",
            "password",
            "authorization",
        ];
        name == "key" || words.iter().any(|word| name.contains(word))
    };
    match extra.keys().find(is_key) {
        Some(name) => Err(Error::custom(format_args!(
            "{name} looks like a key, and keys do not belong in this file; see key_from"
        ))),
        None => Ok(extra),
    }
}
