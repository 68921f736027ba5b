//! `dormouse journal`: what the assistant wrote down.

use clap::{Args, Subcommand};
use dormouse_contracts::{AssistantId, Clock, Hit};
use dormouse_engine::{
    Event, JournalBook, JournalChanged, ReflectionRequested, State, left_entry, named_source,
    similar_entries,
};
use dormouse_host::{DataFolder, SystemClock};
use dormouse_journal::{
    EntryError, EntryId, EntryLabel, EntryLabelError, Importance, ImportanceError,
    ImportanceMethod, Journal, JournalChange, JournalChangeError, JournalEntry, JournalQuery,
    JournalSearch, NewEntry, SourceType, SourceTypeError,
};
use dormouse_providers::EmbedderChoice;
use serde_json::{Value, json};

use crate::{
    command::{
        AssistantLog, CommandError, CommandFailure, JsonFlag, MemoryFile, Places, Printing, Whose,
        author, block_on, query, remark, say, view_state, whole,
    },
    exit::{Exit, Report},
    grammar::counted,
    provider::ProviderFlags,
    recall::{RecallError, embedder},
};

/// What an assistant wrote down.
#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// List the entries, oldest first
    List {
        #[command(flatten)]
        of: Whose,
        #[command(flatten)]
        within: Within,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Search the entries, and say why each was found
    Search(SearchEntries),
    /// Print everything known about an entry
    Show {
        #[command(flatten)]
        of: Whose,
        /// Its number
        #[arg(value_name = "ENTRY", value_parser = whole::<u64>(1..=u64::MAX))]
        entry: u64,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Write an entry. The assistant may tell everybody about it
    Add(WriteEntry),
    /// Put back an entry that has left the journal. It is never pruned after that
    Restore {
        #[command(flatten)]
        of: Whose,
        /// Its number
        #[arg(value_name = "ENTRY", value_parser = whole::<u64>(1..=u64::MAX))]
        entry: u64,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "restored by a command")]
        reason: String,
    },
    /// Let the assistant look back over its journal in its next turn
    Reflect {
        #[command(flatten)]
        of: Whose,
        /// Draw conclusions now instead: ask questions about its entries, recall memories for them, and write insights
        #[arg(long)]
        conclude: bool,
        /// Let a model score the importance of a few entries first; only with --conclude
        #[arg(long, requires = "conclude")]
        score: bool,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "asked for by a command")]
        reason: String,
        #[command(flatten)]
        provider: ProviderFlags,
        #[command(flatten)]
        json: JsonFlag,
    },
}

/// Searching.
#[derive(Clone, Debug, Args)]
pub(crate) struct SearchEntries {
    #[command(flatten)]
    pub(crate) of: Whose,
    /// The words
    #[arg(value_name = "WORDS", value_parser = query)]
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) within: Within,
    /// The maximum number of entries
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole::<u16>(1..=1_000))]
    pub(crate) limit: u16,
    /// Rank by recency, importance and relevance together
    #[arg(long, conflicts_with = "text")]
    pub(crate) episodic: bool,
    /// Only entries that contain the words as they are
    #[arg(long)]
    pub(crate) text: bool,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Writing.
#[derive(Clone, Debug, Args)]
pub(crate) struct WriteEntry {
    #[command(flatten)]
    pub(crate) of: Whose,
    /// What happened
    #[arg(value_name = "TEXT")]
    pub(crate) content: String,
    /// How it is known: direct, observation, inference or environmental
    #[arg(long, value_name = "TYPE", default_value_t = SourceType::Direct)]
    pub(crate) source_type: SourceType,
    /// Who provided it
    #[arg(long, value_name = "NAME")]
    pub(crate) from: Option<String>,
    /// How important it is, 1 to 10 [default: by the formula]
    #[arg(long, value_name = "N", value_parser = whole::<u8>(1..=10))]
    pub(crate) importance: Option<u8>,
    /// A word to find it by; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// A project that it belongs to; may be given several times
    #[arg(long = "project", value_name = "PROJECT")]
    pub(crate) projects: Vec<String>,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "written by a command")]
    pub(crate) reason: String,
}

/// Which entries.
#[derive(Clone, Debug, Args)]
pub(crate) struct Within {
    /// Only entries with this tag; if it is given several times, only entries with all these tags
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only entries of the last N days
    #[arg(long, value_name = "DAYS", value_parser = whole::<u32>(0..=u32::MAX.into()))]
    days_back: Option<u32>,
    /// Only entries of this project
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
}

