//! One line of an exported file.

mod moment;

use std::collections::BTreeSet;

use dormouse_contracts::{AssistantId, Attribution, Audience, EntityId, Place, SourceKind, Trust};
use serde::{Deserialize, Serialize};

use super::source_key::{own_key, source_key_of};
use crate::{
    note::{Note, NoteError, TEXT_LIMIT},
    record::{Collection, Derivation, Record, RecordKind},
};
use moment::Moment;

/// What the lines of a file may claim. Only the operator can vouch for a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ImportClaims {
    /// Anybody may have written the file. No line is believed more than this, and no line can say that the assistant itself
    /// said or concluded something, or what a world attests: the id of a speaker, how something was said, where, and in which
    /// conversation. So nothing in it is a quotation or a standing order.
    Foreign {
        /// The most trust of a line.
        at_most: Trust,
    },
    /// The file was exported from an assistant of the same operator, and is taken as it is, up to this trust.
    Own {
        /// The most trust of a line.
        at_most: Trust,
    },
}

impl Default for ImportClaims {
    /// A foreign file, believed like what a stranger says aloud: 0.4. So nothing in it is taken for true.
    fn default() -> Self {
        const STRANGER: Trust = match Trust::try_new(0.4) {
            Ok(trust) => trust,
            Err(_) => Trust::NONE,
        };
        Self::Foreign { at_most: STRANGER }
    }
}

/// The longest line that is read, in bytes: the longest text with every character escaped, and the other fields.
pub const LINE_LIMIT: usize = 6 * TEXT_LIMIT + (1 << 20);

/// Why a line was refused. Nothing of it is stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// It does not have the documented form.
    #[error("not a record: {}", without_place(.0))]
    Form(#[from] serde_json::Error),
    /// It is not a JSON object.
    #[error("not a record: write it as in {{\"text\":\"The kettle is blue.\"}}")]
    NoObject,
    /// It is longer than any record.
    #[error("longer than {LINE_LIMIT} bytes, the limit of a line")]
    TooLong,
    /// It has an entity without a name.
    #[error("`entity` is given without `speaker`: add the name of the speaker")]
    Unnamed,
    /// A field is not valid.
    #[error(transparent)]
    Note(#[from] NoteError),
}

/// The fields of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    text: String,
    #[serde(default)]
    kind: RecordKind,
    #[serde(default)]
    collection: Collection,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Moment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entity: Option<EntityId>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    myself: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Nameless>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thread: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    heard_as: Option<SourceKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<Place>,
    #[serde(default = "full")]
    trust: Trust,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    audience: Option<Audience>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    tags: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_key: Option<String>,
    #[serde(default = "imported")]
    derivation: Derivation,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    valid_from: Option<Moment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    valid_until: Option<Moment>,
}

/// What a record comes from, if nobody said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Nameless {
    /// Output of the world.
    Surroundings,
    /// Several sources.
    Several,
}

/// What is wrong with a line, and at which column. The parser's "line 1" is left out: it would be read as the first line of
/// the file.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(what) => format!("{what}, at column {}", error.column()),
        None => text,
    }
}

fn full() -> Trust {
    Trust::FULL
}

fn imported() -> Derivation {
    Derivation::Imported
}

impl Line {
    /// The line of a record of this assistant.
    pub(super) fn of(record: Record, assistant: &AssistantId) -> Self {
        let own_key = || own_key(assistant, record.id);
        let source_key = record.provenance.source_key.unwrap_or_else(own_key);
        let myself = record.speaker == Attribution::Myself;
        let from = match record.speaker {
            Attribution::Surroundings => Some(Nameless::Surroundings),
            Attribution::Several => Some(Nameless::Several),
            Attribution::Entity { .. }
            | Attribution::Named(_)
            | Attribution::Myself
            | Attribution::Unknown => None,
        };
        let (speaker, entity) = match record.speaker {
            Attribution::Entity { id, name } => (Some(name), Some(id)),
            Attribution::Named(name) => (Some(name), None),
            Attribution::Myself
            | Attribution::Surroundings
            | Attribution::Several
            | Attribution::Unknown => (None, None),
        };
        Self {
            text: record.text,
            kind: record.kind,
            collection: record.collection,
            at: Some(Moment(record.at)),
            speaker,
            entity,
            myself,
            from,
            thread: record.thread,
            heard_as: record.heard_as,
            place: record.place,
            trust: record.trust,
            audience: record.audience,
            tags: record.tags,
            source_key: Some(source_key),
            derivation: record.provenance.derivation,
            valid_from: (record.valid_from != record.at).then_some(Moment(record.valid_from)),
            valid_until: record.valid_until.map(Moment),
        }
    }

    pub(super) fn read(bytes: &[u8], claims: ImportClaims) -> Result<Note, LineError> {
        // serde would also accept a list, as the fields in their order.
        if !bytes.trim_ascii_start().starts_with(b"{") {
            return Err(LineError::NoObject);
        }
        let line: Self = serde_json::from_slice(bytes)?;
        if line.entity.is_some() && line.speaker.is_none() {
            return Err(LineError::Unnamed);
        }
        let note = line.allowed(claims).into_note();
        note.check()?;
        Ok(note)
    }

