//! A corpus of replies in the forms that real models produce, with the expected result of each. All were written for
//! this corpus.
//!
//! Use it in tests of this crate, of code that acts on replies, and of code that decodes a provider's stream into
//! [`ChatDelta`](dormouse_contracts::ChatDelta)s.

mod case;
mod table;

pub use case::{CorpusCase, CorpusMode, ExpectedReply, Piece};
pub use table::{ParseRate, rates, table};

use serde::Deserialize;

/// The files of the corpus, one per family.
const FILES: [&str; 12] = [
    include_str!("../corpus/native.json"),
    include_str!("../corpus/json.json"),
    include_str!("../corpus/hermes.json"),
    include_str!("../corpus/llama.json"),
    include_str!("../corpus/mistral.json"),
    include_str!("../corpus/deepseek.json"),
    include_str!("../corpus/harmony.json"),
    include_str!("../corpus/tags.json"),
    include_str!("../corpus/messages.json"),
    include_str!("../corpus/thoughts.json"),
    include_str!("../corpus/broken.json"),
    include_str!("../corpus/talk.json"),
];

/// Replies of one kind.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusFamily {
    /// The name of the family, which is the name of its file.
    pub family: String,
    /// Which models reply like this, or when.
    pub about: String,
    /// The replies.
    pub cases: Vec<CorpusCase>,
}

/// The whole corpus, family by family.
///
/// # Errors
///
/// An error of serde_json if a file is invalid; a test of this crate rules it out.
pub fn families() -> Result<Vec<CorpusFamily>, serde_json::Error> {
    FILES.into_iter().map(serde_json::from_str).collect()
}
