//! Lines that were overheard: known to the assistant, not to be answered.

use dormouse_contracts::{Perception, Seq, Trust};
use serde::{Deserialize, Serialize};

/// An overheard line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ambient {
    /// Its place in the log.
    pub seq: Seq,
    /// What the world delivered.
    pub perception: Perception,
    /// How far it is believed.
    pub trust: Trust,
    /// How many tokens its words take.
    pub tokens: u32,
}
