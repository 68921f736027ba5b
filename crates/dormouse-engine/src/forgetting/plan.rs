//! What a selection removes from the logs of assistants, and the rewriting of one log.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use dormouse_contracts::{
    AssistantId, EffectKey, NewEvent, ReadEvents, Sender, Seq, StoredEvent, Timestamp, each_event,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    collect::{Collector, Taken},
    names::Names,
    people::KnownPeople,
    redact::{Redacted, Redactor, lost_words},
    selection::Selection,
    tasks::TakenTasks,
    words::{Speaker, TellingWords},
};
use crate::{
    event::{Event, Forgotten},
    replay::{self, ReplayError},
    secrets::masked_text,
};

/// How many examples of each kind of thing are kept.
const EXAMPLES: usize = 100;
/// How many characters of an example are kept.
const EXAMPLE: usize = 80;

/// What a selection removes from one log.
#[derive(Debug)]
pub struct ForgetPlan {
    selection: Selection,
    names: Names,
    taken: Taken,
    words: Arc<TellingWords>,
    counts: BTreeMap<String, u64>,
    examples: BTreeMap<String, Vec<String>>,
    events: u64,
    messages: (u64, u64),
    through: Seq,
}

impl ForgetPlan {
    /// Reads the logs of these assistants three times, one page at a time: to find what is taken, to find what others
    /// said first, and to count. The log of one assistant may have copies of what another one heard. If tasks of
    /// assistants are taken, all logs are read again for each assistant that passed them on. From the logs of the
    /// `others` of the folder, only what these tasks carried there is taken; an assistant that loses nothing gets no
    /// plan. The memory used grows with what is taken, not with the logs.
    ///
    /// # Errors
    ///
    /// [`ReplayError`], which names the first event that could not be read.
    pub async fn of_each<L: ReadEvents + ?Sized>(
        log: &L,
        keys: &[AssistantId],
        others: &[AssistantId],
        selection: Selection,
        people: &KnownPeople,
    ) -> Result<BTreeMap<AssistantId, Self>, ReplayError> {
        let mut tasks = TakenTasks::default();
        let groups = loop {
            let before = tasks.len();
            let mut asked = Group::new(selection.clone(), people);
            for key in keys {
                asked.read(log, key, &mut tasks).await?;
            }
            let mut carried = Group::new(Selection::Carried, people);
            let reached = match tasks.is_empty() {
                true => &[],
                false => others,
            };
            for key in reached {
                carried.read(log, key, &mut tasks).await?;
            }
            // The words of a task may have been passed on from one log to another, even to one that was already read.
            if tasks.len() == before {
                break [asked, carried];
            }
        };
        let mut plans = BTreeMap::new();
        for group in groups {
            plans.extend(group.plans(log).await?);
        }
        Ok(plans)
    }

    fn is_empty(&self) -> bool {
        let is_empty = self.taken.origins.is_empty() && self.words.is_empty();
        is_empty && self.selection != Selection::Secrets
    }

    fn count(&mut self, stored: &StoredEvent) -> Result<(), ReplayError> {
        // An event that already lost its words does not count again.
        let is_message = stored.kind == "perceived" && !lost_words(stored);
        self.messages.1 += u64::from(is_message);
        let Some(redacted) = self.redacted(stored)? else {
            return Ok(());
        };
        self.events += 1;
        let what = match redacted.is_whole {
            true => what(&stored.kind),
            false => "copies",
        };
        // A message without its secrets is still a message.
        let is_secrets = self.selection == Selection::Secrets;
        self.messages.0 += u64::from(is_message && redacted.is_whole && !is_secrets);
        *self.counts.entry(what.to_owned()).or_default() += 1;
        let examples = self.examples.entry(what.to_owned()).or_default();
        if examples.len() < EXAMPLES {
            examples.push(match is_secrets {
                // Secrets are never printed.
                true => example(&StoredEvent {
                    payload: redacted.payload,
                    ..stored.clone()
                }),
                false => example(stored),
            });
        }
        Ok(())
    }

