//! A span, before it is encoded.

use dormouse_contracts::{AssistantId, Seq, Timestamp};
use sha2::{Digest, Sha256};

/// Something that took time, or happened at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// What it belongs to: a tick, or a call outside of ticks.
    pub trace: [u8; 16],
    /// Its own id.
    pub id: [u8; 8],
    /// The span that it is a part of; absent for the first span of a trace.
    pub parent: Option<[u8; 8]>,
    /// Its operation, and what that is about.
    pub name: String,
    /// Whether it is a call of something outside of the program.
    pub is_call: bool,
    /// When it began.
    pub began_at: Timestamp,
    /// When it ended, never before it began.
    pub ended_at: Timestamp,
    /// What else is known about it. Names follow the conventions for generative AI, or begin with `dormouse.`.
    pub attributes: Vec<(&'static str, SpanValue)>,
    /// Why it failed, in one word; absent if it did not.
    pub error: Option<String>,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum SpanValue {
    /// Text.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// Another number.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// Several texts.
    Texts(Vec<String>),
}

impl From<&str> for SpanValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SpanValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for SpanValue {
    fn from(number: u64) -> Self {
        Self::Whole(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u32> for SpanValue {
    fn from(number: u32) -> Self {
        Self::Whole(number.into())
    }
}

/// Which life spans are about: the ids of its traces and spans are made from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    pub(crate) key: AssistantId,
    digest: [u8; 32],
}

impl Life {
    /// The life of an assistant whose first event happened at this time. Two assistants that had the same key one after the other are
    /// different lives; a life that was restored from a backup is the same one.
    #[must_use]
    pub fn new(key: &AssistantId, began_at: Timestamp) -> Self {
        let digest = Sha256::new()
            .chain_update(key.as_str())
            .chain_update([0])
            .chain_update(began_at.as_micros().to_be_bytes())
            .finalize();
        Self {
            key: key.clone(),
            digest: digest.into(),
        }
    }

    /// The id of the trace that begins with this event.
    pub(crate) fn trace(&self, first: Seq) -> [u8; 16] {
        first_bytes(self.hash(first, "trace"))
    }

    /// The id of the span that this event makes in this role.
    pub(crate) fn span(&self, seq: Seq, role: &str) -> [u8; 8] {
        first_bytes(self.hash(seq, role))
    }

    fn hash(&self, seq: Seq, role: &str) -> [u8; 32] {
        let hash = Sha256::new()
            .chain_update(self.digest)
            .chain_update(seq.0.to_be_bytes())
            .chain_update(role);
        hash.finalize().into()
    }
}

fn first_bytes<const N: usize>(hash: [u8; 32]) -> [u8; N] {
    let mut bytes = [0; N];
    for (to, from) in bytes.iter_mut().zip(hash) {
        *to = from;
    }
    bytes
}
