//! `dormouse export`: everything that is stored about one person, from log and memory, as one JSON document.
//!
//! It contains nothing that the person did not perceive: what others said in private is left out.

mod tasks;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{ArgGroup, Args};
use dormouse_contracts::{
    AssistantId, Audience, Clock, EffectKey, EntityId, FORGOTTEN, Origin, Outcome, Seq,
    StoredEvent, each_event,
};
use dormouse_engine::{
    Event, GoalNote, JournalChanged, KnownPeople, Person, ReplayError, WhoError,
};
use dormouse_entities::{Attributes, Conversation, Profile};
use dormouse_host::{SystemClock, check_format};
use dormouse_memory::{Derivation, Memory, Record, RecordKind};
use dormouse_store::LogView;
use serde::Serialize;
use serde_json::{Value, json};
use tasks::{TaskWords, Tasks};

use crate::{
    command::{
        CommandError, CommandFailure, MemoryFile, Places, Printing, Whose, block_on, callers_path,
        chosen, remark, stdout, view_log,
    },
    exit::{Exit, file_exit},
    grammar::counted,
    neutralise::escape_json,
};

/// The version of the document.
const FORMAT: u32 = 1;
/// How many records are read at a time.
const PAGE: usize = 512;

/// Whose data are exported, and where to.
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("of whom").required(true).args(["person"])))]
pub(crate) struct Export {
    /// Whose data: an id, or a name that only one person has
    #[arg(long, value_name = "NAME|ID")]
    pub(crate) person: Option<String>,
    /// Include lines that contain a name of the person but no id, even if other people have this name
    #[arg(long)]
    pub(crate) named: bool,
    /// The new file; an existing file is never overwritten [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Only what this assistant has stored [default: every assistant of the folder]
    #[command(flatten)]
    pub(crate) of: Whose,
}

/// Nothing was exported.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error(transparent)]
    Who(WhoError),
    #[error("--person needs at least one word")]
    Nobody,
    #[error("{} could not be written", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl CommandFailure for ExportError {
    fn exit(&self) -> Exit {
        match self {
            Self::Who(_) | Self::Nobody => Exit::Usage,
            Self::Write { source, .. } => file_exit(source),
        }
    }
}

/// Everything that is stored about one person.
#[derive(Serialize)]
struct Document {
    r#type: &'static str,
    format: u32,
    exported_at: String,
    person: Whom,
    assistants: Vec<Kept>,
}

#[derive(Serialize)]
struct Whom {
    ids: BTreeSet<EntityId>,
    names: BTreeSet<String>,
    /// How many lines have only this name and no id. They count as the person's, because nobody else has the name.
    named_only: BTreeMap<String, u64>,
    /// The same for names that other people also have. These lines are not in the document.
    unclear: BTreeMap<String, u64>,
}

/// What one assistant has stored.
#[derive(Default, Serialize)]
struct Kept {
    assistant: String,
    /// The last event of its log.
    through: u64,
    messages: Vec<Value>,
    answers: Vec<Value>,
    profiles: Vec<Profile>,
    conversations: Vec<Conversation>,
    records: Vec<Value>,
    /// Notes about goals that were made from what the person said.
    goals: Vec<Value>,
    /// The same for projects, and for what the assistant keeps for itself.
    own: Vec<Value>,
    /// Tasks to or from other assistants, and their results, if they were made from what the person said or contain a
    /// name of theirs.
    tasks: Vec<Value>,
    /// Entries of the journal that come from the person, or were made of what they said.
    journal: Vec<Value>,
    /// How much about the person is left out, because it comes from what others said in private.
    withheld: u64,
}

