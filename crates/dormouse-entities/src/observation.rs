//! What was noticed about an entity.

use dormouse_contracts::{Timestamp, Trust};
use serde::{Deserialize, Serialize};

use crate::line::Line;

/// What was noticed.
pub type ObservationText = Line<500>;
/// How it became known: `direct`, `observation`, or a word of the caller's.
pub type ObservationSource = Line<32>;
/// What it was derived from: the id of an event or a record, as the caller writes it.
pub type Origin = Line<128>;

/// One observation about an entity (Pf).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Tells it from the others in the same profile; counts up and is not used twice.
    pub number: u64,
    /// What was noticed.
    pub content: ObservationText,
    /// When.
    pub timestamp: Timestamp,
    /// How it became known.
    pub source: ObservationSource,
    /// How far it is believed.
    pub trust: Trust,
    /// What it was derived from, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Whether it has been summed up in the attributes.
    #[serde(default)]
    pub stage: ObservationStage,
}

/// Whether an observation has been summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservationStage {
    /// Not yet.
    #[default]
    Fresh,
    /// Its substance is in the attributes; the observation itself is kept while there is room.
    Consolidated,
}

/// An observation to be added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewObservation {
    /// What was noticed.
    pub content: ObservationText,
    /// How it became known.
    pub source: ObservationSource,
    /// How far it is believed.
    pub trust: Trust,
    /// What it was derived from, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}
