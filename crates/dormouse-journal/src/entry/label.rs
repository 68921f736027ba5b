//! Tags and names of projects.

use std::{fmt, str::FromStr};

use dormouse_text::{is_blank, is_hidden};
use serde::{Deserialize, Serialize};

/// A tag, or the name of a project: 1 to [`EntryLabel::LIMIT`] characters in lower case on one line, without `,` and `;`.
///
/// Deserializing checks nothing: a label in a log was valid when it was written, and forgetting may since have replaced
/// words in it, so that it is now longer or blank.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryLabel(Box<str>);

/// A text that is neither a tag nor the name of a project.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryLabelError {
    /// There is no visible character.
    #[error("a tag or project is blank; leave it out")]
    Blank,
    /// It is too long.
    #[error(
        "a tag or project has {length} characters; at most {} are kept",
        EntryLabel::LIMIT
    )]
    TooLong {
        /// Its length in characters.
        length: usize,
    },
    /// It contains a separator or an invisible character.
    #[error("the tag or project {text:?} contains {character:?}; give each label separately")]
    Character {
        /// The text.
        text: String,
        /// The first such character.
        character: char,
    },
}

impl EntryLabel {
    /// The most characters.
    pub const LIMIT: usize = 64;

    /// Trims a text and converts it to lower case, so that two spellings are one label.
    ///
    /// # Errors
    ///
    /// [`EntryLabelError`] if it is blank, too long, or contains a separator.
    pub fn try_new(text: &str) -> Result<Self, EntryLabelError> {
        // Lower case comes first: a few letters become two in it, and the limit must hold for what is stored.
        let text = text.trim().to_lowercase();
        if is_blank(&text) {
            return Err(EntryLabelError::Blank);
        }
        let length = text.chars().count();
        if length > Self::LIMIT {
            return Err(EntryLabelError::TooLong { length });
        }
        let mut characters = text.chars();
        if let Some(character) = characters.find(|c| matches!(c, ',' | ';') || is_hidden(*c)) {
            return Err(EntryLabelError::Character { text, character });
        }
        Ok(Self(text.into_boxed_str()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for EntryLabel {
    type Err = EntryLabelError;
    fn from_str(text: &str) -> Result<Self, EntryLabelError> {
        Self::try_new(text)
    }
}

impl fmt::Display for EntryLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
