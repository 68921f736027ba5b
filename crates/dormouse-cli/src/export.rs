//! `dormouse export`: everything that is kept of one person, from log and memory, as one JSON document.
//!
//! It holds nothing that the person was not party to: what others said in private stays with them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{ArgGroup, Args};
use dormouse::SystemClock;
use dormouse_contracts::{
    AssistantId, Audience, Clock, EntityId, Origin, Outcome, ReadEvents, Seq,
};
use dormouse_engine::{Event, KnownPeople, WhoError};
use dormouse_memory::{Derivation, Memory, Record, RecordKind};
use dormouse_store::LogView;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    command::{
        CommandError, CommandFailure, MemoryFile, Places, Printing, Whose, block_on, chosen,
        remark, view_log,
    },
    exit::Exit,
    grammar::counted,
    neutralise::escape_json,
};

/// The version of the document.
const FORMAT: u32 = 1;
/// How many events or records are read at a time.
const PAGE: usize = 512;

/// Whose data are exported, and where to.
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("of whom").required(true).args(["person"])))]
pub(crate) struct Export {
    /// Whose data: an id, or a name that only one person has
    #[arg(long, value_name = "NAME|ID")]
    pub(crate) person: Option<String>,
    /// The new file; an existing file is never overwritten [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Only what this assistant keeps [default: every assistant of the folder]
    #[command(flatten)]
    pub(crate) of: Whose,
}

/// Nothing was exported.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error(transparent)]
    Who(WhoError),
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
            Self::Who(_) => Exit::Usage,
            Self::Write { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                Exit::Usage
            }
            Self::Write { .. } => Exit::Failure,
        }
    }
}

/// Everything that is kept of one person.
#[derive(Serialize)]
struct Document {
    r#type: &'static str,
    format: u32,
    exported_at: String,
    person: Person,
    assistants: Vec<Kept>,
}

#[derive(Serialize)]
struct Person {
    ids: BTreeSet<EntityId>,
    names: BTreeSet<String>,
}

/// What one assistant keeps.
#[derive(Default, Serialize)]
struct Kept {
    assistant: String,
    /// The last event of its log.
    through: u64,
    messages: Vec<Value>,
    answers: Vec<Value>,
    profiles: Vec<Value>,
    conversations: Vec<Value>,
    records: Vec<Value>,
    /// How much about the person is left out, because it comes from what others said in private.
    withheld: u64,
}

/// Writes everything that is kept of one person.
pub(crate) fn run(places: &Places, export: &Export) -> Result<Exit, CommandError> {
    let file = MemoryFile::locate(places)?;
    let log = view_log(&file.data().log(), Printing::Text)?;
    let assistants = log.assistants()?;
    let whose = match &export.of.assistant {
        None => assistants.into_iter().map(|(key, _)| key).collect(),
        asked => vec![chosen(places, file.data(), asked.clone(), assistants)?],
    };
    let who = export.person.as_deref().unwrap_or_default();
    let document = block_on(Box::pin(document(&file, &log, whose, who)))??;
    let mut text = String::new();
    // Pretty JSON has line feeds of its own; escaping the whole text would escape them too.
    for line in serde_json::to_string_pretty(&document)?.lines() {
        text.push_str(&escape_json(line));
        text.push('\n');
    }
    match &export.out {
        None => io::stdout().lock().write_all(text.as_bytes())?,
        Some(path) => write_new(path, text.as_bytes())?,
    }
    let count = |of: fn(&Kept) -> usize| document.assistants.iter().map(of).sum::<usize>() as u64;
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
        // Otherwise a part could be mistaken for everything.
        drop(fs::remove_file(path));
        failed(error)
    })
}

async fn document(
    file: &MemoryFile,
    log: &LogView,
    whose: Vec<AssistantId>,
    who: &str,
) -> Result<Document, CommandError> {
    let mut people = KnownPeople::default();
    for key in &whose {
        people.read(log, key).await?;
    }
    let ids = people.find(who).map_err(ExportError::Who)?;
    let mut assistants = Vec::new();
    for key in whose {
        let mut kept = Kept {
            assistant: key.to_string(),
            ..Kept::default()
        };
        let said = from_log(log, &key, &ids, &mut kept).await?;
        let memory = file.view_of(&key).await?;
        from_memory(&memory, &ids, &said, &mut kept).await?;
        assistants.push(kept);
    }
    Ok(Document {
        r#type: "person",
        format: FORMAT,
        exported_at: SystemClock.now().to_string(),
        person: Person {
            names: people.names_of(&ids),
            ids,
        },
        assistants,
    })
}

/// Whether the person was party to it.
fn is_known_to(ids: &BTreeSet<EntityId>, audience: Option<&Audience>) -> bool {
    audience.is_some_and(|audience| ids.iter().any(|id| audience.includes(id) == Some(true)))
}

