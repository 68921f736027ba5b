//! What is given to the memory to keep.

use std::{borrow::Cow, collections::BTreeSet};

use dormouse_contracts::{EntityId, Timestamp, Trust};
use dormouse_redact::{RedactionProfile, mask};

use crate::record::{Derivation, Lineage, RecordId, RecordKind, Shelf, Speaker};

/// The longest text of one record, in bytes (16 MiB).
pub const TEXT_LIMIT: usize = 16 * 1024 * 1024;
/// The longest name, thread, origin or tag, in bytes.
pub const LABEL_LIMIT: usize = 512;
/// The most tags, and the most sources, of one record.
pub const LIST_LIMIT: usize = 256;

/// Something to remember, before it has a number. Only the text is required: a note is an event, fully believed, that
/// happened when it is stored.
///
/// ```
/// use dormouse_memory::{Note, RecordKind};
///
/// let note = Note::new("Alice prefers tea")
///     .kind(RecordKind::Preference)
///     .said_by("Alice")
///     .in_thread("tea house");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    pub(crate) text: String,
    pub(crate) kind: RecordKind,
    pub(crate) shelf: Shelf,
    pub(crate) at: Option<Timestamp>,
    pub(crate) speaker: Option<Speaker>,
    pub(crate) thread: Option<String>,
    pub(crate) trust: Trust,
    pub(crate) tags: BTreeSet<String>,
    pub(crate) lineage: Lineage,
    pub(crate) valid_from: Option<Timestamp>,
    pub(crate) valid_until: Option<Timestamp>,
}

impl Note {
    /// A note of this text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            kind: RecordKind::default(),
            shelf: Shelf::default(),
            at: None,
            speaker: None,
            thread: None,
            trust: Trust::FULL,
            tags: BTreeSet::new(),
            lineage: Lineage::default(),
            valid_from: None,
            valid_until: None,
        }
    }

    /// What it is about; [`RecordKind::Event`] where it is not said.
    #[must_use]
    pub fn kind(mut self, kind: RecordKind) -> Self {
        self.kind = kind;
        self
    }

    /// Where it is kept; [`Shelf::Memories`] where it is not said.
    #[must_use]
    pub fn on_shelf(mut self, shelf: Shelf) -> Self {
        self.shelf = shelf;
        self
    }

    /// When it was said or happened; when it is stored where it is not said.
    #[must_use]
    pub fn at(mut self, at: Timestamp) -> Self {
        self.at = Some(at);
        self
    }

    /// Who said it or did it, by name.
    #[must_use]
    pub fn said_by(mut self, name: impl Into<String>) -> Self {
        let entity = self.speaker.take().and_then(|speaker| speaker.entity);
        self.speaker = Some(Speaker {
            name: name.into(),
            entity,
        });
        self
    }

    /// Who said it or did it, by name and the id their world knows them by.
    #[must_use]
    pub fn said_by_entity(mut self, name: impl Into<String>, entity: EntityId) -> Self {
        self.speaker = Some(Speaker {
            name: name.into(),
            entity: Some(entity),
        });
        self
    }

    /// The conversation it belongs to.
    #[must_use]
    pub fn in_thread(mut self, thread: impl Into<String>) -> Self {
        self.thread = Some(thread.into());
        self
    }

    /// How far it is believed; fully where it is not said. A record made of others is never believed more than they are.
    #[must_use]
    pub fn trusted(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// A word to find it by.
    #[must_use]
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.tags.insert(tag.into());
        self
    }

    /// The same without the secrets of its text and its tags.
    pub(crate) fn masked(mut self) -> Self {
        if let Cow::Owned(text) = mask(&self.text, RedactionProfile::Memory) {
            self.text = text;
        }
        let tags = self.tags.into_iter();
        self.tags = tags
            .map(|tag| mask(&tag, RedactionProfile::Memory).into_owned())
            .collect();
        self
    }

    /// How it came to be.
    #[must_use]
    pub fn derived(mut self, derivation: Derivation) -> Self {
        self.lineage.derivation = derivation;
        self
    }

    /// The records it was made of.
    #[must_use]
    pub fn made_of(mut self, sources: impl IntoIterator<Item = RecordId>) -> Self {
        self.lineage.derived_from.extend(sources);
        self
    }

    /// The key of what it was made of outside the store. A second note with the same origin is not stored again.
    #[must_use]
    pub fn from_origin(mut self, origin: impl Into<String>) -> Self {
        self.lineage.origin = Some(origin.into());
        self
    }

    /// Since when it is so, where that is not when it was said.
    #[must_use]
    pub fn so_since(mut self, from: Timestamp) -> Self {
        self.valid_from = Some(from);
        self
    }

    /// Until when it was so, where it no longer is.
    #[must_use]
    pub fn so_until(mut self, until: Timestamp) -> Self {
        self.valid_until = Some(until);
        self
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Checks what can be checked without the store.
    ///
    /// # Errors
    ///
    /// [`NoteError`] says which part does not fit, and what would.
    pub fn check(&self) -> Result<(), NoteError> {
        if self.text.trim().is_empty() {
            return Err(NoteError::Empty);
        }
        within("the text", self.text.len(), TEXT_LIMIT)?;
        if let Some(speaker) = &self.speaker {
            label("the speaker's name", &speaker.name)?;
        }
        if let Some(thread) = &self.thread {
            label("the thread", thread)?;
        }
        if let Some(origin) = &self.lineage.origin {
            label("the origin", origin)?;
        }
        within("the list of tags", self.tags.len(), LIST_LIMIT)?;
        for tag in &self.tags {
            label("a tag", tag)?;
        }
        within(
            "the list of sources",
            self.lineage.derived_from.len(),
            LIST_LIMIT,
        )?;
        match (self.valid_from.or(self.at), self.valid_until) {
            (Some(from), Some(until)) if until < from => Err(NoteError::Ended { from, until }),
            _ => Ok(()),
        }
    }
}