/// Writes everything that is stored about one person.
pub(crate) fn run(places: &Places, export: &Export) -> Result<Exit, CommandError> {
    let file = MemoryFile::locate(places)?;
    block_on(check_format(file.data()))??;
    let log = view_log(&file.data().log(), Printing::Text)?;
    let assistants = log.assistants()?;
    let whose = match &export.of.assistant {
        None => assistants.into_iter().map(|(key, _)| key).collect(),
        asked => vec![chosen(places, file.data(), asked.clone(), assistants)?],
    };
    let who = export.person.as_deref().unwrap_or_default();
    let document = block_on(Box::pin(document(&file, &log, whose, who, export.named)))??;
    let mut text = String::new();
    // Pretty JSON has line feeds of its own; escaping the whole text would escape them too.
    for line in serde_json::to_string_pretty(&document)?.lines() {
        text.push_str(&escape_json(line));
        text.push('\n');
    }
    match &export.out {
        None => stdout().write_all(text.as_bytes())?,
        Some(path) => write_new(&callers_path(path), text.as_bytes())?,
    }
    let count = |of: fn(&Kept) -> usize| document.assistants.iter().map(of).sum::<usize>() as u64;
    for (name, lines) in &document.person.unclear {
        remark(&format!(
            "{} only the name {name:?} and no id, and others have this name or a similar one: left out; --named includes them",
            counted(*lines, "line has", "lines have")
        ));
    }
    remark(&format!(
        "{} and {} written",
        counted(count(|kept| kept.messages.len()), "message", "messages"),
        counted(count(|kept| kept.records.len()), "record", "records"),
    ));
    Ok(Exit::Success)
}

/// A file that only its owner may read.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), ExportError> {
    let failed = |source| ExportError::Write {
        path: path.to_owned(),
        source,
    };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path).map_err(failed)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|error| {
        // Otherwise an incomplete file could be mistaken for a complete one.
        drop(fs::remove_file(path));
        failed(error)
    })
}

async fn document(
    file: &MemoryFile,
    log: &LogView,
    whose: Vec<AssistantId>,
    who: &str,
    is_named: bool,
) -> Result<Document, CommandError> {
    let mut people = KnownPeople::default();
    for key in &whose {
        people.read(log, key).await?;
    }
    if who.trim().is_empty() {
        return Err(ExportError::Nobody.into());
    }
    let person = people.find(who).map_err(ExportError::Who)?;
    let person = match is_named {
        true => person.with_unclear(),
        false => person,
    };
    let ids = &person.ids;
    let mut assistants = Vec::new();
    let mut tasks = Tasks::of(&people.names_of(ids));
    for (key, _) in log.assistants()? {
        if whose.contains(&key) {
            continue;
        }
        // This log may have given a task that was made from what the person said.
        let (mut talk, mut kept) = (Talk::default(), Kept::default());
        let read = |stored: &StoredEvent| talk.take_in(stored, ids, &mut kept);
        each_event(log, &key, .., read).await?;
        tasks.learn(&talk);
    }
    let mut talks = Vec::new();
    for key in whose {
        let mut kept = Kept {
            assistant: key.to_string(),
            ..Kept::default()
        };
        let mut talk = Talk::default();
        let read = |stored: &StoredEvent| talk.take_in(stored, ids, &mut kept);
        each_event(log, &key, .., read).await?;
        let memory = file.view_of(&key).await?;
        from_memory(&memory, &person, &talk.said, &mut kept).await?;
        tasks.learn(&talk);
        talks.push(talk);
        assistants.push(kept);
    }
    for (talk, kept) in talks.into_iter().zip(&mut assistants) {
        tasks.keep(talk, ids, kept);
    }
    Ok(Document {
        r#type: "person",
        format: FORMAT,
        exported_at: SystemClock.now().to_string(),
        person: Whom {
            names: people.names_of(ids),
            ids: person.ids,
            named_only: person.named,
            unclear: person.unclear,
        },
        assistants,
    })
}

/// Whether the person belongs to an audience.
fn is_party(ids: &BTreeSet<EntityId>, audience: &Audience) -> bool {
    ids.iter().any(|id| audience.includes(id) == Some(true))
}

/// What the person said, and what was answered, in the part of the log that was read so far.
#[derive(Default)]
struct Talk {
    /// The events of the messages.
    said: BTreeSet<Seq>,
    /// The message that is being answered.
    answering: Option<Seq>,
    /// Answers that are not carried out yet: the message, the tool and the text of each.
    intended: BTreeMap<EffectKey, (Seq, String, Value)>,
    tasks: Vec<TaskWords>,
}

