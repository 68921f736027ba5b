//! The arguments of the tools. Their schemas, which models read, are made from these types.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Talk {
    /// The key of the assistant; not needed if there is only one.
    pub assistant: Option<String>,
    /// What you say.
    pub words: String,
    /// How long to wait for the answer, in seconds.
    #[schemars(range(max = 600))]
    pub wait_seconds: Option<u32>,
    /// A key of your own. The same words with the same key are said once, so a call without an answer is safe to repeat.
    pub key: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Outcome {
    /// The key of the assistant; not needed if there is only one.
    pub assistant: Option<String>,
    /// The number of the message, as `talk` returns it.
    pub message: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Listen {
    /// The key of the assistant; not needed if there is only one.
    pub assistant: Option<String>,
    /// The `next` of the call before this one; otherwise what was said last.
    pub after: Option<u64>,
    /// If nothing was said: how long to wait for it, in seconds.
    #[schemars(range(max = 600))]
    pub wait_seconds: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Recall {
    /// The key of the assistant; not needed if there is only one.
    pub assistant: Option<String>,
    /// The question, or words to look for.
    pub query: String,
    /// How many memories at most.
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Why {
    /// The key of the assistant; not needed if there is only one.
    pub assistant: Option<String>,
    /// The id of a memory, as `recall` returns it.
    pub id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Journal {
    /// The key of the assistant; not needed if there is only one.
    pub assistant: Option<String>,
    /// Words to look for; without them the newest entries.
    pub query: Option<String>,
    /// Only entries of so many last days.
    #[schemars(range(max = 36500))]
    pub days: Option<u32>,
    /// How many entries at most.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Goals {
    /// The key of the assistant; not needed if there is only one.
    pub assistant: Option<String>,
    /// Also those that were closed lately.
    #[serde(default)]
    pub closed: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Whom {
    /// The key of the assistant; not needed if there is only one.
    pub assistant: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Stop {
    /// The key of the assistant; not needed if there is only one.
    pub assistant: Option<String>,
    /// Why, for the log.
    pub reason: String,
}
