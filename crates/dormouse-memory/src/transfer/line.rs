//! One line of a file of records.

mod moment;

use std::collections::BTreeSet;

use dormouse_contracts::{EntityId, Trust};
use serde::{Deserialize, Serialize};

use super::origin::origin_of;
use crate::{
    note::{Note, NoteError, TEXT_LIMIT},
    record::{Derivation, Record, RecordKind, Shelf},
};
use moment::Moment;

/// The longest line that is read, in bytes: the longest text, with every character escaped, and what stands around it.
pub const LINE_LIMIT: usize = 6 * TEXT_LIMIT + (1 << 20);

/// Why a line was not taken in. Nothing of it is stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// It is no object of the documented form.
    #[error("not a record: {}", without_place(.0))]
    Form(#[from] serde_json::Error),
    /// It is no JSON object at all.
    #[error("not a record: write it as in {{\"text\":\"The kettle is blue.\"}}")]
    NoObject,
    /// It is longer than any record.
    #[error("longer than the {LINE_LIMIT} bytes that a line may have")]
    TooLong,
    /// It names an entity without a name.
    #[error("`entity` stands without `speaker`: say by what name it goes")]
    Unnamed,
    /// A part of it does not fit.
    #[error(transparent)]
    Note(#[from] NoteError),
}

/// A record as it stands in a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    text: String,
    #[serde(default)]
    kind: RecordKind,
    #[serde(default)]
    shelf: Shelf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Moment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entity: Option<EntityId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thread: Option<String>,
    #[serde(default = "full")]
    trust: Trust,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    tags: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    #[serde(default = "imported")]
    derivation: Derivation,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    valid_from: Option<Moment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    valid_until: Option<Moment>,
}

/// What is wrong with a line, and how far into it. That it is "line 1" of itself would be taken for the file's.
fn without_place(error: &serde_json::Error) -> String {
    let told = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match told.strip_suffix(&place) {
        Some(what) => format!("{what}, at column {}", error.column()),
        None => told,
    }
}

fn full() -> Trust {
    Trust::FULL
}

fn imported() -> Derivation {
    Derivation::Imported
}

impl Line {
    pub(super) fn of(record: Record) -> Self {
        let (speaker, entity) = match record.speaker {
            Some(speaker) => (Some(speaker.name), speaker.entity),
            None => (None, None),
        };
        Self {
            text: record.text,
            kind: record.kind,
            shelf: record.shelf,
            at: Some(Moment(record.at)),
            speaker,
            entity,
            thread: record.thread,
            trust: record.trust,
            tags: record.tags,
            origin: record.lineage.origin,
            derivation: record.lineage.derivation,
            valid_from: (record.valid_from != record.at).then_some(Moment(record.valid_from)),
            valid_until: record.valid_until.map(Moment),
        }
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Note, LineError> {
        // A list would pass for the fields in their order.
        if !bytes.trim_ascii_start().starts_with(b"{") {
            return Err(LineError::NoObject);
        }
        let line: Self = serde_json::from_slice(bytes)?;
        let note = line.into_note()?;
        note.check()?;
        Ok(note)
    }

    fn into_note(self) -> Result<Note, LineError> {
        let at = self.at.map(|at| at.0);
        let origin = self.origin.unwrap_or_else(|| {
            let (speaker, thread) = (self.speaker.as_deref(), self.thread.as_deref());
            origin_of(speaker, at, &self.text, thread)
        });
        let mut note = Note::new(self.text)
            .kind(self.kind)
            .on_shelf(self.shelf)
            .trusted(self.trust)
            .derived(self.derivation)
            .from_origin(origin);
        note = match (self.speaker, self.entity) {
            (Some(name), Some(entity)) => note.said_by_entity(name, entity),
            (Some(name), None) => note.said_by(name),
            (None, Some(_)) => return Err(LineError::Unnamed),
            (None, None) => note,
        };
        if let Some(at) = at {
            note = note.at(at);
        }
        if let Some(thread) = self.thread {
            note = note.in_thread(thread);
        }
        if let Some(from) = self.valid_from {
            note = note.so_since(from.0);
        }
        if let Some(until) = self.valid_until {
            note = note.so_until(until.0);
        }
        Ok(self.tags.into_iter().fold(note, Note::tagged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        Line::read(line.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_text_alone_is_a_record_and_has_an_origin() {
        let note = Line::read(br#"{"text":"tea"}"#).unwrap();
        assert_eq!(note.text(), "tea");
        assert_eq!(note.trust, Trust::FULL);
        assert_eq!(note.lineage.derivation, Derivation::Imported);
        let origin = origin_of(None, None, "tea", None);
        assert_eq!(note.lineage.origin, Some(origin));
    }

    #[test]
    fn what_is_wrong_with_a_line_is_told() {
        assert!(refused("tea").starts_with("not a record: write it as in"));
        assert!(refused(r#"["tea"]"#).starts_with("not a record: write it as in"));
        assert_eq!(
            refused(r#"{"text":tea}"#),
            "not a record: expected ident, at column 10"
        );
        assert!(refused("{}").contains("missing field `text`"));
        assert!(refused(r#"{"text":"tea","speeker":"Bob"}"#).contains("unknown field `speeker`"));
        assert!(refused(r#"{"text":"tea","trust":2}"#).contains("between 0 and 1"));
        assert!(refused(r#"{"text":"tea","at":"noon"}"#).contains("\"noon\" is not a time"));
        assert!(refused(r#"{"text":"tea","entity":"12"}"#).contains("without `speaker`"));
        assert!(refused(r#"{"text":" "}"#).contains("at least one word"));
    }
}
