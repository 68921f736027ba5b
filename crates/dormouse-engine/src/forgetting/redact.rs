//! Computes the payload of an event without forgotten words.

use std::collections::BTreeSet;

use dormouse_contracts::{
    Audience, EffectKey, EntityId, FORGOTTEN, Origin, Seq, StoredEvent, Timestamp, ToolName,
};
use serde_json::{Map, Value, json};

use super::{
    collect::Taken,
    journal,
    names::Names,
    people::Person,
    selection::{Selection, holds},
    words::TellingWords,
};
use crate::{
    event::{ActSpeech, DelegatedTask, Event},
    secrets::mask_payload,
};

/// The payload of an event that lost words begins with this. No other payload does.
const MARK: &[u8] = br#"{"forgotten":true"#;
/// Fields that never contain words of people.
pub(crate) const IDS: [&str; 28] = [
    "withdrawn",
    "evidence",
    "id",
    "key",
    "call",
    "world",
    "record",
    "records",
    "origin",
    "derived_from",
    "sources",
    "briefing_sources",
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

/// The position of a searched value.
#[derive(Clone, Copy, Debug)]
struct Scope {
    /// Whether the person may be among those who noticed an act. Another person may have the same name.
    is_heard: bool,
    /// Whether the fields are those of our own format, so that it is known which ones are ids.
    has_ids: bool,
}

impl Scope {
    const EVENT: Self = Self {
        is_heard: true,
        has_ids: true,
    };
    const OTHERS: Self = Self {
        is_heard: true,
        has_ids: false,
    };

    fn is_id(self, field: &str) -> bool {
        self.has_ids && IDS.contains(&field)
    }

    /// The scope inside this field. Fields of tools have arbitrary names and arbitrary content.
    fn inside(self, field: &str) -> Self {
        Self {
            has_ids: self.has_ids && !matches!(field, "arguments" | "detail"),
            ..self
        }
    }
}

/// Removes taken words from payloads.
pub(super) struct Redactor<'a> {
    pub(super) selection: &'a Selection,
    pub(super) taken: &'a Taken,
    pub(super) words: &'a TellingWords,
    pub(super) names: &'a Names,
}

