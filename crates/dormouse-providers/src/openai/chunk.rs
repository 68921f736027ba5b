//! One event of a streamed reply, read with as few expectations as possible.
//!
//! Servers differ: content that is null, indices and ids left out, usage in an event without choices, arguments as
//! an object, fields nobody has heard of. Whatever has another type than expected counts as absent.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// One event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    #[serde(deserialize_with = "or_default")]
    pub(super) choices: Vec<Choice>,
    #[serde(deserialize_with = "or_default")]
    pub(super) usage: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    pub(super) model: Option<String>,
    pub(super) error: Option<Value>,
}

/// One of the replies that are streamed; only the first is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    #[serde(deserialize_with = "or_default")]
    pub(super) index: u64,
    #[serde(deserialize_with = "or_default")]
    pub(super) delta: Delta,
    #[serde(deserialize_with = "or_default")]
    pub(super) finish_reason: Option<String>,
}

/// What is new.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    #[serde(deserialize_with = "or_default")]
    pub(super) content: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) refusal: Option<String>,
    /// llama-server's and others' name for thoughts.
    #[serde(deserialize_with = "or_default")]
    pub(super) reasoning_content: Option<String>,
    /// OpenRouter's.
    #[serde(deserialize_with = "or_default")]
    pub(super) reasoning: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) tool_calls: Vec<CallPiece>,
}

/// What is new about a tool call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallPiece {
    #[serde(deserialize_with = "or_default")]
    pub(super) index: Option<u64>,
    #[serde(deserialize_with = "or_default")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) function: FunctionPiece,
}

/// Its name, or more of its arguments.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionPiece {
    #[serde(deserialize_with = "or_default")]
    pub(super) name: Option<String>,
    pub(super) arguments: Option<Value>,
}

/// The value, or the default where it has another type.
fn or_default<'de, D: Deserializer<'de>, T: serde::de::DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}