fn label(what: &'static str, text: &str) -> Result<(), NoteError> {
    if text.trim().is_empty() {
        return Err(NoteError::Blank { what });
    }
    within(what, text.len(), LABEL_LIMIT)
}

fn within(what: &'static str, length: usize, limit: usize) -> Result<(), NoteError> {
    if length > limit {
        return Err(NoteError::TooLong {
            what,
            length,
            limit,
        });
    }
    Ok(())
}

/// Why a note cannot be kept. Nothing of it is stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoteError {
    /// There is nothing to remember.
    #[error("the text is empty: a record says at least one word")]
    Empty,
    /// A label without a visible character.
    #[error("{what} is blank: leave it out, or give it a name")]
    Blank {
        /// Which part.
        what: &'static str,
    },
    /// A part is longer than records may be.
    #[error("{what} has a length of {length}; at most {limit} are kept")]
    TooLong {
        /// Which part.
        what: &'static str,
        /// Its length: bytes of a text, members of a list.
        length: usize,
        /// The most there may be.
        limit: usize,
    },
    /// It ceased before it began.
    #[error("it is so from {from} until {until}, which is earlier")]
    Ended {
        /// Since when it was so.
        from: Timestamp,
        /// Until when.
        until: Timestamp,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_which_part_of_it_does_not_fit() {
        assert_eq!(Note::new(" \n").check(), Err(NoteError::Empty));
        assert_eq!(
            Note::new("tea").said_by("").check(),
            Err(NoteError::Blank {
                what: "the speaker's name"
            })
        );
        assert!(matches!(
            Note::new("x".repeat(TEXT_LIMIT + 1)).check(),
            Err(NoteError::TooLong {
                what: "the text",
                ..
            })
        ));
        assert!(matches!(
            Note::new("tea")
                .so_since(Timestamp::from_micros(2))
                .so_until(Timestamp::from_micros(1))
                .check(),
            Err(NoteError::Ended { .. })
        ));
        assert_eq!(Note::new("tea").said_by("Alice").check(), Ok(()));
    }

    #[test]
    fn a_note_is_masked_in_its_text_and_its_tags() {
        let note = Note::new("pwd=hunter22")
            .tagged("tea")
            .tagged("api_key=a1b2c3");
        let expected = Note::new("pwd=[secret: password]")
            .tagged("tea")
            .tagged("api_key=[secret: api key]");
        assert_eq!(note.masked(), expected);
    }

    #[test]
    fn no_character_that_is_hidden_hides_a_key() {
        let hidden = ('\0'..=char::MAX).filter(|letter| dormouse_text::is_hidden(*letter));
        // The ends of lines are drawn.
        for letter in hidden.filter(|letter| !letter.is_whitespace()) {
            let key = format!(concat!("my sk", "-abcdEFGH{}1234ijklMNOP5678qrst"), letter);
            let masked = Note::new(key).masked().text;
            assert_eq!(masked, "my [secret: api key]", "{:x}", u32::from(letter));
        }
    }
}
