//! Replies of a model that are not part of a turn.

use dormouse_contracts::{ChatReply, EntityId, ModelName, Origin, Seq};
use serde::{Deserialize, Serialize};

/// The model was asked to make something of what is remembered, and replied. What follows from the reply is an event of its
/// own, so a reply that came before a crash is not paid for again.
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
    /// What the model was shown: a hash as that of `replied`.
    pub prompt_hash: String,
    /// How long the call took, retries included, in milliseconds.
    pub duration_ms: f64,
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
    },
    /// Which attributes follow from these observations.
    EntityConsolidation {
        /// Of whom.
        entity: EntityId,
        /// The numbers of the observations.
        observations: Vec<u64>,
    },
}

impl Consultation {
    /// Its name for users: `extraction`, `judgement`, `entity_consolidation`.
    #[must_use]
    pub fn purpose(&self) -> &'static str {
        match self {
            Self::Extraction { .. } => "extraction",
            Self::Judgement { .. } => "judgement",
            Self::EntityConsolidation { .. } => "entity_consolidation",
        }
    }
}
