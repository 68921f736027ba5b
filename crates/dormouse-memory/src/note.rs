//! A note: the input from which a memory makes a record.

use std::{borrow::Cow, collections::BTreeSet};

use dormouse_contracts::{Attribution, Audience, EntityId, Place, SourceKind, Timestamp, Trust};
use dormouse_redact::{RedactionProfile, mask};
use serde::{Deserialize, Serialize};

use crate::{
    record::{Collection, Derivation, Provenance, RecordId, RecordKind},
    transfer::source_key_of,
};

/// The longest text of one record, in bytes (2 MiB). However much of it must be escaped, it fits into one event of a log.
pub const TEXT_LIMIT: usize = 2 * 1024 * 1024;
/// The longest name, thread, key of a source or tag, in bytes.
pub const LABEL_LIMIT: usize = 512;
/// The most tags, and the most sources, of one record.
pub const LIST_LIMIT: usize = 256;

/// Something to remember, before it has an id. Only the text is required. By default a note is an event, fully believed,
/// that happened at the time of storing.
///
/// ```
/// use dormouse_memory::{Note, RecordKind};
///
/// let note = Note::new("Alice prefers tea")
///     .kind(RecordKind::Preference)
///     .said_by("Alice")
///     .in_thread("tea house");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) kind: RecordKind,
    #[serde(default)]
    pub(crate) collection: Collection,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<Timestamp>,
    #[serde(default)]
    pub(crate) speaker: Attribution,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) thread: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) heard_as: Option<SourceKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<Place>,
    pub(crate) trust: Trust,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) audience: Option<Audience>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) tags: BTreeSet<String>,
    #[serde(default)]
    pub(crate) provenance: Provenance,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) valid_from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) valid_until: Option<Timestamp>,
}

/// What an operator has remembered.
#[derive(Clone, Debug, Default)]
pub struct OperatorNote {
    /// The text.
    pub text: String,
    /// What kind of record it becomes.
    pub kind: RecordKind,
    /// Who said it.
    pub by: Option<String>,
    /// The conversation it belongs to.
    pub thread: Option<String>,
    /// When it was said. The same text of the same speaker and time is not added twice.
    pub at: Option<Timestamp>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// How far it is believed; fully if absent.
    pub trust: Option<Trust>,
}

impl OperatorNote {
    /// The note, which may be told to anybody.
    #[must_use]
    pub fn note(self) -> Note {
        let mut note = Note::new(&*self.text)
            .kind(self.kind)
            .derivation(Derivation::Stored)
            // What an operator writes may be shown to everybody.
            .known_to(Audience::Public);
        if let Some(at) = self.at {
            let (by, thread) = (self.by.as_deref(), self.thread.as_deref());
            let key = source_key_of(by, Some(at), &self.text, thread);
            note = note.at(at).from_source(key);
        }
        if let Some(by) = self.by {
            note = note.said_by(by);
        }
        if let Some(thread) = self.thread {
            note = note.in_thread(thread);
        }
        if let Some(trust) = self.trust {
            note = note.trusted(trust);
        }
        self.tags.into_iter().fold(note, Note::tagged)
    }
}

