//! `[provider]`: which model answers, and its settings.

use std::{collections::BTreeMap, path::PathBuf};

use dormouse_contracts::{ModelName, Purpose, ReasoningEffort};
use dormouse_engine::ToolCalling;
use dormouse_providers::{
    GuardedModel, ModelRef, NetworkTimeouts, SecretSource, ServedBy, ServedByError,
    ServerConfigError, check_base_url,
};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Map, Value};

use super::{
    located::Located,
    numbers::{AMinute, AtOnce, MaxTokens, Seconds, Temperature, TopP},
    section::section,
    sections::engine,
    values::has_null,
    words,
};

section! {
    /// `[provider]`: which model answers. A key is not a setting, but the place where it is kept is.
    pub struct ProviderSection {
        /// Who serves the model
        #[serde(deserialize_with = "kind")]
        #[schemars(schema_with = "words::kind", extend(
            "x-alias" = "llm_provider", "x-unset" = "the first that the environment offers; see \"The provider\"", "x-example" = "local",
        ))]
        kind: Option<ServedBy> = None,
        /// The model, as the provider names it
        #[schemars(with = "String", extend(
            "x-alias" = "llm_model", "x-unset" = "the provider's usual one", "x-example" = "llama3.2",
        ))]
        model: Option<ModelName> = None,
        /// The server of the provider; not for openrouter and offline
        #[schemars(with = "String", extend(
            "x-alias" = "llm_api_url", "x-may-hold-a-key" = "in an address", "x-unset" = "the provider's own",
            "x-example" = "http://127.0.0.1:8080/v1",
        ))]
        base_url: Option<Located<String>> = None,
        /// Where the key of this provider is: "env:NAME", "file:PATH" or "keyring:SERVICE/USER"
        #[schemars(with = "String", extend(
            "x-may-hold-a-key" = "always", "x-unset" = "the environment; see \"Keys\"", "x-example" = "env:MY_KEY",
        ))]
        key_from: Option<Located<SecretSource>> = None,
        /// How tools are offered. native: through the provider's interface; fallback: as JSON in the text
        #[schemars(schema_with = "words::tool_calling", extend(
            "x-unset" = "what the program has learnt about this model; see \"How tools are offered\"", "x-example" = "fallback",
        ))]
        tool_calling: Option<ToolCalling> = None,
        /// How varied replies are
        #[schemars(with = "Temperature", extend(
            "x-alias" = "llm_temperature", "x-when" = "next_tick", "x-unset" = "the model's own", "x-example" = 0.7,
        ))]
        temperature: Option<Temperature> = None,
        /// Nucleus sampling
        #[schemars(with = "TopP", extend(
            "x-alias" = "llm_top_p", "x-when" = "next_tick", "x-unset" = "the model's own", "x-example" = 0.9,
        ))]
        top_p: Option<TopP> = None,
        /// Tokens of one reply
        #[schemars(with = "MaxTokens", extend(
            "x-alias" = "llm_max_tokens", "x-when" = "next_tick", "x-unset" = "the model's own limit", "x-example" = 1024,
        ))]
        max_tokens: Option<MaxTokens> = None,
        /// How much the model thinks
        #[schemars(schema_with = "words::reasoning_effort", extend(
            "x-alias" = "llm_reasoning_effort", "x-when" = "next_tick", "x-unset" = "the model's own",
            "x-example" = "low",
        ))]
        reasoning_effort: Option<ReasoningEffort> = None,
        /// Further parameters of every request, in the provider's own words
        #[serde(deserialize_with = "extra")]
        #[schemars(extend(
            "default" = {}, "x-alias" = "llm_extra_params", "x-may-hold-a-key" = "always", "x-example" = {"seed": 7},
        ))]
        extra: Map<String, Value> = Map::new(),
        /// Time for one attempt of a model call
        timeout: Seconds = Seconds(GuardedModel::DEFAULT_DEADLINE),
        /// Longest wait until a server begins to answer; raise it for a slow server
        first_byte_timeout: Seconds = Seconds(NetworkTimeouts::default().first_byte),
        /// Longest silence between two pieces of an answer
        between_bytes_timeout: Seconds = Seconds(NetworkTimeouts::default().between_bytes),
        /// A failed call of the model is not tried again if this time has passed since its first attempt began
        #[schemars(extend("x-when" = "next_tick"))]
        retry_for: Seconds = Seconds(engine().retry_for),
        /// Additional certificate authorities, as PEM; relative to the working directory
        #[schemars(with = "String", extend("x-unset" = "the system's own", "x-example" = "own-ca.pem"))]
        certificates: Option<Located<PathBuf>> = None,
        /// Sent to OpenRouter
        #[schemars(with = "String", extend("x-alias" = "llm_app_name", "x-unset" = "nothing", "x-example" = "Tea-house"))]
        app_name: Option<String> = None,
        /// Sent to OpenRouter
        #[schemars(with = "String", extend(
            "x-alias" = "llm_site_url", "x-unset" = "nothing", "x-example" = "https://example.com",
        ))]
        site_url: Option<String> = None,
        /// Maximum number of requests in a minute
        #[schemars(with = "AMinute", extend(
            "x-unset" = "the limit that the provider reports in its answers", "x-example" = 60,
        ))]
        requests_per_minute: Option<AMinute> = None,
        /// Maximum number of tokens in a minute
        #[schemars(with = "AMinute", extend(
            "x-unset" = "the limit that the provider reports in its answers", "x-example" = 90000,
        ))]
        tokens_per_minute: Option<AMinute> = None,
        /// Concurrent requests
        #[schemars(with = "AtOnce", extend("x-unset" = "no limit", "x-example" = 4))]
        at_once: Option<AtOnce> = None,
        /// Models that answer while the first is unavailable
        #[serde(deserialize_with = "model_refs")]
        #[schemars(with = "Vec<String>", extend(
            "default" = [], "x-may-hold-a-key" = "always",
            "x-example" = ["anthropic:claude-haiku-4-5", "ollama:llama3.2@http://127.0.0.1:11434"],
        ))]
        fallbacks: Vec<ModelRef> = Vec::new(),
        /// Which models may be asked in a turn that nobody waits for, such as a turn for a goal. first: only the first of the list; any: all of the list
        #[schemars(schema_with = "words::heartbeats", extend("default" = "first"))]
        heartbeats: HeartbeatPolicy = HeartbeatPolicy::First,
        /// Other models for one purpose: answer, heartbeat, compaction, scoring, assessment or consolidation
        #[serde(deserialize_with = "uses")]
        #[schemars(schema_with = "words::uses", extend(
            "default" = {}, "x-may-hold-a-key" = "always", "x-example" = {"scoring": ["ollama:llama3.2"]},
        ))]
        uses: BTreeMap<Purpose, Vec<ModelRef>> = BTreeMap::new(),
    }
}

impl ProviderSection {
    /// Why the base URL cannot be used; `None` if it can. For Ollama a host name is enough, as in `OLLAMA_HOST`.
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
pub enum HeartbeatPolicy {
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
    if extra.values().any(has_null) {
        return Err(Error::custom("nan and inf cannot be sent to a provider"));
    }
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
