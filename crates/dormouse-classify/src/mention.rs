//! Finds an assistant's key as an @mention in the words of a message.

use dormouse_contracts::{AssistantId, Words};
use dormouse_text::mentions;
use serde::{Deserialize, Serialize};

/// Whether the words of a message contain the assistant's key as an @mention. This is a claim of the text, not a fact
/// from the server: it may wake an assistant, and never raises trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mention {
    /// The words contain an @mention.
    Addressed,
    /// The words do not contain an @mention.
    NotAddressed,
}

/// Looks for `@key` as a whole word in `words`, by the rule of [`mentions`]. Allocates nothing.
#[must_use]
pub fn find_mention(words: &Words, key: &AssistantId) -> Mention {
    if mentions(words.as_claimed(), key.as_str()) {
        Mention::Addressed
    } else {
        Mention::NotAddressed
    }
}
