//! One event of a streamed reply, read with as few expectations as possible.
//!
//! Whatever has another type than expected counts as absent: servers that are not Anthropic's leave things out.

use serde::Deserialize;
use serde_json::Value;

use crate::stream::or_default;

/// One event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Said {
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub(super) kind: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) index: Option<u64>,
    #[serde(deserialize_with = "or_default")]
    pub(super) message: Message,
    #[serde(deserialize_with = "or_default")]
    pub(super) content_block: ContentBlock,
    #[serde(deserialize_with = "or_default")]
    pub(super) delta: Delta,
    pub(super) usage: Value,
    pub(super) error: Value,
}

/// The reply as it begins.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    #[serde(deserialize_with = "or_default")]
    pub(super) id: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) model: String,
    pub(super) usage: Value,
    /// All of it, where it does not come in pieces.
    #[serde(deserialize_with = "or_default")]
    pub(super) content: Vec<ContentBlock>,
    #[serde(deserialize_with = "or_default")]
    pub(super) stop_reason: String,
}

/// A block as it begins.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ContentBlock {
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub(super) kind: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) text: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) thinking: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) id: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    pub(super) input: Value,
}

/// What is new, of a block or of the whole.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub(super) kind: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) text: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) thinking: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) partial_json: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) stop_reason: String,
}