    fn redactor(&self) -> Redactor<'_> {
        Redactor {
            selection: &self.selection,
            taken: &self.taken,
            words: &self.words,
            names: &self.names,
        }
    }

    fn redacted(&self, stored: &StoredEvent) -> Result<Option<Redacted>, ReplayError> {
        let redacted = self.redactor().event(stored);
        let unreadable = |source| crate::event::DecodeError::Payload {
            seq: stored.seq,
            kind: stored.kind.clone(),
            source,
        };
        let redacted = redacted.map_err(unreadable)?;
        if let Some(redacted) = &redacted {
            // An unreadable event would make the whole log unreadable, so the result is checked.
            Event::decode(&StoredEvent {
                payload: redacted.payload.clone(),
                ..stored.clone()
            })?;
        }
        Ok(redacted)
    }

    /// The payload of an event without the taken words; `None` if the event does not change.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] if the event cannot be read, with or without the words.
    pub fn redact(&self, stored: &StoredEvent) -> Result<Option<Vec<u8>>, ReplayError> {
        Ok(self.redacted(stored)?.map(|redacted| redacted.payload))
    }

    /// What was selected.
    #[must_use]
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// How many events lose words.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How many events of each kind of thing lose words. `copies` counts events that only repeat taken words.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<String, u64> {
        &self.counts
    }

    /// The first hundred examples of each kind, with the number of the event.
    #[must_use]
    pub fn examples(&self) -> &BTreeMap<String, Vec<String>> {
        &self.examples
    }

    /// Whether it takes every message of the log.
    #[must_use]
    pub fn takes_everything(&self) -> bool {
        let (taken, all) = self.messages;
        all > 0 && taken == all
    }

    /// The last event of the log.
    #[must_use]
    pub fn through(&self) -> Seq {
        self.through
    }

    /// A text of another file without repetitions of taken words; `None` if it has none.
    #[must_use]
    pub fn scrub_text(&self, text: &str) -> Option<String> {
        match self.selection {
            Selection::Secrets => masked_text(text),
            _ => self.words.scrub(text),
        }
    }

    /// Removes forgotten words from a JSON value of another file, such as a recording. Returns whether there were any.
    pub fn scrub(&self, value: &mut Value) -> bool {
        self.redactor().scrub(value)
    }

    /// Removes forgotten words from a stored perception of a world. Returns whether there were any.
    pub fn scrub_perception(&self, perception: &mut Value) -> bool {
        self.redactor().perception(perception)
    }

    /// Removes forgotten words from an act and its outcome in a world. Returns whether there were any.
    pub fn scrub_effect(&self, record: &mut Value) -> bool {
        self.redactor().effect(record)
    }
}

/// Logs with the same selection.
struct Group {
    selection: Selection,
    names: Names,
    words: TellingWords,
    /// What is taken from each log, and its last event.
    found: Vec<(AssistantId, Taken, Seq)>,
}

impl Group {
    fn new(selection: Selection, people: &KnownPeople) -> Self {
        Self {
            names: Names::of(&selection, people),
            words: match &selection {
                Selection::Text(text) => TellingWords::always(text),
                _ => TellingWords::default(),
            },
            selection,
            found: Vec::new(),
        }
    }

    /// Finds what is taken from one log.
    async fn read<L: ReadEvents + ?Sized>(
        &mut self,
        log: &L,
        key: &AssistantId,
        tasks: &mut TakenTasks,
    ) -> Result<(), ReplayError> {
        let effects = own_words(log, key, &self.selection).await?;
        let shared = (&mut self.words, tasks);
        let mut collector = Collector::new(&self.selection, &self.names, effects, shared);
        let mut through = Seq::ZERO;
        each_event(log, key, .., |stored| {
            through = stored.seq;
            let event = Event::decode(stored)?;
            if has_words_or_turns(&stored.kind) {
                collector.take_in(stored.seq, stored.at, &event);
            }
            collector.fold(stored, &event);
            Ok::<_, ReplayError>(())
        })
        .await?;
        let taken = collector.end(through);
        self.found.push((key.clone(), taken, through));
        Ok(())
    }

