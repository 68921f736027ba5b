//! Observations about an entity.

use dormouse_contracts::{Audience, Origin, Timestamp, Trust};
use serde::{Deserialize, Serialize};

use crate::line::TextLine;

/// The text of an observation.
pub type ObservationText = TextLine<500>;
/// How the assistant learnt it: `direct`, `observation`, or the caller's own word.
pub type ObservationSource = TextLine<32>;

/// One observation about an entity (Pf).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The number, unique in the profile, ascending, never reused.
    pub number: u64,
    /// The text.
    pub content: ObservationText,
    /// The time of the observation.
    pub timestamp: Timestamp,
    /// How the assistant learnt it.
    pub source: ObservationSource,
    /// The trust in it.
    pub trust: Trust,
    /// The event or record that it goes back to, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Who was party to what it was made from, other than the assistant. Nobody, if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// Whether it has been consolidated into the attributes.
    #[serde(default)]
    pub stage: ObservationStage,
}

/// Whether an observation has been consolidated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservationStage {
    /// Not consolidated yet.
    #[default]
    Fresh,
    /// Consolidated into the attributes; the observation is kept while there is room.
    Consolidated,
}

/// An observation to be added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewObservation {
    /// The text.
    pub content: ObservationText,
    /// How the assistant learnt it.
    pub source: ObservationSource,
    /// The trust in it.
    pub trust: Trust,
    /// The event or record that it goes back to, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Who was party to what it was made from, other than the assistant. Nobody, if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}
