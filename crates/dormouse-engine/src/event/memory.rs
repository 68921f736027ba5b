//! What is remembered, and what is shown of it.

use dormouse_contracts::{Seq, Trust};
use dormouse_memory::RecordKind;
use serde::{Deserialize, Serialize};

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;
/// The name that is written if there is more than one person.
pub(crate) const SEVERAL: &str = "several";
/// The prefix of an event's sequence number in the origin of a memory record.
pub(crate) const LOG_ORIGIN: &str = "log:";

/// Where something the model was shown comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// How far it is believed.
    pub trust: Trust,
    /// The name of the person it came from.
    pub from: String,
    /// The sequence number of the event it goes back to, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
}

/// A line was taken into memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    /// The line.
    pub text: String,
    /// The name of the person it came from.
    pub from: String,
    /// How far it is believed: the lowest trust of what it came from.
    pub trust: Trust,
    /// The place in the log of the message it came from.
    pub source: Seq,
    /// What kind of record it is; a fact by default.
    #[serde(default = "fact", skip_serializing_if = "is_fact")]
    pub kind: RecordKind,
    /// Whom or what it is about, by name, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

fn fact() -> RecordKind {
    RecordKind::Fact
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_fact(kind: &RecordKind) -> bool {
    *kind == RecordKind::Fact
}

/// Something about a person or thing was noted on purpose. It was checked against what was known then; the memory
/// applies it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntityChanged {
    /// What.
    pub change: dormouse_entities::EntityChange,
}
