//! What an assistant remembers.

use axum::{Json, extract::State};
use dormouse_memory::{MemoryError, RecallRequest, Record, RecordId, RecordStatus, StoredChange};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{assistants::limit, json};
use crate::{
    extract::{Asked, ItemId, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// How many records a page has: at most, and by default.
const PAGE: (u32, u32) = (100, 10);

/// The most bytes of a query.
const QUERY: usize = 4_096;

/// A record.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordView {
    /// Its id: the event that it was made from.
    id: String,
    text: String,
    #[schema(value_type = String)]
    kind: Value,
    /// When it happened.
    at: String,
    /// Who it comes from.
    #[schema(value_type = Value)]
    from: Value,
    /// How far it is believed, 0 to 1.
    trust: f64,
    /// Who perceived what it says.
    #[schema(value_type = Value)]
    audience: Value,
    tags: Vec<String>,
    /// Which records it was made of.
    derived_from: Vec<String>,
    valid_from: String,
    valid_until: Option<String>,
    /// `live`, `superseded`, `folded` or `withdrawn`.
    status: &'static str,
}

/// A record that was recalled.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecollectionView {
    score: f64,
    /// Whether it matches itself, or is a neighbour of a match, or is linked with one.
    #[schema(value_type = String)]
    role: Value,
    record: RecordView,
}

/// What was recalled.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecallPage {
    /// The kind of search: by words, or by words and similarity.
    #[schema(value_type = Value)]
    mode: Value,
    found: Vec<RecollectionView>,
}

/// Where a record comes from, and its history.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WhyView {
    record: RecordView,
    /// Its sources, their sources and so on, nearest first.
    sources: Vec<RecordView>,
    /// What happened to it, in order.
    changes: Vec<RecordChange>,
}

/// Something that happened to a record.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordChange {
    /// Its event in the log.
    event: Option<u64>,
    at: String,
    what: &'static str,
    /// Who did it.
    by: Option<String>,
    reason: String,
}

/// A search in the memory.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchMemory {
    /// The words.
    q: String,
    /// How many at most: 1 to 100.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// Search what an assistant remembers, best first. Audiences are ignored, because the token may read everything.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/memory/", tag = "memory",
    params(("key" = String, Path, description = "Its key"), SearchMemory),
    responses((status = OK, body = RecallPage)))]
pub(crate) async fn search(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<SearchMemory>,
) -> Result<Json<RecallPage>, Problem> {
    caller.may(Right::Read, &key)?;
    let limit = limit(asked.limit, PAGE)?;
    if asked.q.len() > QUERY {
        let why = format!("q has {} bytes; expected at most {QUERY}", asked.q.len());
        return Err(ProblemCode::InvalidRequest.because(why));
    }
    let resident = service.awake(&key).await?;
    let recalled = resident
        .memory()
        .recall(RecallRequest::new(asked.q).limit(limit))
        .await?;
    let found = recalled.items.iter().map(|it| RecollectionView {
        score: it.score.into(),
        role: json(&it.role),
        record: view(&it.record),
    });
    Ok(Json(RecallPage {
        mode: json(&recalled.mode),
        found: found.collect(),
    }))
}

/// Show where a record comes from, and what happened to it.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/memory/{id}/why/", tag = "memory",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the record")),
    responses((status = OK, body = WhyView)))]
pub(crate) async fn why(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<RecordId>,
) -> Result<Json<WhyView>, Problem> {
    caller.may(Right::Read, &key)?;
    let resident = service.awake(&key).await?;
    let why = resident.memory().why(id).await?;
    let unknown = || ProblemCode::UnknownItem.because(format!("there is no record {id}"));
    let why = why.ok_or_else(unknown)?;
    Ok(Json(WhyView {
        record: view(&why.record),
        sources: why.sources.iter().map(view).collect(),
        changes: why.changes.iter().map(change).collect(),
    }))
}

impl From<MemoryError> for Problem {
    fn from(error: MemoryError) -> Self {
        Self::internal(&error)
    }
}

fn view(record: &Record) -> RecordView {
    RecordView {
        id: record.id.to_string(),
        text: record.text.clone(),
        kind: json(&record.kind),
        at: record.at.to_string(),
        from: json(&record.speaker),
        trust: record.trust.score().into(),
        audience: json(&record.known_to()),
        tags: record.tags.iter().cloned().collect(),
        derived_from: (record.provenance.derived_from.iter())
            .map(ToString::to_string)
            .collect(),
        valid_from: record.valid_from.to_string(),
        valid_until: record.valid_until.map(|at| at.to_string()),
        status: match record.status {
            RecordStatus::Live => "live",
            RecordStatus::Superseded { .. } => "superseded",
            RecordStatus::Folded { .. } => "folded",
            RecordStatus::Withdrawn => "withdrawn",
        },
    }
}

fn change(stored: &StoredChange) -> RecordChange {
    RecordChange {
        event: stored.event.map(|event| event.0),
        at: stored.at.to_string(),
        what: stored.change.name(),
        by: stored.author.as_ref().map(ToString::to_string),
        reason: stored.reason.clone(),
    }
}