/// A command about the journal was not carried out.
#[derive(Debug, thiserror::Error)]
enum JournalCommandError {
    #[error(transparent)]
    Entry(#[from] EntryError),
    #[error(transparent)]
    Label(#[from] EntryLabelError),
    #[error(transparent)]
    Importance(#[from] ImportanceError),
    #[error(transparent)]
    Source(#[from] SourceTypeError),
    #[error(transparent)]
    Change(#[from] JournalChangeError),
    #[error("the journal has no entry {id}; it has {known}")]
    Unknown { id: EntryId, known: String },
    #[error("entry {id} never left the journal, or its words were forgotten")]
    NeverLeft { id: EntryId },
}

impl CommandFailure for JournalCommandError {
    fn exit(&self) -> Exit {
        match self {
            // The entry is already there, so nothing has to be done.
            Self::Change(JournalChangeError::AlreadyThere { .. }) => Exit::Success,
            _ => Exit::Usage,
        }
    }
}

impl Within {
    fn of(&self, query: JournalQuery) -> Result<JournalQuery, JournalCommandError> {
        let tags = self.tags.iter().map(|tag| EntryLabel::try_new(tag));
        let project = self.project.as_deref().map(EntryLabel::try_new);
        Ok(JournalQuery {
            tags: tags.collect::<Result<_, _>>()?,
            days_back: self.days_back,
            related_to_project: project.transpose()?,
            ..query
        })
    }
}

/// Prints entries, or changes the journal by an event that says who did it.
pub(crate) fn run(places: &Places, command: JournalCommand) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    match command {
        JournalCommand::List { of, within, json } => {
            let printing = json.printing();
            let (_, state) = view_state(places, &data, of.assistant, printing)?;
            let query = within.of(JournalQuery::ranked(""))?;
            let found: Vec<_> = query
                .within(state.journal.journal(), SystemClock.now())
                .collect();
            for entry in &found {
                printing.print(&as_json(&state.journal, entry), || text(entry))?;
            }
            if found.is_empty() && printing == Printing::Text {
                say("no entry")?;
            }
        }
        JournalCommand::Search(asked) => return search(places, &data, asked),
        JournalCommand::Show { of, entry, json } => {
            let printing = json.printing();
            let (_, state) = view_state(places, &data, of.assistant, printing)?;
            let journal = state.journal.journal();
            let id = EntryId(entry);
            let entry = journal.entry(id).ok_or_else(|| unknown(journal, id))?;
            printing.print(&as_json(&state.journal, entry), || {
                in_full(&state.journal, entry)
            })?;
        }
        JournalCommand::Add(new) => return add(places, &data, new),
        JournalCommand::Reflect {
            of,
            conclude: false,
            reason,
            ..
        } => {
            let log = AssistantLog::open(places, &data, of.assistant)?;
            let requested = ReflectionRequested {
                author: author(),
                reason,
            };
            let requested = Event::ReflectionRequested(requested);
            log.append_decided(|_| Ok::<_, CommandError>(vec![requested.clone()]))??;
            say("it looks back in its next turn")?;
        }
        JournalCommand::Reflect {
            of,
            score,
            provider,
            json,
            ..
        } => {
            return block_on(Box::pin(crate::memory::conclude(
                places,
                of.assistant,
                (score, &provider),
                json.printing(),
            )))?;
        }
        JournalCommand::Restore { of, entry, reason } => {
            return restore(places, &data, of, EntryId(entry), &reason);
        }
    }
    Ok(Exit::Success)
}

fn search(places: &Places, data: &DataFolder, asked: SearchEntries) -> Result<Exit, CommandError> {
    let printing = asked.json.printing();
    let (key, state) = view_state(places, data, asked.of.assistant, printing)?;
    let mut query = asked.within.of(JournalQuery::ranked(asked.query))?;
    query.limit = usize::from(asked.limit);
    let weights = state.configuration.settings.journal.episodic;
    if asked.text {
        query.mode = JournalSearch::Text;
    } else if asked.episodic
        && let Ok(score) = weights.score()
    {
        query.mode = JournalSearch::Episodic(score);
    } else {
        let hits = block_on(similar(places, &key, &query))?;
        // As for the assistant itself, words are enough.
        let hits = hits.unwrap_or_else(|error| {
            let why = Report(&error);
            remark(&format!("the entries are compared by words alone: {why}"));
            Vec::new()
        });
        let dense = state.journal.hits_on_entries(&hits);
        query.mode = JournalSearch::Ranked { dense };
    }
    let found = state.journal.search(&query, SystemClock.now());
    for found in &found {
        let mut row = as_json(&state.journal, found.entry);
        if let Value::Object(fields) = &mut row {
            fields.insert("score".to_owned(), found.score.into());
            fields.insert("why".to_owned(), found.why.to_string().into());
        }
        let line = || format!("{} - {}", text(found.entry), found.why);
        printing.print(&row, line)?;
    }
    if found.is_empty() && printing == Printing::Text {
        say("no entry is found")?;
    }
    Ok(Exit::Success)
}

/// The memory records of entries that the configured encoder finds similar; none without an encoder.
async fn similar(
    places: &Places,
    key: &AssistantId,
    query: &JournalQuery,
) -> Result<Vec<Hit>, CommandError> {
    let file = MemoryFile::locate(places)?;
    let embedder = embedder(file.config()).map_err(RecallError::from)?;
    if matches!(embedder, EmbedderChoice::None { .. }) {
        return Ok(Vec::new());
    }
    let memory = file.view_as_configured(key).await?;
    let (limit, now) = (query.limit, SystemClock.now());
    Ok(similar_entries(&memory, &query.query, limit, None, now).await?)
}

fn add(places: &Places, data: &DataFolder, asked: WriteEntry) -> Result<Exit, CommandError> {
    let labels = |texts: &[String]| {
        let labels = texts.iter().map(|text| EntryLabel::try_new(text));
        let labels: Result<_, _> = labels.collect();
        labels.map_err(JournalCommandError::from)
    };
    let importance = asked
        .importance
        .map(f64::from)
        .map(Importance::try_new)
        .transpose();
    let mut new = NewEntry::new(asked.content, asked.source_type);
    new.importance = importance.map_err(JournalCommandError::from)?;
    new.tags = labels(&asked.tags)?;
    new.related_projects = labels(&asked.projects)?;
    new.source_entity = named_source(asked.from.as_deref());
    let log = AssistantLog::open(places, data, asked.of.assistant)?;
    let kept = keep(places, log, |state, key| {
        let settings = state.configuration.settings.journal_settings(key);
        let by = (author(), &*asked.reason);
        let (new, now) = (new.clone(), SystemClock.now());
        let changed = state.journal.write_for_operator(new, now, &settings, by);
        Ok(changed?)
    })?;
    say(&written(&kept))?;
    Ok(Exit::Success)
}

/// Writes a change, and lets the memory read it, so that the entry is a record at once.
fn keep(
    places: &Places,
    log: AssistantLog,
    decide: impl Fn(&State, &AssistantId) -> Result<JournalChanged, JournalCommandError>,
) -> Result<Vec<Event>, CommandError> {
    let key = log.key.clone();
    let decided = log.append_decided(|state| {
        let changed = decide(state, &key)?;
        Ok::<_, JournalCommandError>(vec![Event::JournalChanged(changed)])
    })??;
    // The memory is brought up to date only while no process has the log open.
    drop(log);
    block_on(MemoryFile::locate(places)?.view_of(&key))??;
    Ok(decided.events)
}

fn restore(
    places: &Places,
    data: &DataFolder,
    of: Whose,
    id: EntryId,
    reason: &str,
) -> Result<Exit, CommandError> {
    let log = AssistantLog::open(places, data, of.assistant)?;
    let journal = log.state.journal.journal();
    if journal.entry(id).is_some() {
        return Err(JournalCommandError::from(JournalChangeError::AlreadyThere { id }).into());
    }
    let left = block_on(left_entry(log.events(), &log.key, id))??;
    let was_written = id < journal.next_id() && id != EntryId::default();
    let left = left.ok_or_else(|| match was_written {
        true => JournalCommandError::NeverLeft { id },
        false => unknown(journal, id),
    })?;
    keep(places, log, |state, _| {
        let by = (author(), reason);
        let restored = state.journal.restore(left.clone(), SystemClock.now(), by);
        Ok(restored?)
    })?;
    say(&format!("entry {id} is back"))?;
    Ok(Exit::Success)
}

fn unknown(journal: &Journal, id: EntryId) -> JournalCommandError {
    let ids: Vec<_> = journal.entries().map(|entry| entry.id).collect();
    let known = match ids.as_slice() {
        [] => "none".to_owned(),
        [only] => format!("entry {only}"),
        [first, .., last] => format!("{} entries from {first} to {last}", ids.len()),
    };
    JournalCommandError::Unknown { id, known }
}

/// The result of writing an entry.
fn written(events: &[Event]) -> String {
    let mut said = String::new();
    let changed = events.iter().filter_map(|event| match event {
        Event::JournalChanged(changed) => Some(changed),
        _ => None,
    });
    for change in changed.flat_map(|changed| &changed.changes) {
        match change {
            JournalChange::Added { entry, .. } => {
                let (id, importance) = (entry.id, entry.importance);
                said = format!("entry {id} is written, importance {importance}");
            }
            JournalChange::Linked { to, .. } => said.push_str(&format!("; it repeats entry {to}")),
            JournalChange::Pruned { entries, .. } => {
                let ids: Vec<_> = entries.iter().map(ToString::to_string).collect();
                let ids = ids.join(", ");
                said.push_str(&format!("; there were too many: {ids} left the journal"));
            }
            _ => {}
        }
    }
    said
}

fn text(entry: &JournalEntry) -> String {
    let from = entry.source_entity.name().map(|name| format!(", {name}"));
    let repeats = entry.upkeep.repeats;
    let repeats = match repeats {
        0 => String::new(),
        count => format!(", said {count} times more"),
    };
    format!(
        "{} [{}] {} ({}, {}{}, trust {}{repeats})",
        entry.id,
        entry.importance,
        entry.content,
        entry.timestamp,
        entry.source_type,
        from.unwrap_or_default(),
        entry.source_trust,
    )
}

/// Everything known about an entry.
fn in_full(book: &JournalBook, entry: &JournalEntry) -> Vec<String> {
    let JournalEntry {
        id,
        timestamp,
        content,
        source_type,
        source_trust,
        source_entity,
        importance,
        importance_method,
        tags,
        related_projects,
        provenance,
        upkeep,
    } = entry;
    let from = source_entity.name().unwrap_or("nobody who is known");
    let sources: Vec<_> = provenance
        .sources
        .as_slice()
        .iter()
        .map(ToString::to_string)
        .collect();
    let sources = match sources.is_empty() {
        true => "nothing that is known".to_owned(),
        false => format!("#{}", sources.join(", #")),
    };
    let scored = match importance_method {
        ImportanceMethod::Manual => "as somebody said",
        ImportanceMethod::Llm => "as a model scored it",
        _ => "by the formula",
    };
    let mut lines = vec![
        format!("entry {id}, written {timestamp}: {content}"),
        format!("  source: {source_type}, from {from}; trust {source_trust}"),
        format!("  importance: {importance}, {scored}"),
        format!("  known to: {}", provenance.audience),
        format!("  made from: {sources}; depth {}", provenance.depth),
    ];
    for (name, labels) in [("tags", tags), ("projects", related_projects)] {
        if !labels.is_empty() {
            let labels: Vec<_> = labels.iter().map(EntryLabel::as_str).collect();
            lines.push(format!("  {name}: {}", labels.join(", ")));
        }
    }
    if let Some(record) = book.record(*id) {
        lines.push(format!(
            "  in the memory as record {record} (`dormouse memory why {record}`)"
        ));
    }
    if let Some(near) = upkeep.near {
        lines.push(format!("  repeats: entry {near}"));
    }
    if upkeep.repeats > 0 {
        let times = counted(u64::from(upkeep.repeats), "later entry", "later entries");
        lines.push(format!("  repeated by: {times}"));
    }
    if let Some(at) = upkeep.restored_at {
        lines.push(format!("  restored: {at}"));
    }
    lines
}

fn as_json(book: &JournalBook, entry: &JournalEntry) -> Value {
    let mut row = json!(entry);
    if let Value::Object(fields) = &mut row {
        fields.insert("type".to_owned(), "journal_entry".into());
        fields.insert("timestamp".to_owned(), entry.timestamp.to_string().into());
        fields.insert("record".to_owned(), json!(book.record(entry.id)));
    }
    row
}
