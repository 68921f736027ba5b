//! An operator's decisions about an assistant as a whole: its creation, its first persona, its tags, whether it is
//! archived.

use std::collections::BTreeSet;

use dormouse_contracts::{AssistantId, Author, Seq};
use serde::{Deserialize, Serialize};

use crate::config::Settings;

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// An operator created, tagged, archived or restored the assistant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RosterChanged {
    /// What.
    pub change: RosterChange,
    /// Who decided on it.
    pub author: Author,
    /// Why, in words.
    pub reason: String,
}

/// What is decided about an assistant as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RosterChange {
    /// It is created. Only the first event of a log can be this.
    Created(Box<Beginning>),
    /// It has these tags from now on, and no others.
    Tagged(BTreeSet<Tag>),
    /// It does not wake until it is restored.
    Archived,
    /// It wakes again.
    Restored,
}

/// Who an assistant is before it wakes for the first time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beginning {
    /// The name of its character.
    pub name: String,
    /// Who it is, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// The settings of the assistant that it is a clone of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// The assistant that it is a clone of, and the last event of that one at the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clone_of: Option<(AssistantId, Seq)>,
}

/// A word by which assistants are found: 1 to 64 letters, digits and `-`, `_`, `.`, `:`, without regard to case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag(String);

/// Not a tag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a tag; expected 1 to 64 letters, digits and -, _, . or :")]
pub struct TagError {
    text: String,
}

impl Tag {
    /// The longest tag, in characters.
    const LIMIT: usize = 64;

    /// Parses a tag.
    ///
    /// # Errors
    ///
    /// [`TagError`].
    pub fn try_new(text: &str) -> Result<Self, TagError> {
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        let lower = text.to_lowercase();
        let length = lower.chars().count();
        match (1..=Self::LIMIT).contains(&length) && lower.chars().all(fits) {
            true => Ok(Self(lower)),
            false => Err(TagError {
                text: text.chars().take(Self::LIMIT).collect(),
            }),
        }
    }

    /// The tag as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Tag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for Tag {
    type Err = TagError;

    fn from_str(text: &str) -> Result<Self, TagError> {
        Self::try_new(text)
    }
}

impl TryFrom<String> for Tag {
    type Error = TagError;

    fn try_from(text: String) -> Result<Self, TagError> {
        Self::try_new(&text)
    }
}

impl From<Tag> for String {
    fn from(tag: Tag) -> Self {
        tag.0
    }
}
