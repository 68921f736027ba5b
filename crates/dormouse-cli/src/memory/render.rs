//! Records and changes, as text and as JSON.

use dormouse_contracts::{Attribution, Audience, Author, Clock, SourceKind, Timestamp, Trust};
use dormouse_host::SystemClock;
use dormouse_memory::{
    Collection, Derivation, Link, Record, RecordId, RecordKind, RecordStatus, StoredChange,
};
use serde::Serialize;

use crate::grammar::attributed;

/// A record as JSON: ids and times as people write them.
#[derive(Debug, Serialize)]
pub(super) struct RecordLine<'a> {
    id: String,
    text: &'a str,
    kind: RecordKind,
    collection: Collection,
    at: String,
    recorded_at: String,
    from: &'a Attribution,
    thread: Option<&'a str>,
    /// How it was said, and where, as the world attests it.
    heard_as: Option<&'a SourceKind>,
    place: Option<&'a str>,
    trust: Trust,
    audience: Audience,
    tags: Vec<&'a str>,
    derivation: Derivation,
    source_key: Option<&'a str>,
    derived_from: Vec<String>,
    valid_from: String,
    valid_until: Option<String>,
    status: &'static str,
    /// The record that superseded it, or into which it was folded.
    other: Option<String>,
    links: Vec<LinkLine>,
}

#[derive(Debug, Serialize)]
struct LinkLine {
    to: String,
    kind: dormouse_memory::LinkKind,
    weight: f32,
}

impl<'a> From<&'a Record> for RecordLine<'a> {
    fn from(record: &'a Record) -> Self {
        let (status, other) = status(record.status);
        Self {
            id: record.id.to_string(),
            text: &record.text,
            kind: record.kind,
            collection: record.collection,
            at: record.at.to_string(),
            recorded_at: record.recorded_at.to_string(),
            from: &record.speaker,
            thread: record.thread.as_deref(),
            heard_as: record.heard_as.as_ref(),
            place: record.place.as_ref().map(|place| place.name.as_str()),
            trust: record.trust,
            audience: record.known_to(),
            tags: record.tags.iter().map(String::as_str).collect(),
            derivation: record.provenance.derivation,
            source_key: record.provenance.source_key.as_deref(),
            derived_from: ids(&record.provenance.derived_from),
            valid_from: record.valid_from.to_string(),
            valid_until: record.valid_until.map(|at| at.to_string()),
            status,
            other: other.map(|id| id.to_string()),
            links: record.links.iter().map(link).collect(),
        }
    }
}

fn link(link: &Link) -> LinkLine {
    LinkLine {
        to: link.to.to_string(),
        kind: link.kind,
        weight: link.weight,
    }
}

pub(super) fn ids(ids: &[RecordId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

pub(super) fn status(status: RecordStatus) -> (&'static str, Option<RecordId>) {
    match status {
        RecordStatus::Live => ("live", None),
        RecordStatus::Superseded { by } => ("superseded", by),
        RecordStatus::Folded { into } => ("folded", Some(into)),
        RecordStatus::Withdrawn => ("withdrawn", None),
    }
}

/// A record on one line: id, time, who, where and what.
pub(super) fn brief(record: &Record) -> String {
    let at = record.at;
    let thread = record.thread.as_ref().map(|thread| format!(" ({thread})"));
    let thread = thread.unwrap_or_default();
    let who = match &record.speaker {
        Attribution::Unknown if thread.is_empty() => String::new(),
        Attribution::Unknown => format!("{thread}:"),
        from => format!(" {}{thread}:", attributed(from)),
    };
    let text = match record.text.as_str() {
        "" => "(no words any more)",
        text => text,
    };
    format!("{}  {at}{who} {text}", record.id)
}

/// Everything about a record that [`brief`] leaves out.
pub(super) fn details(record: &Record) -> String {
    let (status, other) = status(record.status);
    let mut parts = vec![
        record.kind.to_string(),
        format!("trust {}", record.trust),
        format!("known to {}", record.known_to()),
        match (is_superseded_later(record), other) {
            (true, Some(other)) => format!("live, and superseded later by {other}"),
            (true, None) => "live, and superseded later".to_owned(),
            (false, Some(other)) => format!("{status} by {other}"),
            (false, None) => status.to_owned(),
        },
        validity(record.valid_from, record.valid_until),
    ];
    parts.extend(said(record));
    if record.collection != Collection::default() {
        parts.push(format!("collection {}", record.collection.as_str()));
    }
    if !record.tags.is_empty() {
        let tags: Vec<&str> = record.tags.iter().map(String::as_str).collect();
        parts.push(format!("tags {}", tags.join(", ")));
    }
    if let Some(key) = &record.provenance.source_key {
        parts.push(format!("from {key}"));
    }
    if !record.provenance.derived_from.is_empty() {
        parts.push(format!(
            "made of {}",
            ids(&record.provenance.derived_from).join(", ")
        ));
    }
    for link in &record.links {
        parts.push(format!("linked with {} ({:.2})", link.to, link.weight));
    }
    parts.join("; ")
}

/// How something was said, and where, as far as the world attests it.
fn said(record: &Record) -> Option<String> {
    let how = match record.heard_as.as_ref()? {
        SourceKind::Whisper => "whispered".to_owned(),
        SourceKind::Page => "paged".to_owned(),
        SourceKind::Addressed => "said aloud to the assistant".to_owned(),
        SourceKind::Channel(channel) => format!("said on channel {channel}"),
        SourceKind::Say => "said aloud".to_owned(),
        SourceKind::Pose => "posed".to_owned(),
        _ => return None,
    };
    let place = record.place.as_ref();
    Some(match place.map(|place| &place.name) {
        Some(place) => format!("{how} in {place}"),
        None => how,
    })
}

/// Whether a record will be superseded at a time in the future. Until then it is valid.
pub(super) fn is_superseded_later(record: &Record) -> bool {
    matches!(record.status, RecordStatus::Superseded { .. })
        && record
            .valid_until
            .is_some_and(|until| until > SystemClock.now())
}

fn validity(from: Timestamp, until: Option<Timestamp>) -> String {
    match until {
        Some(until) => format!("valid from {from} until {until}"),
        None => format!("valid since {from}"),
    }
}

/// A change as JSON.
#[derive(Debug, Serialize)]
pub(super) struct ChangeLine<'a> {
    /// The event of the log that it follows from.
    event: Option<u64>,
    at: String,
    what: &'static str,
    author: Option<&'a Author>,
    reason: &'a str,
}

impl<'a> From<&'a StoredChange> for ChangeLine<'a> {
    fn from(stored: &'a StoredChange) -> Self {
        Self {
            event: stored.event.map(|event| event.0),
            author: stored.author.as_ref(),
            at: stored.at.to_string(),
            what: stored.change.name(),
            reason: &stored.reason,
        }
    }
}

/// A change on one line.
pub(super) fn change(stored: &StoredChange) -> String {
    let (at, what) = (stored.at, stored.change.name());
    let event = stored.event.unwrap_or_default();
    let author = stored.author.as_ref();
    let author = author
        .map(|author| format!(" by {author}"))
        .unwrap_or_default();
    format!("event {event}  {at}  {what}{author}: {}", stored.reason)
}
