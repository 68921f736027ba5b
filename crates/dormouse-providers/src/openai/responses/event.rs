//! One event of a streamed response, read with as few expectations as possible.

use serde::Deserialize;
use serde_json::Value;

use crate::stream::or_default;

/// One event. What has another type than expected counts as absent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResponsesEvent {
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub(super) kind: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) output_index: Option<u64>,
    #[serde(deserialize_with = "or_default")]
    pub(super) item_id: Option<String>,
    /// More of a text or of arguments.
    #[serde(deserialize_with = "or_default")]
    pub(super) delta: Option<String>,
    /// All of the arguments.
    #[serde(deserialize_with = "or_default")]
    pub(super) arguments: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) item: Option<Item>,
    #[serde(deserialize_with = "or_default")]
    pub(super) response: Option<Response>,
}

/// A part of what the model put out.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item {
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub(super) kind: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) call_id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) arguments: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) content: Vec<Part>,
}

/// A part of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    #[serde(deserialize_with = "or_default")]
    pub(super) text: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) refusal: Option<String>,
}

/// What is known of the whole.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Response {
    #[serde(deserialize_with = "or_default")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) model: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) status: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) usage: Option<Value>,
    pub(super) error: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    pub(super) incomplete_details: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    pub(super) output: Vec<Item>,
}
