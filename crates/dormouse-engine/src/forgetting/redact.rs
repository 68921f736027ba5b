//! The payload of an event without what is forgotten.

use std::collections::BTreeSet;

use dormouse_contracts::{EffectKey, EntityId, FORGOTTEN, Origin, Seq, StoredEvent, Timestamp};
use serde_json::{Map, Value, json};

use super::{collect::Taken, selection::Selection, words::TellingWords};
use crate::{event::Event, secrets::mask_payload};

/// How the payload of an event begins that lost words. No other event begins so.
const MARK: &[u8] = br#"{"forgotten":true"#;
/// The fields that hold no words of anybody.
pub(crate) const IDS: [&str; 24] = [
    "id",
    "key",
    "call",
    "world",
    "record",
    "records",
    "origin",
    "derived_from",
    "thread",
    "prompt_hash",
    "model",
    "name",
    "tool",
    "category",
    "kind",
    "source",
    "finish",
    "verdict",
    "provider",
    "service",
    "program",
    "entities",
    "entity",
    "purpose",
];

/// Whether the event lost words that were forgotten.
#[must_use]
pub fn lost_words(stored: &StoredEvent) -> bool {
    stored.payload.starts_with(MARK)
}

/// An event that loses words.
pub(super) struct Redacted {
    pub(super) payload: Vec<u8>,
    /// Whether it is taken as a whole, and not only a copy in it.
    pub(super) is_whole: bool,
}

/// What is taken out of payloads.
pub(super) struct Redactor<'a> {
    pub(super) selection: &'a Selection,
    pub(super) taken: &'a Taken,
    pub(super) words: &'a TellingWords,
    /// The names of the person, in lower case.
    pub(super) names: &'a BTreeSet<String>,
}

