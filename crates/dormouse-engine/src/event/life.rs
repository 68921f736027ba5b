//! The configuration of an assistant, and when it woke.

use dormouse_contracts::{ModelName, ProviderId, ServiceName, ToolName, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::Settings;

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// What decisions read in addition to the events. Written when an assistant wakes and something differs from the log.
/// Absent parts are unchanged. It contains no key, and no address with credentials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Configured {
    /// The program that decides from here on, with its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Who the assistant is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// The operator's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Box<Settings>>,
    /// The model whose tokens are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ConfiguredModel>,
    /// The services that answer for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub services: Option<Vec<ServiceName>>,
    /// The names of all tools, in the order in which they are offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolName>>,
    /// Those tools that are new, or differ from the tool of the same name before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub specs: Vec<ToolSpec>,
    /// How many tokens instructions and tools take in a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preamble_tokens: Option<u32>,
}

/// A model and its provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfiguredModel {
    /// Who serves it.
    pub provider: ProviderId,
    /// Its name there.
    pub name: ModelName,
}

/// An assistant woke while somebody waited for it. Written together with the next event, with the time of waking. It
/// marks that earlier work under way has ended, and that the time in which the program was off does not count as
/// waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Woke {}

/// An operator changed a setting of this assistant, in addition to the configuration that the program was started with.
/// It applies from the next tick on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingChanged {
    /// Its name, as in `limits.tick_rate`.
    pub setting: String,
    /// The former value, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// The new value; absent if the value of the configuration applies again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// Who changed it.
    pub by: String,
}