impl Talk {
    fn take_in(
        &mut self,
        stored: &StoredEvent,
        ids: &BTreeSet<EntityId>,
        kept: &mut Kept,
    ) -> Result<(), ReplayError> {
        kept.through = stored.seq.0;
        match Event::decode(stored)? {
            Event::Perceived(perceived) => {
                let attested = &perceived.perception.attested;
                if attested.sender.id().is_some_and(|id| ids.contains(id)) {
                    self.said.insert(stored.seq);
                    kept.messages.push(json!({
                        "event": stored.seq,
                        "at": attested.at.to_string(),
                        "world": attested.delivery.world,
                        "as": attested.sender,
                        "how": attested.source,
                        "place": attested.place,
                        "audience": attested.audience,
                        "text": perceived.perception.words.as_claimed(),
                        "trust": perceived.trust,
                        "classification": perceived.classification.verdict.to_string(),
                    }));
                }
            }
            Event::TickStarted(started) => {
                self.answering =
                    Some(started.trigger).filter(|trigger| self.said.contains(trigger));
            }
            Event::EffectIntended(it) => {
                let is_heard = it.audience.as_ref().is_none_or(|all| is_party(ids, all));
                let message = self.answering.filter(|_| is_heard);
                if let (Some(message), Some(text)) = (message, it.arguments.get("message")) {
                    let answer = (message, it.tool.to_string(), text.clone());
                    self.intended.insert(it.key, answer);
                }
            }
            Event::EffectSettled(settled) => {
                if let Some((message, tool, text)) = self.intended.remove(&settled.key)
                    && matches!(settled.outcome, Outcome::Done(_))
                {
                    kept.answers.push(json!({
                        "event": stored.seq,
                        "at": stored.at.to_string(),
                        "to": message,
                        "tool": tool,
                        "text": text,
                    }));
                }
            }
            Event::JournalChanged(changed) => self.written_down(stored, &changed, ids, kept),
            event => {
                let tasks = tasks::words(stored, &event, &self.said, self.answering.is_some());
                self.tasks.extend(tasks);
                self.noted(stored, &event, ids, kept);
            }
        }
        Ok(())
    }
}

impl Talk {
    /// Keeps what is written into the journal, if it comes from the person or was made of what they said.
    fn written_down(
        &self,
        stored: &StoredEvent,
        changed: &JournalChanged,
        ids: &BTreeSet<EntityId>,
        kept: &mut Kept,
    ) {
        for entry in changed.entries() {
            let mut sources = entry.provenance.sources.as_slice().iter();
            let id = entry.source_entity.id();
            let is_theirs = id.is_some_and(|id| ids.contains(id))
                || sources.any(|source| self.said.contains(&source.seq()));
            if !is_theirs || entry.content == FORGOTTEN {
                continue;
            }
            match is_party(ids, &entry.provenance.audience) {
                true => kept.journal.push(json!({
                    "event": stored.seq,
                    "at": entry.timestamp.to_string(),
                    "entry": entry.id,
                    "text": entry.content,
                    "tags": entry.tags,
                    "trust": entry.source_trust,
                    "importance": entry.importance,
                    "made_of": entry.provenance.sources,
                })),
                false => kept.withheld += 1,
            }
        }
    }

    /// Keeps a note about a goal, a project or the assistant itself, if it was made from what the person said.
    fn noted(
        &self,
        stored: &StoredEvent,
        event: &Event,
        ids: &BTreeSet<EntityId>,
        kept: &mut Kept,
    ) {
        let is_theirs = |note: &&GoalNote| {
            let mut sources = note.sources.as_slice().iter();
            sources.any(|source| self.said.contains(&source.seq()))
        };
        let (kind, of) = match event {
            Event::GoalCreated(it) => ("goal", json!(it.id)),
            Event::GoalUpdated(it) => ("goal", json!(it.id)),
            Event::GoalCompleted(it) => ("goal", json!(it.id)),
            Event::ProjectCreated(it) => ("project", it.id.to_string().into()),
            Event::ProjectUpdated(it) => ("project", it.id.to_string().into()),
            Event::ProjectSwapped(it) => ("project", it.to.to_string().into()),
            Event::SelfNoted(it) => ("note", json!(it.id)),
            _ => return,
        };
        // The update describes the project that is left, not the new one.
        let left = match event {
            Event::ProjectSwapped(it) => it.update.as_ref().zip(it.from.as_ref()),
            _ => None,
        };
        let notes = event.noted().into_iter().flat_map(|(_, notes)| notes);
        for note in notes.filter(is_theirs) {
            if !is_party(ids, &note.audience) {
                kept.withheld += 1;
                continue;
            }
            let mut row = json!({
                "event": stored.seq,
                "at": stored.at.to_string(),
                "text": note.text,
                "trust": note.trust,
                "made_of": note.sources,
            });
            if let Value::Object(fields) = &mut row {
                let left = left.filter(|(update, _)| std::ptr::eq(*update, note));
                let of = left.map_or_else(|| of.clone(), |(_, left)| left.to_string().into());
                fields.insert(kind.to_owned(), of);
            }
            match kind {
                "goal" => kept.goals.push(row),
                _ => kept.own.push(row),
            }
        }
    }
}

