//! What an assistant wrote down.

use axum::{Json, extract::State, http::StatusCode};
use dormouse_engine::{Event, named_source};
use dormouse_journal::{EntryLabel, Importance, JournalQuery, NewEntry, SourceType};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Changed, assistants::limit};
use crate::{
    extract::{Asked, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// How many entries a page has: at most, and by default.
const PAGE: (u32, u32) = (200, 20);

/// An entry.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntryView {
    /// Its number.
    entry: u64,
    /// When it was written.
    at: String,
    /// What happened.
    content: String,
    /// 1 to 10.
    importance: u32,
    /// How it is known: `direct`, `observation`, `inference` or `environmental`.
    source_type: String,
    /// Who provided it.
    from: Option<String>,
    tags: Vec<String>,
    projects: Vec<String>,
    /// Its record in the memory.
    record: Option<String>,
    /// Why the search found it.
    why: Option<String>,
}

/// Entries.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JournalPage {
    entries: Vec<EntryView>,
}

/// The most days that a list goes back: a hundred years.
const MOST_DAYS: u32 = 36_500;

/// Which entries.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FindEntries {
    /// The search words; without them the newest entries are listed.
    pub(crate) q: Option<String>,
    /// Only entries with this tag.
    pub(crate) tag: Option<String>,
    /// Only entries of the last `days` days.
    #[param(maximum = 36500)]
    pub(crate) days: Option<u32>,
    /// How many at most: 1 to 200.
    #[param(minimum = 1, maximum = 200)]
    pub(crate) limit: Option<u32>,
}

/// An entry that is to be written.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EntryRequest {
    /// What happened. Everybody may learn of it.
    pub(crate) content: String,
    /// How it is known: `direct`, `observation`, `inference` or `environmental`.
    pub(crate) source_type: Option<String>,
    /// Who provided it.
    pub(crate) from: Option<String>,
    /// 1 to 10; scored by the formula if absent.
    pub(crate) importance: Option<f64>,
    /// Words to find it by.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// Why, for the log.
    pub(crate) reason: Option<String>,
}

/// List or search what an assistant wrote down, newest or best first.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/journal/", tag = "journal",
    params(("key" = String, Path, description = "Its key"), FindEntries),
    responses((status = OK, body = JournalPage)))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<FindEntries>,
) -> Result<Json<JournalPage>, Problem> {
    caller.may(Right::Read, &key)?;
    let limit = limit(asked.limit, PAGE)?;
    let tag = asked.tag.as_deref().map(label).transpose()?;
    if let Some(days) = asked.days.filter(|days| *days > MOST_DAYS) {
        let why = format!("days is {days}; expected at most {MOST_DAYS}");
        return Err(ProblemCode::InvalidValue.because(why));
    }
    let query = JournalQuery {
        tags: tag.into_iter().collect(),
        days_back: asked.days,
        limit,
        ..JournalQuery::ranked(asked.q.clone().unwrap_or_default())
    };
    let (book, now) = (service.state(&key).await?.journal, service.now());
    let journal = book.journal();
    let view = |entry: &dormouse_journal::JournalEntry, why: Option<String>| EntryView {
        entry: entry.id.0,
        at: entry.timestamp.to_string(),
        content: entry.content.clone(),
        importance: entry.importance.get().into(),
        source_type: entry.source_type.to_string(),
        from: entry.source_entity.name().map(str::to_owned),
        tags: entry
            .tags
            .iter()
            .map(|tag| tag.as_str().to_owned())
            .collect(),
        projects: entry
            .related_projects
            .iter()
            .map(|project| project.as_str().to_owned())
            .collect(),
        record: book.record(entry.id).map(|record| record.to_string()),
        why,
    };
    let entries = match asked.q {
        Some(_) => {
            let found = book.search(&query, now);
            let found = found
                .iter()
                .map(|it| view(it.entry, Some(it.why.to_string())));
            found.collect()
        }
        None => {
            let all: Vec<_> = query.within(journal, now).collect();
            let newest = all.into_iter().rev().take(limit);
            newest.map(|entry| view(entry, None)).collect()
        }
    };
    Ok(Json(JournalPage { entries }))
}

/// Write an entry into the journal of an assistant.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/journal/", tag = "journal",
    params(("key" = String, Path, description = "Its key")), request_body = EntryRequest,
    responses((status = CREATED, body = Changed)))]
pub(crate) async fn write(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(asked): JsonBody<EntryRequest>,
) -> Result<(StatusCode, Json<Changed>), Problem> {
    caller.may(Right::Operate, &key)?;
    let source_type = match asked.source_type.as_deref() {
        Some(text) => text.parse::<SourceType>().map_err(invalid)?,
        None => SourceType::Direct,
    };
    let mut new = NewEntry::new(asked.content, source_type);
    new.importance = asked
        .importance
        .map(Importance::try_new)
        .transpose()
        .map_err(invalid)?;
    new.tags = asked
        .tags
        .iter()
        .map(|tag| label(tag))
        .collect::<Result<_, _>>()?;
    new.source_entity = named_source(asked.from.as_deref());
    let reason = asked
        .reason
        .unwrap_or_else(|| "written over HTTP".to_owned());
    let now = service.now();
    let event = service
        .change(&key, |state| {
            let settings = state.configuration.settings.journal_settings(&key);
            let by = (caller.author(), reason.as_str());
            let changed = state
                .journal
                .write_for_operator(new.clone(), now, &settings, by);
            Ok(vec![Event::JournalChanged(changed.map_err(invalid)?)])
        })
        .await?;
    Ok((StatusCode::CREATED, Json(event.into())))
}

fn label(text: &str) -> Result<EntryLabel, Problem> {
    EntryLabel::try_new(text).map_err(invalid)
}

fn invalid(error: impl std::error::Error) -> Problem {
    ProblemCode::InvalidValue.because(error.to_string())
}