impl Redactor<'_> {
    /// The event without what is taken; `None` if it stays as it is.
    pub(super) fn event(
        &self,
        stored: &StoredEvent,
    ) -> Result<Option<Redacted>, serde_json::Error> {
        let kind = stored.kind.as_str();
        if *self.selection == Selection::Secrets {
            return without_secrets(stored);
        }
        if is_without_words(kind) {
            return Ok(None);
        }
        let before: Value = serde_json::from_slice(&stored.payload)?;
        let mut after = before.clone();
        let is_whole = self.whole(stored.seq, kind, &mut after);
        self.rest(kind, &mut after);
        if after == before {
            return Ok(None);
        }
        let payload = marked(after)?;
        Ok(Some(Redacted { payload, is_whole }))
    }

    /// Takes out what belongs to the selection itself. Returns whether there was anything.
    fn whole(&self, seq: Seq, kind: &str, event: &mut Value) -> bool {
        let is_taken = self.taken.has(seq) || (self.taken.is_in_turn(seq) && is_of_turns(kind));
        match kind {
            "memory_changed" => return self.memory_changed(seq, event),
            "recollected" => return self.recollected(is_taken, event),
            "entity_changed" => {
                if is_taken && let Some(change) = event.get_mut("change") {
                    self.entity_change(change);
                }
            }
            _ if !is_taken => {}
            "perceived" => set(event, &["perception", "words"]),
            "remembered" => set(event, &["text"]),
            "replied" | "consulted" => {
                set(event, &["reply", "content"]);
                set(event, &["reply", "reasoning"]);
                if let Some(reply) = event.get_mut("reply") {
                    empty_arguments(reply, "tool_calls");
                }
                empty_arguments(event, "calls");
            }
            "unanswered" | "delayed" => {
                if matches!(self.selection, Selection::Person(_)) {
                    set(event, &["from"]);
                }
                empty_arguments(event, "calls");
            }
            "parse_failed" => set(event, &["note"]),
            "tool_answered" => set(event, &["content"]),
            "effect_intended" => blank_field(event, "arguments"),
            "effect_settled" => {
                set(event, &["content"]);
                blank_field(event, "outcome");
            }
            _ => {}
        }
        is_taken
    }

    fn memory_changed(&self, seq: Seq, event: &mut Value) -> bool {
        let whole = Origin::event(seq);
        let Some(change) = event.get_mut("change") else {
            return false;
        };
        let what = change.get("change").and_then(Value::as_str);
        let (list, is_fact) = match what {
            Some("added") => ("notes", false),
            Some("extracted") => ("facts", true),
            Some("folded") => {
                self.folded(change);
                return false;
            }
            _ => return false,
        };
        let Some(Value::Array(notes)) = change.get_mut(list) else {
            return false;
        };
        let is_single = notes.len() == 1 && !is_fact;
        let mut any = false;
        for (number, note) in (1..).zip(notes) {
            let origin = match is_single {
                true => Some(whole),
                false => whole.part(number),
            };
            if !origin.is_some_and(|origin| self.taken.has_origin(origin)) {
                continue;
            }
            any = true;
            if is_fact && let Some(fact) = note.as_object_mut() {
                fact.remove("reason");
            }
            let note = match is_fact {
                true => note.get_mut("note"),
                false => Some(note),
            };
            if let Some(Value::Object(note)) = note {
                note.insert("text".to_owned(), FORGOTTEN.into());
                note.remove("tags");
                note.remove("place");
            }
        }
        any
    }

    /// A record that is gone represents no other one, and is part of none.
    fn folded(&self, change: &mut Value) {
        let is_taken = |record: &Value| {
            let origin = record.as_str().and_then(|text| text.parse().ok());
            origin.is_some_and(|origin| self.taken.has_origin(origin))
        };
        let into = change.get("into").is_some_and(is_taken);
        if let Some(Value::Array(records)) = change.get_mut("records") {
            records.retain(|record| !into && !is_taken(record));
        }
    }

    /// The lines of other people that a taken turn showed stay: later events refer to them.
    fn recollected(&self, is_taken: bool, event: &mut Value) -> bool {
        let mut any = is_taken;
        if let Some(Value::Array(items)) = event.get_mut("items") {
            for item in items {
                let record = item.get("record").and_then(Value::as_str);
                let origin = record.and_then(|record| record.parse().ok());
                if origin.is_some_and(|origin| self.taken.has_origin(origin)) {
                    set(item, &["text"]);
                    any = true;
                }
            }
        }
        let Some(fields) = event.as_object_mut() else {
            return any;
        };
        for block in ["entities", "orders"] {
            let text = fields.get(block).and_then(|block| block.get("text"));
            let text = text.and_then(Value::as_str).unwrap_or_default();
            if is_taken || self.mentions(text) || !self.words.find(text).is_empty() {
                any |= fields.remove(block).is_some();
            }
        }
        any
    }

    /// Whether a text that the program composed shows something about the person.
    fn mentions(&self, text: &str) -> bool {
        let Selection::Person(ids) = self.selection else {
            return false;
        };
        let lower = text.to_lowercase();
        ids.iter().any(|id| text.contains(id.as_str()))
            || self.names.iter().any(|name| lower.contains(name.as_str()))
    }

    fn entity_change(&self, change: &mut Value) {
        let subject = change.get("entity").and_then(Value::as_str);
        let subject = subject.and_then(|id| EntityId::try_new(id).ok());
        let is_person = self.selection.is_person(subject.as_ref());
        let Some(fields) = change.as_object_mut() else {
            return;
        };
        for (name, value) in fields.iter_mut() {
            match name.as_str() {
                "update" => *value = json!({}),
                "observation" => set(value, &["content"]),
                "reason" | "topic" | "content" | "description" if value.is_string() => {
                    *value = FORGOTTEN.into();
                }
                "name" | "alias" if is_person => *value = FORGOTTEN.into(),
                _ => {}
            }
        }
    }

    /// Takes out copies, wherever they are, and the names of the person.
    fn rest(&self, kind: &str, event: &mut Value) {
        // What the operator wrote for the assistant to be is not a copy of what anybody said to it.
        if kind == "configured" {
            return;
        }
        if kind == "tool_answered"
            && let Some(content) = event.get("content").and_then(Value::as_str)
            && self.shows_profile(content)
        {
            set(event, &["content"]);
        }
        // The name is looked up when the act is remembered, and must still mean the same person.
        if kind == "effect_intended"
            && let Some(to @ Value::String(_)) = event.pointer_mut("/arguments/to")
            && to
                .as_str()
                .is_some_and(|to| self.names.contains(&to.to_lowercase()))
        {
            *to = FORGOTTEN.into();
        }
        self.names_and_copies("", event);
    }

    /// Whether a result is what the memory knows of the person.
    fn shows_profile(&self, content: &str) -> bool {
        let Selection::Person(ids) = self.selection else {
            return false;
        };
        let Ok(content) = serde_json::from_str::<Value>(content) else {
            return false;
        };
        holds_id(&content, ids)
    }

    /// Takes what is forgotten out of a perception that a world keeps for anybody. Returns whether there was anything.
    pub(super) fn perception(&self, perception: &mut Value) -> bool {
        let before = perception.clone();
        let text = |path: &str| perception.pointer(path).and_then(Value::as_str);
        let sender = text("/attested/sender/entity/id").or(text("/attested/sender/assistant/id"));
        let sender = sender.and_then(|id| EntityId::try_new(id).ok());
        let cause = text("/attested/cause").and_then(|cause| EffectKey::try_new(cause).ok());
        let at = perception.pointer("/attested/at").and_then(Value::as_i64);
        let at = at.map(Timestamp::from_micros);
        // What others heard of an act does not name its cause.
        let is_of_assistant = perception.pointer("/attested/sender/assistant").is_some();
        let words = text("/words").unwrap_or_default();
        let is_here = match self.selection {
            // Its number in the log is not in the world, which has the words, or a copy of them.
            Selection::Record(_) => false,
            selection => {
                at.is_some_and(|at| selection.is_here(Origin::event(Seq::ZERO), at, [words]))
            }
        };
        if self.selection.is_person(sender.as_ref())
            || is_here
            || cause.is_some_and(|cause| self.taken.effects.contains(&cause))
            || is_of_assistant && at.is_some_and(|at| self.taken.acted_at(at))
        {
            set(perception, &["words"]);
        }
        self.scrub(perception);
        *perception != before
    }

    /// Takes what is forgotten out of an act with its outcome that a world keeps. Returns whether there was anything.
    pub(super) fn effect(&self, record: &mut Value) -> bool {
        let before = record.clone();
        let key = record.pointer("/effect/key").and_then(Value::as_str);
        let key = key.and_then(|key| EffectKey::try_new(key).ok());
        if key.is_some_and(|key| self.taken.effects.contains(&key)) {
            if let Some(effect) = record.get_mut("effect") {
                blank_field(effect, "arguments");
            }
            blank_field(record, "outcome");
        }
        self.scrub(record);
        *record != before
    }

    /// Takes copies and names out of a value that is not an event, such as what a world keeps. Returns whether there were any.
    pub(super) fn scrub(&self, value: &mut Value) -> bool {
        let before = value.clone();
        match self.selection {
            Selection::Secrets => mask_payload(value, false),
            _ => self.names_and_copies("", value),
        }
        *value != before
    }

    fn names_and_copies(&self, field: &str, value: &mut Value) {
        match value {
            // Names as the world lists them.
            Value::String(name)
                if field == "heard_by" && self.names.contains(&name.to_lowercase()) =>
            {
                FORGOTTEN.clone_into(name);
            }
            Value::String(text) if !IDS.contains(&field) => {
                if let Some(scrubbed) = self.text(text) {
                    *text = scrubbed;
                }
            }
            Value::Array(values) => {
                let values = values.iter_mut();
                values.for_each(|value| self.names_and_copies(field, value));
            }
            Value::Object(fields) => {
                self.name(fields);
                if field == "preferences" {
                    fields.retain(|subject, _| self.words.find(subject).is_empty());
                }
                for (field, value) in fields.iter_mut() {
                    self.names_and_copies(field, value);
                }
            }
            _ => {}
        }
    }

    /// A text without copies. A text that is JSON itself stays JSON.
    fn text(&self, text: &str) -> Option<String> {
        if text.starts_with(['{', '['])
            && let Ok(mut inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
        {
            return self.scrub(&mut inner).then(|| inner.to_string());
        }
        self.words.scrub(text)
    }

    /// The name next to an id of the person.
    fn name(&self, fields: &mut Map<String, Value>) {
        let id = fields.get("id").and_then(Value::as_str);
        let id = id.and_then(|id| EntityId::try_new(id).ok());
        if self.selection.is_person(id.as_ref())
            && let Some(name @ Value::String(_)) = fields.get_mut("name")
        {
            *name = FORGOTTEN.into();
        }
    }
}