impl Note {
    /// A note of this text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            kind: RecordKind::default(),
            collection: Collection::default(),
            at: None,
            speaker: Attribution::Unknown,
            thread: None,
            heard_as: None,
            place: None,
            trust: Trust::FULL,
            audience: None,
            tags: BTreeSet::new(),
            provenance: Provenance::default(),
            valid_from: None,
            valid_until: None,
        }
    }

    /// Sets the kind; [`RecordKind::Event`] by default.
    #[must_use]
    pub fn kind(mut self, kind: RecordKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the collection; [`Collection::Memories`] by default.
    #[must_use]
    pub fn in_collection(mut self, collection: Collection) -> Self {
        self.collection = collection;
        self
    }

    /// Sets when it was said or happened; the time of storing by default.
    #[must_use]
    pub fn at(mut self, at: Timestamp) -> Self {
        self.at = Some(at);
        self
    }

    /// Sets who said or did it; nobody by default.
    #[must_use]
    pub fn from(mut self, speaker: Attribution) -> Self {
        self.speaker = speaker;
        self
    }

    /// Sets who said or did it, if only a name is known.
    #[must_use]
    pub fn said_by(self, name: impl Into<String>) -> Self {
        self.from(Attribution::Named(name.into()))
    }

    /// Sets who said or did it, by name and by the id that their world attests.
    #[must_use]
    pub fn said_by_entity(self, name: impl Into<String>, entity: EntityId) -> Self {
        self.from(Attribution::entity(entity, name))
    }

    /// Sets the conversation it belongs to.
    #[must_use]
    pub fn in_thread(mut self, thread: impl Into<String>) -> Self {
        self.thread = Some(thread.into());
        self
    }

    /// Sets how it was said, as a world attests it.
    #[must_use]
    pub fn heard_as(mut self, source: SourceKind) -> Self {
        self.heard_as = Some(source);
        self
    }

    /// Sets where it was said, as a world attests it.
    #[must_use]
    pub fn in_place(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// Sets how far it is believed; fully by default. A record made from others is never believed more than they are.
    #[must_use]
    pub fn trusted(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Sets who perceived it; by default the speaker if it is a quotation, and nobody otherwise. A record made from
    /// others is known only to those who perceived all of them.
    #[must_use]
    pub fn known_to(mut self, audience: Audience) -> Self {
        self.audience = Some(audience);
        self
    }

    /// Sets who perceived it, unless that is set.
    #[must_use]
    pub fn known_to_unless_set(mut self, audience: Audience) -> Self {
        self.audience.get_or_insert(audience);
        self
    }

    /// Adds a word to find it by.
    #[must_use]
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.tags.insert(tag.into());
        self
    }

    /// The same note with the secrets in its text and its tags masked.
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

    /// Sets how it was made.
    #[must_use]
    pub fn derivation(mut self, derivation: Derivation) -> Self {
        self.provenance.derivation = derivation;
        self
    }

    /// Adds the records that it was made from.
    #[must_use]
    pub fn derived_from(mut self, sources: impl IntoIterator<Item = RecordId>) -> Self {
        self.provenance.derived_from.extend(sources);
        self
    }

    /// Sets the key of its source outside the log. A second note with the same key is not stored again.
    #[must_use]
    pub fn from_source(mut self, key: impl Into<String>) -> Self {
        self.provenance.source_key = Some(key.into());
        self
    }

    /// Sets since when it is true, if that is not when it was said.
    #[must_use]
    pub fn valid_from(mut self, from: Timestamp) -> Self {
        self.valid_from = Some(from);
        self
    }

    /// Sets until when it was true, if it no longer is.
    #[must_use]
    pub fn valid_until(mut self, until: Timestamp) -> Self {
        self.valid_until = Some(until);
        self
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Who said or did it.
    #[must_use]
    pub fn speaker(&self) -> &Attribution {
        &self.speaker
    }

    /// Words to find it by.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().map(String::as_str)
    }

    /// The records that it was made from.
    #[must_use]
    pub fn sources(&self) -> &[RecordId] {
        &self.provenance.derived_from
    }

    /// Checks everything that can be checked without the store.
    ///
    /// # Errors
    ///
    /// [`NoteError`] says which part does not fit, and what would.
    pub fn check(&self) -> Result<(), NoteError> {
        if self.text.trim().is_empty() {
            return Err(NoteError::Empty);
        }
        within("the text", self.text.len(), TEXT_LIMIT)?;
        if let Some(name) = self.speaker.name() {
            label("the speaker's name", name)?;
        }
        if let Some(thread) = &self.thread {
            label("the thread", thread)?;
        }
        if let Some(place) = &self.place {
            label("the name of the place", &place.name)?;
        }
        if let Some(key) = &self.provenance.source_key {
            label("the key of the source", key)?;
        }
        within("the list of tags", self.tags.len(), LIST_LIMIT)?;
        for tag in &self.tags {
            label("a tag", tag)?;
        }
        within(
            "the list of sources",
            self.provenance.derived_from.len(),
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

/// Why a note was refused. Nothing of it is stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoteError {
    /// The text is empty.
    #[error("the text is empty: a record says at least one word")]
    Empty,
    /// A label has no visible character.
    #[error("{what} is blank: leave it out, or give it a name")]
    Blank {
        /// Which part.
        what: &'static str,
    },
    /// A part is too long.
    #[error("{what} has a length of {length}; at most {limit} is allowed")]
    TooLong {
        /// Which part.
        what: &'static str,
        /// Its length: bytes of a text, members of a list.
        length: usize,
        /// The highest length allowed.
        limit: usize,
    },
    /// It ends before it begins.
    #[error("it is valid from {from} until {until}, which is earlier")]
    Ended {
        /// The beginning.
        from: Timestamp,
        /// The end.
        until: Timestamp,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_the_part_of_a_note_that_does_not_fit() {
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
                .valid_from(Timestamp::from_micros(2))
                .valid_until(Timestamp::from_micros(1))
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
    fn no_hidden_character_keeps_a_key_from_being_masked() {
        let hidden = ('\0'..=char::MAX).filter(|letter| dormouse_text::is_hidden(*letter));
        // Line ends are hidden characters too, but they separate words.
        for letter in hidden.filter(|letter| !letter.is_whitespace()) {
            let key = format!(concat!("my sk", "-abcdEFGH{}1234ijklMNOP5678qrst"), letter);
            let masked = Note::new(key).masked().text;
            assert_eq!(masked, "my [secret: api key]", "{:x}", u32::from(letter));
        }
    }
}
