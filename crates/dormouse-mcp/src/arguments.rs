//! The arguments of the tools. Their schemas, which models read, are made from these types.

use std::collections::BTreeSet;

use dormouse_memory::RecordKind;
use schemars::JsonSchema;
use serde::Deserialize;

/// The most tokens of one answer.
pub(crate) const MOST_TOKENS: u32 = 16_384;
const USUAL_TOKENS: u32 = 512;

fn usual_tokens() -> u32 {
    USUAL_TOKENS
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Remember {
    /// The text. What somebody said is best kept in their own words.
    pub text: String,
    /// The name of the person who said it. Without it, the text counts as a note of your own.
    pub said_by: Option<String>,
    /// The id of that person, if you have one, such as "person:alice". It tells two people of one name apart.
    pub speaker: Option<String>,
    /// What kind of text it is.
    #[serde(default)]
    pub kind: Kind,
    /// The conversation it belongs to.
    pub thread: Option<String>,
    /// When it was said or happened, such as "2026-11-29T10:00:00Z"; otherwise now.
    pub at: Option<String>,
    /// The ids of all who heard it. Without this, the `speaker` alone, and without one nobody.
    pub known_to: Option<BTreeSet<String>>,
    /// How far it is believed, from 0 to 1. The operator's limit is not exceeded.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub trust: Option<f32>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: BTreeSet<String>,
    /// A key of your own. A second text with the same key is not stored.
    pub key: Option<String>,
}

/// What kind of memory a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Something that was said or that happened.
    #[default]
    Event,
    /// Something that is true.
    Fact,
    /// What somebody likes or wants.
    Preference,
    /// What somebody wants to be done from now on.
    Instruction,
    /// A conclusion.
    Insight,
}

impl From<Kind> for RecordKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Event => Self::Event,
            Kind::Fact => Self::Fact,
            Kind::Preference => Self::Preference,
            Kind::Instruction => Self::Instruction,
            Kind::Insight => Self::Insight,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recall {
    /// The question, or words to look for.
    pub query: String,
    /// How many tokens the recalled lines may take, without their ids.
    #[serde(default = "usual_tokens")]
    #[schemars(range(min = 1, max = 16_384))]
    pub tokens: u32,
    /// The ids of all who will learn the answer. Only what each of them heard is recalled. Without this, everything is.
    pub listeners: Option<BTreeSet<String>>,
    /// The id of the person who asks, for words such as "my".
    pub asked_by: Option<String>,
    /// Only these kinds; otherwise all.
    #[serde(default)]
    pub kinds: Vec<Kind>,
    /// Nothing older than this time.
    pub since: Option<String>,
    /// Nothing of this time or newer.
    pub before: Option<String>,
    /// Only what is believed at least so far, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_trust: Option<f32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Why {
    /// The id of a memory, as `recall` returns it.
    pub id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forget {
    /// The id of a memory, as `recall` returns it.
    pub id: String,
    /// Why, for the record.
    pub reason: Option<String>,
    /// Remove its text for good. Otherwise it is only not recalled, until `restore`.
    #[serde(default)]
    pub for_good: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Restore {
    /// The id of a memory that was forgotten.
    pub id: String,
    /// Why, for the record.
    pub reason: Option<String>,
}
