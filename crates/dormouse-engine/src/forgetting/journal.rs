//! The words of a journal that are taken.

use std::collections::HashSet;

use dormouse_contracts::Origin;
use dormouse_journal::{EntryId, JournalChange};
use serde_json::Value;

use super::redact::set;
use crate::event::JournalChanged;

/// The taken entries of a journal, in the part of the log that was read so far.
#[derive(Debug, Default)]
pub(super) struct WrittenDown {
    entries: HashSet<EntryId>,
    /// Whether the reflection under way is about anything that is taken.
    is_reflection_taken: bool,
}

impl WrittenDown {
    /// The words of an event.
    pub(super) fn texts(changed: &JournalChanged) -> Vec<&str> {
        let entries = changed.entries().map(|entry| &*entry.content);
        let questions = changed.changes.iter().flat_map(|change| match change {
            JournalChange::QuestionsRaised { questions, .. } => questions.as_slice(),
            _ => &[],
        });
        entries.chain(questions.map(String::as_str)).collect()
    }

    /// Whether an event is taken because of earlier taken entries.
    pub(super) fn is_taken(&self, changed: &JournalChanged) -> bool {
        let of_reflection = |change: &JournalChange| {
            let has_words = matches!(
                change,
                JournalChange::QuestionsRaised { .. } | JournalChange::Reflected { .. }
            );
            has_words && self.is_reflection_taken
        };
        let was_taken = |change: &JournalChange| match change {
            JournalChange::Restored { entry } => self.entries.contains(&entry.id),
            change => of_reflection(change),
        };
        changed.changes.iter().any(was_taken)
    }

    /// Reads an event, whether or not it is taken.
    pub(super) fn take_in(
        &mut self,
        changed: &JournalChanged,
        is_taken: bool,
        has_origin: impl Fn(Origin) -> bool,
    ) {
        if is_taken {
            self.entries.extend(changed.entries().map(|entry| entry.id));
        }
        for change in &changed.changes {
            match change {
                JournalChange::ReflectionBegun { entries, .. } => {
                    let mut about = entries.iter();
                    self.is_reflection_taken = about.any(|id| self.entries.contains(id));
                }
                JournalChange::EvidenceFound { evidence } => {
                    let mut all = evidence.iter().flatten();
                    self.is_reflection_taken |= all.any(|origin| has_origin(*origin));
                }
                _ => {}
            }
        }
    }

    /// Whether a reply about the reflection under way is taken.
    pub(super) fn is_reflection_taken(&self) -> bool {
        self.is_reflection_taken
    }

    /// Whether any of these entries is taken.
    pub(super) fn has_any(&self, entries: &[EntryId]) -> bool {
        entries.iter().any(|entry| self.entries.contains(entry))
    }
}

/// Takes the words out of a stored event.
pub(super) fn redact(event: &mut Value) {
    let Some(Value::Array(changes)) = event.get_mut("changes") else {
        return;
    };
    for change in changes {
        if let Some(entry) = change.get_mut("entry") {
            redact_entry(entry);
        }
        if let Some(Value::Array(insights)) = change.get_mut("insights") {
            insights.iter_mut().for_each(redact_entry);
        }
        if let Some(Value::Array(questions)) = change.get_mut("questions") {
            let question = |text: &mut Value| set(text, &[]);
            questions.iter_mut().for_each(question);
        }
    }
}

/// Labels are words, too.
fn redact_entry(entry: &mut Value) {
    set(entry, &["content"]);
    if let Some(fields) = entry.as_object_mut() {
        fields.remove("tags");
        fields.remove("related_projects");
        // A name that a model gave may contain any words.
        if let Some(from) = fields.get_mut("source_entity")
            && from.get("named").is_some()
        {
            *from = Value::from("unknown");
        }
    }
}
