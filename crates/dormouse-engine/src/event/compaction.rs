//! Earlier turns that a prompt shows shorter, and the summaries in their place.

use dormouse_contracts::{
    Audience, ChatReply, ModelErrorKind, ModelName, Seq, Sources, Timestamp, Trust,
};
use serde::{Deserialize, Serialize};

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// From here on, prompts show these earlier turns shorter. The log and the memory keep all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compacted {
    /// Why it was done.
    pub mode: CompactionMode,
    /// How many tokens the prompt would have taken with the whole history.
    pub before: u32,
    /// How many it takes now, without summaries that are not written yet.
    pub after: u32,
    /// The size of the context window, in tokens: the configured one, or less if a smaller limit was learnt.
    pub window: u32,
    /// The turns whose results are shown as one line each, by what called for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<Seq>,
    /// The turns that are not shown any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<HistorySpan>,
    /// What came of the look for facts before it, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extraction: Option<FactsBefore>,
}

/// Why earlier turns are shown shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompactionMode {
    /// The prompt for a message would fill the context window.
    Emergency,
    /// Nobody waits, and there will be little room.
    Planned,
}

/// Earlier turns that are left out together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistorySpan {
    /// The first event of the first turn.
    pub from: Seq,
    /// The last event of the last turn that the turns themselves name.
    pub to: Seq,
    /// The turns, by what called for them, oldest first.
    pub turns: Vec<Seq>,
    /// Whether a summary is to be shown in their place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_to_be_summarized: bool,
}

/// What came of the look for facts before turns are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FactsBefore {
    /// All that was heard was read, and this many facts were added.
    Added(u64),
    /// The most requests were made, and this many facts were added. The next look goes on from there.
    Partly(u64),
    /// The model or the memory failed. What was heard is read another time.
    Failed,
}

/// A model summed up earlier turns. The summary is shown in their place to everybody who perceived all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistorySummarized {
    /// The turns.
    pub span: HistorySpan,
    /// The model that answered.
    pub model: ModelName,
    /// The reply, as it came.
    pub reply: ChatReply,
    /// How many tokens the reply takes, as the engine counts them.
    pub tokens: u32,
    /// The beginning of the reply that is shown.
    pub text: String,
    /// How many tokens the summary takes in a prompt.
    pub shown_tokens: u32,
    /// How many tokens the prompt took.
    pub prompt_tokens: u32,
    /// What the model was shown: a hash, as in `replied`.
    pub prompt_hash: String,
    /// How long the call took, in milliseconds.
    pub duration_ms: f64,
    /// How far it is believed: as the least trusted of what it was made of.
    pub trust: Trust,
    /// Who perceived all of the turns, other than the assistant.
    pub audience: Audience,
    /// What it was made of.
    pub sources: Sources,
}

/// Earlier turns were not summed up. They stay left out, and can be recalled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryFailed {
    /// The turns, by the first event of their span.
    pub from: Seq,
    /// Why.
    pub cause: SummaryFailure,
    /// When it is tried again at the earliest. After three failures it is not.
    pub retry_at: Timestamp,
}

/// Why a summary failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SummaryFailure {
    /// The model gave no reply.
    Model(ModelErrorKind),
    /// The reply holds no words.
    Empty,
    /// None of the turns is kept any more, or none of them says anything that may be summed up.
    NothingToShow,
}

impl SummaryFailure {
    /// How the model failed; `None` if it replied, or was not asked.
    pub(crate) fn of_model(self) -> Option<ModelErrorKind> {
        match self {
            Self::Model(kind) => Some(kind),
            Self::Empty | Self::NothingToShow => None,
        }
    }
}
