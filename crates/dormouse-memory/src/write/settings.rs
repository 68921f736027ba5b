//! The bounds within which facts are made.

use serde::{Deserialize, Serialize};

use crate::admission::AdmissionPolicy;

/// How facts are made from records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExtractionSettings {
    /// The highest number of sources in one request: 10. At least one is taken.
    pub batch: usize,
    /// The highest number of bytes of sources in one request: 24,000, about 6,000 tokens. At least one source is taken, cut to
    /// 4,000 bytes.
    pub prompt_bytes: usize,
    /// The highest number of facts from one reply: 24. Further ones are ignored.
    pub facts: usize,
    /// The highest number of tokens in a reply: 2,000.
    pub reply_tokens: u32,
    /// The rule for what may become a record.
    pub admission: AdmissionPolicy,
    /// The names of the assistant; facts about them are not kept.
    pub names: Vec<String>,
}

impl Default for ExtractionSettings {
    fn default() -> Self {
        Self {
            batch: 10,
            prompt_bytes: 24_000,
            facts: 24,
            reply_tokens: 2_000,
            admission: AdmissionPolicy::default(),
            names: Vec::new(),
        }
    }
}