impl Redactor<'_> {
    /// The event without the taken words; `None` if it does not change.
    pub(super) fn event(
        &self,
        stored: &StoredEvent,
    ) -> Result<Option<Redacted>, serde_json::Error> {
        let kind = stored.kind.as_str();
        if *self.selection == Selection::Secrets {
            return without_secrets(stored);
        }
        let has_words = !is_without_words(kind);
        if !has_words && self.selection.person().is_none() {
            return Ok(None);
        }
        let before: Value = serde_json::from_slice(&stored.payload)?;
        let mut after = before.clone();
        self.operators(kind, "", &mut after);
        let is_whole = has_words && self.whole(stored.seq, kind, &mut after);
        if has_words {
            self.rest(stored.seq, kind, &mut after);
        }
        if after == before {
            return Ok(None);
        }
        let payload = marked(after)?;
        Ok(Some(Redacted { payload, is_whole }))
    }

    /// Removes words of the selection itself. Returns whether there were any.
    fn whole(&self, seq: Seq, kind: &str, event: &mut Value) -> bool {
        let is_taken = self.taken.has(seq) || (self.taken.is_in_turn(seq) && is_of_turns(kind));
        match kind {
            "memory_changed" => return self.memory_changed(seq, event),
            "recollected" => return self.recollected(is_taken, event),
            "task_delegated" | "task_received" => return self.task(seq, is_taken, event),
            "entity_changed" => {
                if is_taken && let Some(change) = event.get_mut("change") {
                    self.entity_change(change);
                }
            }
            _ if !is_taken => {}
            "perceived" => set(event, &["perception", "words"]),
            "remembered" => set(event, &["text"]),
            "replied" | "consulted" | "history_summarized" => {
                set(event, &["text"]);
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
            "journal_changed" => journal::redact(event),
            "fell_asleep" | "woke_up" => set(event, &["reason", "text"]),
            "reflection_requested" => set(event, &["reason"]),
            "goal_created" => set(event, &["description", "text"]),
            "goal_updated" | "self_noted" => set(event, &["note", "text"]),
            "goal_completed" => set(event, &["outcome", "text"]),
            "task_answered" | "delegation_ended" => set(event, &["outcome", "done", "text"]),
            "project_created" | "project_updated" => {
                set(event, &["summary", "text"]);
                set(event, &["context", "text"]);
            }
            "project_swapped" => {
                set(event, &["update", "text"]);
                set(event, &["reasoning", "text"]);
            }
            "parse_failed" => set(event, &["note"]),
            "tool_answered" => set(event, &["content"]),
            "effect_intended" => blank_field(event, "arguments"),
            "approval_requested" => {
                blank_field(event, "arguments");
                // A digest would let somebody verify a guess of the arguments.
                set(event, &["digest"]);
            }
            "effect_settled" => {
                set(event, &["content"]);
                blank_field(event, "outcome");
            }
            _ => {}
        }
        is_taken
    }

    /// A briefing is removed with its task, but it can also be removed alone.
    fn task(&self, seq: Seq, is_taken: bool, event: &mut Value) -> bool {
        if is_taken {
            set(event, &["to"]);
            set(event, &["task", "task", "text"]);
        }
        let briefing = DelegatedTask::briefing_in(seq);
        let is_briefing_taken = is_taken || self.taken.has_origin(briefing);
        if is_briefing_taken {
            set(event, &["task", "briefing", "text"]);
        }
        is_briefing_taken
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

    /// Removes references to a forgotten record from a fold.
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
        let audience = event.get("audience").cloned();
        let audience: Option<Audience> = audience.and_then(|it| serde_json::from_value(it).ok());
        // The blocks name only listeners.
        let may_be_meant = !self.selection.is_left_out_of(audience.as_ref());
        let Some(fields) = event.as_object_mut() else {
            return any;
        };
        for block in ["entities", "orders"] {
            let text = fields.get(block).and_then(|block| block.get("text"));
            let text = text.and_then(Value::as_str).unwrap_or_default();
            if is_taken || self.mentions(text, may_be_meant) || !self.words.find(text).is_empty() {
                any |= fields.remove(block).is_some();
            }
        }
        any
    }

    /// Whether a text that the program composed is about the person.
    fn mentions(&self, text: &str, may_be_meant: bool) -> bool {
        let Some(Person { ids, .. }) = self.selection.person() else {
            return false;
        };
        let mut names = self.names.meaning(may_be_meant);
        ids.iter().any(|id| text.contains(id.as_str())) || names.any(|name| holds(text, name))
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
                // Conclusions from forgotten words are removed, too.
                "step" => *value = json!(0.0),
                "observation" => set(value, &["content"]),
                // Conditions with words were made from the same words.
                "when" => without_words(value),
                "reason" | "topic" | "content" | "description" if value.is_string() => {
                    *value = FORGOTTEN.into();
                }
                "name" | "alias" if is_person => *value = FORGOTTEN.into(),
                _ => {}
            }
        }
    }

    /// Removes copies, wherever they are, and the names of the person.
    fn rest(&self, seq: Seq, kind: &str, event: &mut Value) {
        // The operator's persona is never a copy of what somebody said.
        if kind == "configured" {
            return;
        }
        if kind == "tool_answered"
            && let Some(content) = event.get("content").and_then(Value::as_str)
            && self.shows_profile(content)
        {
            set(event, &["content"]);
        }
        // When the act is remembered, its name is looked up and must still mean the same person.
        if kind == "effect_intended"
            && let Some(mark) = self.taken.addressed.get(&seq)
            && let Some(to @ Value::String(_)) = listener_of(event)
        {
            *to = (*mark).into();
        }
        if kind == "task_delegated"
            && let Some(Value::String(to)) = event.get_mut("to")
            && self.names.means(to, true)
        {
            FORGOTTEN.clone_into(to);
        }
        let is_heard = || {
            let key = event.get("key").and_then(Value::as_str);
            let key = key.and_then(|key| EffectKey::try_new(key).ok());
            !key.is_some_and(|key| self.taken.unheard.contains(&key))
        };
        let is_heard = kind != "effect_settled" || is_heard();
        let scope = Scope {
            is_heard,
            ..Scope::EVENT
        };
        self.names_and_copies("", event, scope);
        // A name that a model wrote may be any words.
        if event.pointer("/author/tool").is_some()
            && let Some(Value::String(name)) = event.pointer_mut("/change/name")
            && let Some(scrubbed) = self.words.scrub(name)
        {
            *name = scrubbed;
        }
    }

    /// Removes the person's name from what they did as an operator. There is no id next to the name, so the name is
    /// also removed for another operator of that name.
    fn operators(&self, kind: &str, field: &str, value: &mut Value) {
        match value {
            Value::String(name) if names_operator(kind, field) && self.names.means(name, true) => {
                FORGOTTEN.clone_into(name);
            }
            Value::Array(values) => {
                let values = values.iter_mut();
                values.for_each(|value| self.operators(kind, field, value));
            }
            Value::Object(fields) => {
                let fields = fields.iter_mut();
                fields.for_each(|(field, value)| self.operators(kind, field, value));
            }
            _ => {}
        }
    }

    /// Whether a result is what the memory knows of the person.
    fn shows_profile(&self, content: &str) -> bool {
        let Some(Person { ids, .. }) = self.selection.person() else {
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
        // Perceptions of others do not name the act that caused them.
        let is_of_assistant = perception.pointer("/attested/sender/assistant").is_some();
        let words = text("/words").unwrap_or_default();
        let is_here = match self.selection {
            // The world does not know numbers of the log. It has only the words, or a copy of them.
            Selection::Record(_) | Selection::WithMessages { .. } => false,
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
        self.scrub_in(perception, Scope::EVENT);
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
        self.scrub_in(record, Scope::EVENT);
        *record != before
    }

    /// Removes copies and names from a value of any format, such as a recording. Returns whether there were any.
    pub(super) fn scrub(&self, value: &mut Value) -> bool {
        self.scrub_in(value, Scope::OTHERS)
    }

    fn scrub_in(&self, value: &mut Value, scope: Scope) -> bool {
        if *self.selection == Selection::Secrets {
            return mask_payload(value, false);
        }
        let before = value.clone();
        self.names_and_copies("", value, scope);
        *value != before
    }

    fn names_and_copies(&self, field: &str, value: &mut Value, scope: Scope) {
        match value {
            // Names as the world lists them.
            Value::String(name)
                if matches!(field, "heard_by" | "seen_by")
                    && self.names.means(name, scope.is_heard) =>
            {
                FORGOTTEN.clone_into(name);
            }
            Value::String(name) if field == "named" && self.is_named(name) => {
                FORGOTTEN.clone_into(name);
            }
            Value::String(text) if !scope.is_id(field) => {
                if let Some(scrubbed) = self.text(text, scope) {
                    *text = scrubbed;
                }
            }
            Value::Array(values) => {
                let values = values.iter_mut();
                values.for_each(|value| self.names_and_copies(field, value, scope));
            }
            Value::Object(fields) => {
                self.name(fields);
                self.called(fields);
                if field == "preferences" {
                    fields.retain(|subject, _| self.words.find(subject).is_empty());
                }
                for (field, value) in fields.iter_mut() {
                    self.names_and_copies(field, value, scope.inside(field));
                }
            }
            _ => {}
        }
    }

    /// A text without copies. A text that is JSON itself stays JSON.
    fn text(&self, text: &str, scope: Scope) -> Option<String> {
        if text.starts_with(['{', '['])
            && let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
        {
            let mut scrubbed = inner.clone();
            let scope = Scope {
                has_ids: false,
                ..scope
            };
            self.names_and_copies("", &mut scrubbed, scope);
            return (scrubbed != inner).then(|| scrubbed.to_string());
        }
        self.words.scrub(text)
    }

    /// Removes the name of a called tool if no tool can have that name, because then it may be any words.
    fn called(&self, fields: &mut Map<String, Value>) {
        let field = match fields.contains_key("arguments") {
            true => "name",
            false => "tool",
        };
        if let Some(Value::String(name)) = fields.get_mut(field)
            && ToolName::try_new(name.as_str()).is_err()
            && let Some(scrubbed) = self.words.scrub(name)
        {
            *name = scrubbed;
        }
    }

    /// Whether a line with this name and no id counts as the person's.
    fn is_named(&self, name: &str) -> bool {
        let person = self.selection.person();
        person.is_some_and(|person| person.named.contains_key(name))
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
        if !mask_payload(&mut after, is_cut) {
            return Ok(None);
        }
        let event = StoredEvent {
            payload: marked(after)?,
            ..stored.clone()
        };
        let is_readable = Event::decode(&event).is_ok();
        payload = Some(event.payload);
        // A mask can be longer than the secret, so a text may exceed its limit.
        if is_readable {
            break;
        }
    }
    let is_whole = true;
    Ok(payload.map(|payload| Redacted { payload, is_whole }))
}

/// The payload, beginning with the mark.
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

/// Whether this field of such an event names a person who acted as an operator.
fn names_operator(kind: &str, field: &str) -> bool {
    match field {
        "operator" | "cleared_by" | "reset_by" | "requested_by" => true,
        "by" => matches!(kind, "approval_answered" | "setting_changed" | "forgotten"),
        _ => false,
    }
}

/// Events that hold no words of anybody.
fn is_without_words(kind: &str) -> bool {
    matches!(
        kind,
        "tick_started"
            | "task_assessed"
            | "tools_offered"
            | "tick_ended"
            | "woke"
            | "configured"
            | "setting_changed"
            | "goal_pursued"
            | "reflection_recorded"
            | "self_note_dropped"
            | "forgotten"
            | "commitment_ended"
            | "delegate_chosen"
            | "task_cancelled"
            | "compacted"
            | "summary_failed"
    )
}

/// Events that only a turn has.
fn is_of_turns(kind: &str) -> bool {
    matches!(
        kind,
        "replied"
            | "parse_failed"
            | "tool_answered"
            | "recollected"
            | "unanswered"
            | "delayed"
            | "approval_requested"
            | "task_delegated"
            | "task_answered"
    )
}

/// Removes conditions with words from a list.
fn without_words(when: &mut Value) {
    if let Value::Array(all) = when {
        all.retain(|one| one.get("words").is_none());
    }
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
pub(super) fn set(event: &mut Value, path: &[&str]) {
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

/// The argument in which an act names somebody.
fn listener_of(intended: &mut Value) -> Option<&mut Value> {
    let speech = intended.get("speech").cloned().unwrap_or_default();
    let speech: ActSpeech = serde_json::from_value(speech).unwrap_or_default();
    let arguments = intended.get_mut("arguments")?;
    arguments.get_mut(speech.listener_argument())
}

/// Removes the arguments of calls, but keeps the calls.
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