/// What the person said, and what was answered. Returns the events of the messages.
async fn from_log(
    log: &LogView,
    key: &AssistantId,
    ids: &BTreeSet<EntityId>,
    kept: &mut Kept,
) -> Result<BTreeSet<Seq>, CommandError> {
    let mut said = BTreeSet::new();
    let mut answering = None;
    let mut intended = BTreeMap::new();
    let mut through = Seq::ZERO;
    loop {
        let page = log.read(key, through, PAGE).await?;
        let Some(last) = page.last() else {
            kept.through = through.0;
            return Ok(said);
        };
        through = last.seq;
        for stored in &page {
            match Event::decode(stored).map_err(dormouse_engine::ReplayError::from)? {
                Event::Perceived(perceived) => {
                    let attested = &perceived.perception.attested;
                    if attested.sender.id().is_some_and(|id| ids.contains(id)) {
                        said.insert(stored.seq);
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
                    answering = Some(started.trigger).filter(|trigger| said.contains(trigger));
                }
                Event::EffectIntended(it) => {
                    let is_answer = answering.filter(|_| {
                        it.audience.is_none() || is_known_to(ids, it.audience.as_ref())
                    });
                    if let (Some(message), Some(text)) = (is_answer, it.arguments.get("message")) {
                        let answer = (message, it.tool.to_string(), text.clone());
                        intended.insert(it.key.clone(), answer);
                    }
                }
                Event::EffectSettled(settled) => {
                    if let Some((message, tool, text)) = intended.remove(&settled.key)
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
                _ => {}
            }
        }
    }
}

/// The profile, the conversations, and the records that are about the person or made of what they said.
async fn from_memory(
    memory: &Memory,
    ids: &BTreeSet<EntityId>,
    said: &BTreeSet<Seq>,
    kept: &mut Kept,
) -> Result<(), CommandError> {
    memory.with_entities(|entities| -> Result<(), CommandError> {
        for id in ids {
            if let Some(profile) = entities.profile(id).filter(|it| it.entity_id == *id) {
                kept.profiles.push(of_profile(
                    serde_json::to_value(profile)?,
                    ids,
                    &mut kept.withheld,
                ));
            }
            let running = entities.conversation(id).into_iter();
            let ended = entities.archived(id).into_iter().map(|it| &it.conversation);
            // Of ids of one person only the one that remains has conversations of its own.
            let is_own = entities.survivor(id) == id;
            for conversation in running.chain(ended).filter(|_| is_own) {
                let mut conversation = serde_json::to_value(conversation)?;
                kept.withheld += keep_known(&mut conversation, "pending_actions", ids);
                kept.conversations.push(conversation);
            }
        }
        Ok(())
    })?;
    let mut after: Option<Origin> = None;
    loop {
        let page = memory.records(after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = Some(last.id);
        for record in &page {
            if record.text.is_empty() || !is_about(record, ids, said) {
                continue;
            }
            match is_known_to(ids, Some(&record.known_to())) {
                true => kept.records.push(of_record(record)?),
                false => kept.withheld += 1,
            }
        }
    }
}

/// Whether a record is about the person, or of them. Their messages themselves are in the document already.
fn is_about(record: &Record, ids: &BTreeSet<EntityId>, said: &BTreeSet<Seq>) -> bool {
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
    let is_by = record.speaker.id().is_some_and(|id| ids.contains(id));
    let is_tagged = record
        .tags
        .iter()
        .any(|tag| ids.iter().any(|id| id.as_str() == tag));
    let sources = &record.provenance.derived_from;
    is_by || is_tagged || sources.iter().any(|source| said.contains(&source.seq()))
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

/// A profile without what comes from what others said in private.
fn of_profile(mut profile: Value, ids: &BTreeSet<EntityId>, withheld: &mut u64) -> Value {
    *withheld += keep_known(&mut profile, "observations", ids);
    let attributes = profile.get("attributes");
    let is_set = attributes
        .and_then(|it| it.get("trust"))
        .and_then(Value::as_object);
    if is_set.is_some_and(|set| !set.is_empty()) && !attributes.is_some_and(|it| has_heard(it, ids))
    {
        *withheld += 1;
        if let Some(fields) = profile.as_object_mut() {
            fields.remove("attributes");
        }
    }
    profile
}

fn has_heard(item: &Value, ids: &BTreeSet<EntityId>) -> bool {
    let audience = item.get("audience").cloned();
    let audience = audience.and_then(|it| serde_json::from_value::<Audience>(it).ok());
    is_known_to(ids, audience.as_ref())
}

/// Keeps the items of the list with this name that the person was party to. Returns how many it removed.
fn keep_known(holder: &mut Value, list: &str, ids: &BTreeSet<EntityId>) -> u64 {
    let Some(Value::Array(items)) = holder.get_mut(list) else {
        return 0;
    };
    let before = items.len();
    items.retain(|item| has_heard(item, ids));
    (before - items.len()) as u64
}