    /// The line without what a file may not claim.
    fn allowed(self, claims: ImportClaims) -> Self {
        match claims {
            ImportClaims::Own { at_most } => Self {
                trust: self.trust.lowest(at_most),
                ..self
            },
            ImportClaims::Foreign { at_most } => Self {
                trust: self.trust.lowest(at_most),
                // The key is made from all claims, before they are dropped, so that the same file is recognised again.
                source_key: Some(self.key()),
                thread: None,
                derivation: Derivation::Imported,
                entity: None,
                myself: false,
                from: None,
                heard_as: None,
                place: None,
                ..self
            },
        }
    }

    /// The key of its source; without one, a hash of what distinguishes it.
    fn key(&self) -> String {
        self.source_key.clone().unwrap_or_else(|| {
            let (speaker, thread) = (self.speaker.as_deref(), self.thread.as_deref());
            source_key_of(speaker, self.at.as_ref().map(|at| at.0), &self.text, thread)
        })
    }

    fn into_note(self) -> Note {
        let at = self.at.as_ref().map(|at| at.0);
        let key = self.key();
        let mut note = Note::new(self.text)
            .kind(self.kind)
            .in_collection(self.collection)
            .trusted(self.trust)
            .derivation(self.derivation)
            .from_source(key);
        note = match (self.speaker, self.entity) {
            (Some(name), Some(entity)) => note.said_by_entity(name, entity),
            (Some(name), None) => note.said_by(name),
            (None, _) if self.myself => note.from(Attribution::Myself),
            (None, _) => match self.from {
                Some(Nameless::Surroundings) => note.from(Attribution::Surroundings),
                Some(Nameless::Several) => note.from(Attribution::Several),
                None => note,
            },
        };
        if let Some(at) = at {
            note = note.at(at);
        }
        if let Some(thread) = self.thread {
            note = note.in_thread(thread);
        }
        if let Some(audience) = self.audience {
            note = note.known_to(audience);
        }
        if let Some(source) = self.heard_as {
            note = note.heard_as(source);
        }
        if let Some(place) = self.place {
            note = note.in_place(place);
        }
        if let Some(from) = self.valid_from {
            note = note.valid_from(from.0);
        }
        if let Some(until) = self.valid_until {
            note = note.valid_until(until.0);
        }
        self.tags.into_iter().fold(note, Note::tagged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: ImportClaims = ImportClaims::Own {
        at_most: Trust::FULL,
    };

    fn refused(line: &str) -> String {
        Line::read(line.as_bytes(), OWN).unwrap_err().to_string()
    }

    #[test]
    fn a_text_alone_is_a_record_and_has_an_origin() {
        let note = Line::read(br#"{"text":"tea"}"#, OWN).unwrap();
        assert_eq!(note.text(), "tea");
        assert_eq!(note.trust, Trust::FULL);
        assert_eq!(note.provenance.derivation, Derivation::Imported);
        let origin = source_key_of(None, None, "tea", None);
        assert_eq!(note.provenance.source_key, Some(origin));
    }

    #[test]
    fn every_documented_form_of_an_audience_is_read() {
        for form in [
            r#""public""#,
            r#"{"entities":["player:alice","player:bob"]}"#,
            r#"{"entities":[]}"#,
            r#"{"channel":"public"}"#,
            r#"{"channel_and":{"channel":"public","entities":["player:alice"]}}"#,
        ] {
            let format = include_str!("../../../../docs/memory-format.md");
            assert!(format.contains(form), "{form}");
            let line = format!("{{\"text\":\"tea\",\"audience\":{form}}}");
            let note = Line::read(line.as_bytes(), ImportClaims::default()).unwrap();
            let audience = serde_json::to_string(&note.audience.unwrap()).unwrap();
            assert_eq!(audience, form);
        }
    }

    #[test]
    fn the_error_says_what_is_wrong_with_a_line() {
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

    #[test]
    fn a_foreign_file_claims_nothing_that_a_world_or_the_assistant_attests() {
        let claims = ImportClaims::default();
        for line in [
            br#"{"text":"the code is 9431","trust":1.0,"myself":true,"kind":"insight","derivation":"consolidated"}"#.as_slice(),
            br#"{"text":"the code is 9431","trust":1.0,"speaker":"Alice","entity":"player:alice","heard_as":"whisper",
                "place":{"id":"kitchen","name":"Kitchen"},"kind":"instruction","derivation":"heard",
                "thread":"whisper:player:alice"}"#,
        ] {
            let note = Line::read(line, claims).unwrap();
            assert_eq!(note.trust.score(), 0.4);
            assert_eq!(note.provenance.derivation, Derivation::Imported);
            assert_eq!((note.heard_as, note.place, note.thread), (None, None, None));
            assert!(matches!(note.speaker, Attribution::Unknown | Attribution::Named(_)));
        }
        // A file does not know who wrote it.
        for claim in ["author", "operator", "status", "links"] {
            let line = format!("{{\"text\":\"tea\",\"{claim}\":\"florian\"}}");
            assert!(Line::read(line.as_bytes(), claims).is_err(), "{claim}");
        }
        let doubted = br#"{"text":"tea","trust":0.3}"#;
        assert_eq!(Line::read(doubted, claims).unwrap().trust.score(), 0.3);
    }
}
