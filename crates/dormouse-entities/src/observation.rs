//! Observations about an entity.

use dormouse_contracts::{Audience, Origin, Sources, Timestamp, Trust};
use serde::{Deserialize, Serialize};

use crate::line::TextLine;

/// The text of an observation.
pub type ObservationText = TextLine<500>;
/// How the assistant learnt it: `direct`, `observation`, or the caller's own word.
pub type ObservationSource = TextLine<32>;

/// One observation about an entity.
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
    /// The event or record that it was made from, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Everything that it was made from; empty if only `origin` is known.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
    /// Who perceived what it was made from, other than the assistant. Nobody, if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// Whether it has been consolidated into the attributes.
    #[serde(default)]
    pub stage: ObservationStage,
}

impl Observation {
    /// Everything that it is known to be made from.
    #[must_use]
    pub fn rests_on(&self) -> Sources {
        both(self.origin, &self.sources)
    }
}

fn both(origin: Option<Origin>, sources: &Sources) -> Sources {
    origin
        .into_iter()
        .chain(sources.as_slice().iter().copied())
        .collect()
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
    /// The event or record that it was made from, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Everything that it was made from; empty if only `origin` is known.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
    /// Who perceived what it was made from, other than the assistant. Nobody, if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}

impl NewObservation {
    /// Everything that it is known to be made from.
    #[must_use]
    pub fn rests_on(&self) -> Sources {
        both(self.origin, &self.sources)
    }
}