/// The event with its secrets masked; `None` if it holds none.
fn without_secrets(stored: &StoredEvent) -> Result<Option<Redacted>, serde_json::Error> {
    let before: Value = serde_json::from_slice(&stored.payload)?;
    let mut payload = None;
    for is_cut in [false, true] {
        let mut after = before.clone();
        mask_payload(&mut after, is_cut);
        if after == before {
            return Ok(None);
        }
        let event = StoredEvent {
            payload: marked(after)?,
            ..stored.clone()
        };
        let is_readable = Event::decode(&event).is_ok();
        payload = Some(event.payload);
        // A mask can be longer than the secret, and some texts have a limit.
        if is_readable {
            break;
        }
    }
    let is_whole = true;
    Ok(payload.map(|payload| Redacted { payload, is_whole }))
}

/// The event with the mark in front.
fn marked(event: Value) -> Result<Vec<u8>, serde_json::Error> {
    let Value::Object(mut fields) = event else {
        return serde_json::to_vec(&event);
    };
    fields.remove("forgotten");
    let rest = serde_json::to_vec(&fields)?;
    let mut payload = MARK.to_vec();
    if rest.len() > 2 {
        payload.push(b',');
    }
    payload.extend_from_slice(rest.get(1..).unwrap_or_default());
    Ok(payload)
}

