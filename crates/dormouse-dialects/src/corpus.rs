//! Replies in the shapes that real models produce, and how each is to be read. All of them were written for this corpus.
//!
//! For tests: of this crate, of whoever acts on replies, and of whoever turns a provider's wire into
//! [`ChatDelta`](dormouse_contracts::ChatDelta)s.

mod case;
mod table;

pub use case::{Case, Expected, Mode, Piece};
pub use table::{Rate, rates, table};

use serde::Deserialize;

/// The files of the corpus, by family.
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
pub struct Family {
    /// What it is called: the name of its file.
    pub family: String,
    /// Which models answer like this, or when.
    pub about: String,
    /// The replies.
    pub cases: Vec<Case>,
}

/// The whole corpus, family by family.
///
/// # Errors
///
/// An error of serde_json, which a test of this crate rules out.
pub fn families() -> Result<Vec<Family>, serde_json::Error> {
    FILES.into_iter().map(serde_json::from_str).collect()
}