    /// Finds what others said first, and counts.
    async fn plans<L: ReadEvents + ?Sized>(
        mut self,
        log: &L,
    ) -> Result<BTreeMap<AssistantId, ForgetPlan>, ReplayError> {
        if !self.words.is_empty() {
            for (key, taken, _) in &self.found {
                let words = &mut self.words;
                each_event(log, key, .., |stored| said_first(words, taken, stored)).await?;
            }
        }
        let words = Arc::new(self.words);
        let mut plans = BTreeMap::new();
        for (key, taken, through) in self.found {
            let mut plan = ForgetPlan {
                selection: self.selection.clone(),
                names: self.names.clone(),
                taken,
                words: Arc::clone(&words),
                counts: BTreeMap::new(),
                examples: BTreeMap::new(),
                events: 0,
                messages: (0, 0),
                through,
            };
            if !plan.is_empty() {
                each_event(log, &key, .., |stored| plan.count(stored)).await?;
            }
            if plan.events > 0 || plan.selection != Selection::Carried {
                plans.insert(key, plan);
            }
        }
        Ok(plans)
    }
}

/// Rewrites one log by a plan, and computes the hash of the log before and after.
#[derive(Debug)]
pub struct LogRewrite<'p> {
    plan: &'p ForgetPlan,
    before: Sha256,
    after: Sha256,
}

impl<'p> LogRewrite<'p> {
    /// Begins before the first event.
    #[must_use]
    pub fn new(plan: &'p ForgetPlan) -> Self {
        Self {
            plan,
            before: Sha256::new(),
            after: Sha256::new(),
        }
    }

    /// The payload of the next event; `None` if it stays.
    ///
    /// # Errors
    ///
    /// As [`ForgetPlan::redact`].
    pub fn payload(&mut self, stored: &StoredEvent) -> Result<Option<Vec<u8>>, ReplayError> {
        let payload = self.plan.redact(stored)?;
        hash(&mut self.before, stored, &stored.payload);
        hash(
            &mut self.after,
            stored,
            payload.as_ref().unwrap_or(&stored.payload),
        );
        Ok(payload)
    }

    /// The event that says what was forgotten, by whom and why, with the hashes of the log before and after. It is the last
    /// event of the new log.
    ///
    /// # Errors
    ///
    /// An error of serde_json.
    pub fn end(self, at: Timestamp, by: &str, reason: &str) -> Result<NewEvent, serde_json::Error> {
        let clean = |text: &str| {
            let scrubbed = self.plan.scrub_text(text);
            scrubbed.unwrap_or_else(|| text.to_owned())
        };
        let forgotten = Forgotten {
            selected: self.plan.selection.selected(),
            by: by.to_owned(),
            reason: clean(reason),
            events: self.plan.events,
            taken: self.plan.counts.clone(),
            log_before: hex(self.before),
            log_after: hex(self.after),
        };
        Event::Forgotten(forgotten).encode(at)
    }
}

fn hash(hash: &mut Sha256, stored: &StoredEvent, payload: &[u8]) {
    hash.update(stored.seq.0.to_le_bytes());
    hash.update(stored.at.as_micros().to_le_bytes());
    hash.update(stored.schema.to_le_bytes());
    // Lengths separate the fields.
    hash.update((stored.kind.len() as u64).to_le_bytes());
    hash.update(&stored.kind);
    hash.update((payload.len() as u64).to_le_bytes());
    hash.update(payload);
}

