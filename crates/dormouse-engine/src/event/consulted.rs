//! Replies of a model that are not part of a turn.

use dormouse_contracts::{Author, ChatReply, EntityId, ModelErrorKind, ModelName, Origin, Seq};
use dormouse_entities::ConsolidationPolicy;
use dormouse_journal::EntryId;
use dormouse_memory::{Comparison, write::ExtractionSettings};
use serde::{Deserialize, Serialize};

/// The model was consulted about memories, and replied. The result of the reply is an event of its own, so a reply that came
/// before a crash is not paid for again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Consulted {
    /// What it was asked.
    pub about: Consultation,
    /// The model that answered.
    pub model: ModelName,
    /// The reply, as it came.
    pub reply: ChatReply,
    /// How many tokens the reply takes, as the engine counts them.
    pub tokens: u32,
    /// How many tokens the prompt took, counted in the same way.
    pub prompt_tokens: u32,
    /// What the model was shown: a hash, as in `replied`.
    pub prompt_hash: String,
    /// How long the call took, retries included, in milliseconds.
    pub duration_ms: f64,
    /// The last event that the request was made from, since others may have happened while the model was asked. Absent in older logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_from: Option<Seq>,
}

/// What a model was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "purpose")]
#[non_exhaustive]
pub enum Consultation {
    /// Which facts these records hold.
    Extraction {
        /// The records.
        records: Vec<Origin>,
    },
    /// What becomes of the doubtful facts in the reply of an earlier event.
    Judgement {
        /// The event.
        extraction: Seq,
        /// What the facts were compared with. Absent in older logs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compared: Option<Comparison>,
    },
    /// Which attributes follow from these observations.
    EntityConsolidation {
        /// Of whom.
        entity: EntityId,
        /// The numbers of the observations.
        observations: Vec<u64>,
    },
    /// How important these entries of the journal are.
    Scoring {
        /// The entries.
        entries: Vec<EntryId>,
    },
    /// Which questions these entries of the journal raise.
    Questions {
        /// The entries.
        entries: Vec<EntryId>,
    },
    /// What can be concluded about these questions.
    Insights {
        /// The evidence that was found for them.
        evidence: Vec<Origin>,
    },
}

impl Consultation {
    /// Its name for users: `extraction`, `judgement`, `entity_consolidation`, `scoring`, `questions`, `insights`.
    #[must_use]
    pub fn purpose(&self) -> &'static str {
        match self {
            Self::Extraction { .. } => "extraction",
            Self::Judgement { .. } => "judgement",
            Self::EntityConsolidation { .. } => "entity_consolidation",
            Self::Scoring { .. } => "scoring",
            Self::Questions { .. } => "questions",
            Self::Insights { .. } => "insights",
        }
    }
}

/// A consolidation began. Its decisions follow these rules until it ends. After a kill it continues, so it has only one
/// such event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsolidationBegan {
    /// The rules that its decisions follow.
    pub settings: ConsolidationRules,
    /// Who decided on it.
    pub author: Author,
}

/// The rules that the decisions of a consolidation follow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsolidationRules {
    /// How facts are made.
    pub extraction: ExtractionSettings,
    /// Which observations are consolidated.
    pub people: ConsolidationPolicy,
}

/// A request outside of a turn came to nothing. It counts as a failed attempt for the items of the request, unless the
/// model gave no reply at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsultationFailed {
    /// What was asked.
    pub about: Consultation,
    /// Why it came to nothing.
    pub cause: ConsultationFailure,
}

/// Why a request came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConsultationFailure {
    /// The model refused what it was shown.
    Refused(ModelErrorKind),
    /// The model gave no reply, and may give one later. It does not count against what it was about.
    Unanswered(ModelErrorKind),
    /// The reply, which is an event of its own, cannot be read.
    Unreadable,
}

impl ConsultationFailure {
    /// Whether the model refused what it was shown.
    pub(crate) fn is_refusal(self) -> bool {
        matches!(self, Self::Refused(_))
    }

    /// How the model failed; `None` if it replied.
    pub(crate) fn of_model(self) -> Option<ModelErrorKind> {
        match self {
            Self::Refused(kind) | Self::Unanswered(kind) => Some(kind),
            Self::Unreadable => None,
        }
    }
}

/// A consolidation is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsolidationEnded {
    /// Why.
    pub cause: ConsolidationEndCause,
}

/// Why a consolidation is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConsolidationEndCause {
    /// Nothing is left, but for what was skipped.
    Done,
    /// The most requests of one run were made.
    MaxRequests,
    /// The emergency stop of the assistant is on.
    Stopped,
    /// The budgets of the assistant allow no further request for now.
    BudgetSpent,
    /// The model failed.
    ModelFailed(ModelErrorKind),
}
