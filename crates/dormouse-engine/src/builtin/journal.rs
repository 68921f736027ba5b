//! What the tools of the journal share: their parameters, their events, and how they show an entry.

use std::collections::BTreeSet;

use dormouse_contracts::{Attribution, Origin, Trust};
use dormouse_journal::{
    EntryId, EntryLabel, EntryLabelError, EntryProvenance, JournalChange, JournalEntry,
    JournalSettings, LABELS_LIMIT, NewEntry, ReviewRequest, SourceType,
};
use dormouse_text::shortened;
use serde_json::{Value, json};

use super::{Provenance, call::Call, shown_score};
use crate::{event::Event, privacy::known_journal, render, state::JournalBook};

/// How much of an entry a result shows, in characters.
const SHOWN: usize = 600;

/// The parameter that lists tags or projects.
pub(super) fn labels(description: &str) -> Value {
    json!({
        "type": "array",
        "maxItems": LABELS_LIMIT,
        "items": {"type": "string", "minLength": 1, "maxLength": EntryLabel::LIMIT},
        "description": description,
    })
}

/// The parameter that says how many days to look back.
pub(super) fn days_back() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": ReviewRequest::MOST_DAYS})
}

impl Call<'_> {
    /// The tags or projects in an argument.
    pub(super) fn labels(&self, key: &str) -> Result<BTreeSet<EntryLabel>, EntryLabelError> {
        let texts: Vec<String> = self.read(key);
        texts.iter().map(|text| EntryLabel::try_new(text)).collect()
    }

    /// A whole number of the arguments.
    pub(super) fn whole(&self, key: &str) -> Option<u32> {
        let number = self.arguments.get(key).and_then(Value::as_u64)?;
        u32::try_from(number).ok()
    }

    pub(super) fn journal_settings(&self) -> JournalSettings {
        self.state.configuration.settings.journal_settings(self.own)
    }

    /// An entry with these words and this provenance.
    pub(super) fn new_entry(
        &self,
        content: &str,
        source_type: SourceType,
        provenance: &Provenance,
    ) -> NewEntry {
        let audience = provenance.audience.clone();
        NewEntry {
            source_entity: provenance.from.clone(),
            believed: provenance.trust,
            provenance: EntryProvenance {
                audience: audience.unwrap_or(dormouse_contracts::Audience::nobody()),
                sources: provenance.sources.clone(),
                depth: self.depth_of(provenance),
            },
            ..NewEntry::new(content, source_type)
        }
    }

    /// The depth of an entry: how many conclusions lie between it and what happened.
    fn depth_of(&self, provenance: &Provenance) -> u8 {
        let sources = provenance.sources.as_slice().iter();
        let entries = sources.filter_map(|source| self.state.journal.entry_of(*source));
        let depths = entries.map(|entry| entry.provenance.depth);
        depths.max().unwrap_or(0)
    }

    /// The event by which this call changes the journal.
    pub(super) fn journal_changed(
        &self,
        changes: Vec<JournalChange>,
        tool: &str,
    ) -> Result<Event, String> {
        let changed = self.state.journal.changed(changes, (self.author()?, tool));
        Ok(Event::JournalChanged(changed))
    }

    /// The earlier entry that a new one repeats, if everybody who listens perceived that.
    pub(super) fn repeated(&self, changes: &[JournalChange]) -> Option<EntryId> {
        let linked = changes.iter().find_map(|change| match change {
            JournalChange::Linked { to, .. } => Some(*to),
            _ => None,
        })?;
        let (known, _) = known_journal(self.state, self.turn);
        known.entry(linked).map(|entry| entry.id)
    }
}

/// The attribution of an entry. A name that no world attests stays a name without an id.
pub(super) fn provided_by(name: &str, provenance: &Provenance) -> Attribution {
    let is_that = |known: &str| known.to_lowercase() == name.to_lowercase();
    match provenance.from.name().is_some_and(is_that) {
        true => provenance.from.clone(),
        false => Attribution::Named(name.to_owned()),
    }
}

/// The entry that these changes write.
pub(super) fn written(changes: &[JournalChange]) -> Option<&JournalEntry> {
    changes.iter().find_map(|change| match change {
        JournalChange::Added { entry, .. } => Some(&**entry),
        _ => None,
    })
}

/// Adds to a result what the model reads about a written entry.
pub(super) fn with_entry(mut result: Value, entry: &JournalEntry) -> Value {
    if let Value::Object(fields) = &mut result {
        fields.insert("entry".to_owned(), json!(entry.id));
        fields.insert("importance".to_owned(), json!(entry.importance));
        fields.insert(
            "importance_method".to_owned(),
            json!(entry.importance_method),
        );
        fields.insert("source_type".to_owned(), json!(entry.source_type));
        fields.insert("trust".to_owned(), json!(shown_score(entry.source_trust)));
    }
    result
}

/// An entry as a result lists it. Its source is the event that wrote it, by which a later call can name it.
pub(super) fn row(book: &JournalBook, entry: &JournalEntry) -> Value {
    let source = book.record(entry.id).as_ref().map(Origin::to_string);
    let mut row = json!({
        "entry": entry.id,
        "sources": source.map(|source| format!("#{source}")).into_iter().collect::<Vec<_>>(),
        "at": entry.timestamp.to_string(),
        "content": shortened(&entry.content, SHOWN),
        "from": render::name(&entry.source_entity),
        "source_type": entry.source_type,
        "trust": shown_score(entry.source_trust),
        "importance": entry.importance,
    });
    if let Value::Object(fields) = &mut row {
        for (name, labels) in [("tags", &entry.tags), ("projects", &entry.related_projects)] {
            if !labels.is_empty() {
                fields.insert(name.to_owned(), json!(labels));
            }
        }
    }
    row
}

/// The lowest trust of these entries.
pub(super) fn least_trust<'a>(entries: impl IntoIterator<Item = &'a JournalEntry>) -> Trust {
    let trusts = entries.into_iter().map(|entry| entry.source_trust);
    trusts.fold(Trust::FULL, Trust::lowest)
}

/// Adds to a result how many entries are left out, because not everybody who listens perceived them.
pub(super) fn with_withheld(mut result: Value, withheld: usize) -> Value {
    if let (Value::Object(fields), 1..) = (&mut result, withheld) {
        fields.insert("withheld".to_owned(), withheld.into());
    }
    result
}