/// The profile, the conversations, and the records that are about the person or made of what they said.
async fn from_memory(
    memory: &Memory,
    person: &Person,
    said: &BTreeSet<Seq>,
    kept: &mut Kept,
) -> Result<(), CommandError> {
    let ids = &person.ids;
    memory.with_entities(|entities| {
        for id in ids {
            if let Some(profile) = entities.profile(id).filter(|it| it.entity_id == *id) {
                let (profile, withheld) = of_profile(profile.clone(), ids);
                kept.profiles.push(profile);
                kept.withheld += withheld;
            }
            let running = entities.conversation(id).into_iter();
            let ended = entities.archived(id).into_iter().map(|it| &it.conversation);
            // If ids were merged, only the remaining id has conversations.
            let is_own = entities.survivor(id) == id;
            for conversation in running.chain(ended).filter(|_| is_own) {
                let mut conversation = conversation.clone();
                let actions = &mut conversation.pending_actions;
                kept.withheld += keep_known(actions, ids, |action| action.audience.as_ref());
                kept.conversations.push(conversation);
            }
        }
    });
    let mut after: Option<Origin> = None;
    loop {
        let page = memory.records(after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = Some(last.id);
        for record in &page {
            if record.text.is_empty() || !is_about(record, person, said) {
                continue;
            }
            // The person knows what they said themselves.
            match person.is(&record.speaker) || is_party(ids, &record.known_to()) {
                true => kept.records.push(of_record(record)?),
                false => kept.withheld += 1,
            }
        }
    }
}

/// Whether a record is about the person, or comes from them. Their messages themselves are in the document already.
fn is_about(record: &Record, person: &Person, said: &BTreeSet<Seq>) -> bool {
    let is_message =
        record.provenance.derivation == Derivation::Heard && said.contains(&record.id.seq());
    let is_order = matches!(
        record.kind,
        RecordKind::Instruction | RecordKind::Preference
    );
    if is_message {
        // An order is a message that the assistant keeps following.
        return is_order;
    }
    let is_noted = record.provenance.derivation == Derivation::Stored;
    let is_tagged = record.tags.iter().any(|tag| {
        person.ids.iter().any(|id| id.as_str() == tag)
            // The assistant tags its notes with the person that they are about.
            || (is_noted && person.named.contains_key(tag))
    });
    let sources = &record.provenance.derived_from;
    person.is(&record.speaker)
        || is_tagged
        || sources.iter().any(|source| said.contains(&source.seq()))
}

fn of_record(record: &Record) -> Result<Value, serde_json::Error> {
    Ok(json!({
        "id": record.id,
        "at": record.at.to_string(),
        "kind": record.kind,
        "from": record.speaker,
        "text": record.text,
        "trust": record.trust,
        "audience": record.audience,
        "made_of": record.provenance.derived_from,
        "status": serde_json::to_value(record.status)?,
    }))
}

/// A profile without the items that come from private words of others, and the number of these items.
fn of_profile(mut profile: Profile, ids: &BTreeSet<EntityId>) -> (Profile, u64) {
    let observations = &mut profile.observations;
    let mut withheld = keep_known(observations, ids, |observation| {
        observation.audience.as_ref()
    });
    let attributes = &profile.attributes;
    let audience = attributes.audience.as_ref();
    if !attributes.is_empty() && !audience.is_some_and(|audience| is_party(ids, audience)) {
        withheld += 1;
        profile.attributes = Attributes::default();
    }
    let judgements = profile.relationship.judgements().len();
    profile.relationship = profile
        .relationship
        .without(|audience| is_party(ids, audience));
    withheld += (judgements - profile.relationship.judgements().len()) as u64;
    (profile, withheld)
}

/// Keeps the items that the person perceived. Returns how many it removed.
fn keep_known<T>(
    items: &mut Vec<T>,
    ids: &BTreeSet<EntityId>,
    audience: impl Fn(&T) -> Option<&Audience>,
) -> u64 {
    let before = items.len();
    items.retain(|item| audience(item).is_some_and(|audience| is_party(ids, audience)));
    (before - items.len()) as u64
}