/// Events that hold no words of anybody.
fn is_without_words(kind: &str) -> bool {
    matches!(
        kind,
        "tick_started" | "tick_ended" | "woke" | "configured" | "forgotten"
    )
}

/// Events that only a turn has.
fn is_of_turns(kind: &str) -> bool {
    matches!(
        kind,
        "replied" | "parse_failed" | "tool_answered" | "recollected" | "unanswered" | "delayed"
    )
}

fn holds_id(value: &Value, ids: &BTreeSet<EntityId>) -> bool {
    match value {
        Value::String(text) => ids.iter().any(|id| id.as_str() == text),
        Value::Array(values) => values.iter().any(|value| holds_id(value, ids)),
        Value::Object(fields) => fields.values().any(|value| holds_id(value, ids)),
        _ => false,
    }
}

/// Replaces a text at this path, unless it is missing or empty.
fn set(event: &mut Value, path: &[&str]) {
    let mut here = Some(event);
    for field in path {
        here = here.and_then(|value| value.get_mut(field));
    }
    if let Some(Value::String(text)) = here
        && !text.is_empty()
    {
        FORGOTTEN.clone_into(text);
    }
}

/// Replaces all texts in a field.
fn blank_field(of: &mut Value, field: &str) {
    if let Some(value) = of.get_mut(field) {
        blank_strings(value);
    }
}

/// Replaces all texts in a value.
fn blank_strings(value: &mut Value) {
    match value {
        Value::String(text) => FORGOTTEN.clone_into(text),
        Value::Array(values) => values.iter_mut().for_each(blank_strings),
        Value::Object(fields) => {
            for (field, value) in fields {
                if field != "last_output" && field != "heard_by" {
                    blank_strings(value);
                }
            }
        }
        _ => {}
    }
}

/// Removes the arguments of calls, which stay calls.
fn empty_arguments(of: &mut Value, field: &str) {
    let Some(Value::Array(calls)) = of.get_mut(field) else {
        return;
    };
    for call in calls {
        if let Some(arguments @ Value::String(_)) = call.get_mut("arguments") {
            *arguments = "{}".into();
        }
    }
}