fn hex(hash: Sha256) -> String {
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// If the record of the assistant's own words is selected, the act that said them: the words are in an earlier event.
async fn own_words<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    selection: &Selection,
) -> Result<HashSet<EffectKey>, ReplayError> {
    let (Selection::Record(record) | Selection::WithMessages { record, .. }) = selection else {
        return Ok(HashSet::new());
    };
    let said = match replay::event(log, key, record.seq()).await? {
        Some(Event::EffectSettled(settled)) => Some(settled.key),
        Some(Event::EffectIntended(intended)) => Some(intended.key),
        _ => None,
    };
    Ok(said.into_iter().collect())
}

/// Learns what others said, what the assistant said to others, and its instructions.
fn said_first(
    words: &mut TellingWords,
    taken: &Taken,
    stored: &StoredEvent,
) -> Result<(), ReplayError> {
    let (seq, at) = (stored.seq, stored.at);
    if !matches!(
        stored.kind.as_str(),
        "perceived" | "effect_intended" | "configured"
    ) || taken.has(seq)
    {
        return Ok(());
    }
    match Event::decode(stored)? {
        Event::Perceived(perceived) => {
            let said = perceived.perception.words.as_claimed();
            let sender = &perceived.perception.attested.sender;
            let by = match sender {
                // Another assistant repeats what it heard, too.
                Sender::Myself { .. } | Sender::Assistant { .. } => Speaker::Assistant,
                _ => Speaker::Person,
            };
            words.is_known_from(at, by, said);
        }
        Event::EffectIntended(intended) => {
            for text in intended.arguments.values().filter_map(Value::as_str) {
                words.is_known_from(at, Speaker::Assistant, text);
            }
        }
        Event::Configured(configured) => {
            let persona = configured.persona.unwrap_or_default();
            words.is_known_from(at, Speaker::Assistant, &persona);
        }
        _ => {}
    }
    Ok(())
}

/// Kinds of events that hold words or mark turns.
fn has_words_or_turns(kind: &str) -> bool {
    !matches!(
        kind,
        "configured" | "setting_changed" | "woke" | "forgotten"
    )
}

/// For people: what kind of words an event of this kind has.
fn what(kind: &str) -> &'static str {
    match kind {
        "perceived" => "messages",
        "replied" | "parse_failed" | "consulted" | "history_summarized" => "replies of models",
        "tool_answered" => "results of tools",
        "effect_intended" | "effect_settled" | "unanswered" | "delayed" | "approval_requested" => {
            "acts of the assistant"
        }
        "remembered" | "memory_changed" => "notes and facts",
        "entity_changed" => "what is known of people",
        "recollected" => "recollections",
        "goal_created" | "goal_updated" | "goal_completed" => "goals",
        "task_delegated" | "task_received" | "task_answered" | "delegation_ended" => {
            "tasks of assistants"
        }
        "project_created" | "project_updated" | "project_swapped" => "projects",
        "self_noted" => "what it keeps for itself",
        "journal_changed" => "journal",
        _ => "other events",
    }
}

/// The beginning of what an event says.
fn example(stored: &StoredEvent) -> String {
    let event: Value = serde_json::from_slice(&stored.payload).unwrap_or_default();
    let text = [
        "/perception/words",
        "/text",
        "/reply/content",
        "/content",
        "/arguments/message",
        "/change/observation/content",
        "/description/text",
        "/note/text",
        "/outcome/text",
        "/task/task/text",
        "/outcome/done/text",
        "/summary/text",
        "/context/text",
        "/update/text",
        "/reasoning/text",
        "/changes/0/entry/content",
        "/changes/0/insights/0/content",
    ];
    let said = event
        .pointer("/speech/speaks/words")
        .and_then(Value::as_str);
    let said = said.and_then(|words| event.get("arguments")?.get(words)?.as_str());
    let text = said.or_else(|| text.iter().find_map(|path| event.pointer(path)?.as_str()));
    let text: String = match text {
        Some(text) => text.chars().take(EXAMPLE).collect(),
        None => stored.kind.clone(),
    };
    format!("#{} {text}", stored.seq)
}
