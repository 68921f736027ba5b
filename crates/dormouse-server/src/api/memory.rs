//! What an assistant remembers.

use axum::{Json, extract::State, http::StatusCode};
use dormouse_contracts::{AssistantId, Seq, Trust};
use dormouse_engine::LoggedChangeError;
use dormouse_entities::EntityChangeError;
use dormouse_memory::{
    ChangeError, MemoryChange, MemoryError, OperatorNote, Recall, RecallRequest, Record, RecordId,
    RecordKind, RecordStatus, StoredChange,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{Changed, Reason, assistants::limit, json, moment};
use crate::{
    extract::{Asked, ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::{Service, Shared, over_http},
    tokens::Right,
};

/// How many records a page has: at most, and by default.
const PAGE: (u32, u32) = (100, 10);

/// The most bytes of a query.
pub(crate) const QUERY: usize = 4_096;

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
    pub(crate) q: String,
    /// How many at most: 1 to 100.
    #[param(minimum = 1, maximum = 100)]
    pub(crate) limit: Option<u32>,
}

/// A page of records.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordPage {
    records: Vec<RecordView>,
    /// What to send as `after` for the next page; absent at the end.
    next: Option<String>,
}

/// Which records.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListRecords {
    /// Only those after this one.
    after: Option<String>,
    /// Those that are folded or withdrawn, too.
    #[serde(default)]
    all: bool,
    /// How many at most: 1 to 100.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// How much an assistant remembers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MemoryStats {
    /// Records that can be recalled.
    in_use: u64,
    /// All records.
    records: u64,
    /// All changes that were made.
    changes: u64,
    /// Known people and things.
    entities: u64,
    file_bytes: u64,
    index_bytes: u64,
    /// The last event of the log that was taken in.
    log_through: u64,
}

/// A record that is to be added.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRecord {
    /// The text. Everybody may learn of it.
    #[schema(min_length = 1)]
    text: String,
    /// `event`, `fact`, `preference`, `instruction` or `insight`.
    #[serde(default)]
    #[schema(value_type = RecordKindName)]
    kind: RecordKind,
    /// Who said it.
    by: Option<String>,
    /// The conversation it belongs to.
    thread: Option<String>,
    /// When it was said, as RFC 3339; now if absent.
    #[schema(format = DateTime)]
    at: Option<String>,
    /// Words to find it by.
    #[serde(default)]
    tags: Vec<String>,
    /// How far it is believed, 0 to 1; 1 if absent.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    trust: Option<Trust>,
    /// Why, for the log.
    reason: Option<String>,
}

/// The kinds of records.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "it describes the names of a type of the memory")]
pub(crate) enum RecordKindName {
    Event,
    Fact,
    Preference,
    Instruction,
    Insight,
}

/// A record that was added, or the one that says the same.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AddedRecord {
    /// Its id.
    id: Option<String>,
    /// The event that was written; absent if it was there already.
    event: Option<u64>,
}

/// Since when a record is no longer valid.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SupersedeRecord {
    /// The record that replaces it.
    by: Option<String>,
    /// Since when, as RFC 3339. If absent: since the new record is valid, or now if there is no new record.
    #[schema(format = DateTime)]
    since: Option<String>,
    /// Why, for the log.
    reason: Option<String>,
}

/// What is undone.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UndoEvent {
    /// The number of the event.
    pub(crate) event: u64,
    /// Why, for the log.
    pub(crate) reason: Option<String>,
}

/// Search what an assistant remembers, best first.
///
/// Audiences are ignored, because the token may read everything.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/memory/", tag = "memory",
    params(("key" = String, Path, description = "Its key"), SearchMemory),
    responses((status = OK, body = RecallPage)))]
pub(crate) async fn search(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<SearchMemory>,
) -> Result<Json<RecallPage>, Problem> {
    let recalled = find(&service, &caller, &key, asked).await?;
    Ok(Json(page(&recalled)))
}

/// What an assistant remembers, best first.
pub(crate) async fn find(
    service: &Service,
    caller: &Caller,
    key: &AssistantId,
    asked: SearchMemory,
) -> Result<Recall, Problem> {
    caller.may(Right::Read, key)?;
    let limit = limit(asked.limit, PAGE)?;
    if asked.q.len() > QUERY {
        let why = format!("q has {} bytes; expected at most {QUERY}", asked.q.len());
        return Err(ProblemCode::InvalidRequest.because(why));
    }
    let resident = service.remembering(key).await?;
    let request = RecallRequest::new(asked.q).limit(limit);
    Ok(resident.memory().recall(request).await?)
}

pub(crate) fn page(recalled: &Recall) -> RecallPage {
    let found = recalled.items.iter().map(|it| RecollectionView {
        score: it.score.into(),
        role: json(&it.role),
        record: view(&it.record),
    });
    RecallPage {
        mode: json(&recalled.mode),
        found: found.collect(),
    }
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
    let resident = service.remembering(&key).await?;
    let why = resident.memory().why(id).await?;
    let why = why.ok_or_else(|| unknown(id))?;
    Ok(Json(WhyView {
        record: view(&why.record),
        sources: why.sources.iter().map(view).collect(),
        changes: why.changes.iter().map(change).collect(),
    }))
}

/// List all records, in the order in which they were added.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/memory/records/", tag = "memory",
    params(("key" = String, Path, description = "Its key"), ListRecords),
    responses((status = OK, body = RecordPage)))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<ListRecords>,
) -> Result<Json<RecordPage>, Problem> {
    caller.may(Right::Read, &key)?;
    let limit = limit(asked.limit, PAGE)?;
    let after = asked.after.as_deref().map(|id| record("after", id));
    let mut after = after.transpose()?;
    let resident = service.remembering(&key).await?;
    let mut records = Vec::new();
    let next = loop {
        let page = resident.memory().records(after, limit).await?;
        let Some(last) = page.last() else { break None };
        after = Some(last.id);
        let wanted = page.iter().filter(|it| asked.all || it.is_in_use());
        records.extend(wanted.map(|it| (it.id, view(it))));
        if records.len() >= limit {
            records.truncate(limit);
            break records.last().map(|(id, _)| id.to_string());
        }
    };
    Ok(Json(RecordPage {
        records: records.into_iter().map(|(_, view)| view).collect(),
        next,
    }))
}

/// Show a record.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/memory/{id}/", tag = "memory",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the record")),
    responses((status = OK, body = RecordView)))]
pub(crate) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<RecordId>,
) -> Result<Json<RecordView>, Problem> {
    caller.may(Right::Read, &key)?;
    let resident = service.remembering(&key).await?;
    let found = resident.memory().record(id).await?;
    let found = found.ok_or_else(|| unknown(id))?;
    Ok(Json(view(&found)))
}

/// Show how much an assistant remembers.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/memory/stats/", tag = "memory",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = MemoryStats)))]
pub(crate) async fn stats(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<MemoryStats>, Problem> {
    caller.may(Right::Read, &key)?;
    let resident = service.remembering(&key).await?;
    let stats = resident.memory().stats().await?;
    Ok(Json(MemoryStats {
        in_use: stats.in_use,
        records: stats.records,
        changes: stats.changes,
        entities: stats.entities,
        file_bytes: stats.file_bytes,
        index_bytes: stats.index_bytes,
        log_through: stats.log_through,
    }))
}

/// Add a record that may be told to anybody.
///
/// The same text of the same speaker and time is not added twice.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/memory/", tag = "memory",
    params(("key" = String, Path, description = "Its key")), request_body = NewRecord,
    responses((status = CREATED, body = AddedRecord), (status = OK, body = AddedRecord)))]
pub(crate) async fn add(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(asked): JsonBody<NewRecord>,
) -> Result<(StatusCode, Json<AddedRecord>), Problem> {
    caller.may(Right::Operate, &key)?;
    let asked_for = OperatorNote {
        at: moment("at", asked.at.as_deref())?,
        text: asked.text,
        kind: asked.kind,
        by: asked.by,
        thread: asked.thread,
        tags: asked.tags,
        trust: asked.trust,
    };
    let change = MemoryChange::Added {
        notes: vec![asked_for.note()],
    };
    let why = asked.reason.unwrap_or_else(|| over_http("added"));
    let mut memory = service.memory(&key).await?;
    let (event, added) = memory.change(change, caller.author(), &why).await?;
    let status = match event {
        Some(_) => StatusCode::CREATED,
        None => StatusCode::OK,
    };
    let view = AddedRecord {
        id: added.first().map(|added| added.id().to_string()),
        event: event.map(|event| event.0),
    };
    Ok((status, Json(view)))
}

/// Take a record out of recall.
///
/// This can be undone.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/memory/{id}/withdraw/", tag = "memory",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the record")),
    request_body = Reason, responses((status = OK, body = Changed)))]
pub(crate) async fn withdraw(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(record): ItemId<RecordId>,
    JsonBody(why): JsonBody<Reason>,
) -> Result<Json<Changed>, Problem> {
    let change = MemoryChange::Withdrawn { record };
    change_record(&service, &caller, &key, change, why.or("withdrawn")).await
}

/// Make a record public knowledge, which may be told to anybody.
///
/// This can be undone.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/memory/{id}/publish/", tag = "memory",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the record")),
    request_body = Reason, responses((status = OK, body = Changed)))]
pub(crate) async fn publish(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(record): ItemId<RecordId>,
    JsonBody(why): JsonBody<Reason>,
) -> Result<Json<Changed>, Problem> {
    let change = MemoryChange::Published { record };
    change_record(&service, &caller, &key, change, why.or("published")).await
}

/// Remove the text of a record from the memory for good.
///
/// The log keeps the message that it came from.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/memory/{id}/erase/", tag = "memory",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the record")),
    request_body = Reason, responses((status = OK, body = Changed)))]
pub(crate) async fn erase(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(record): ItemId<RecordId>,
    JsonBody(why): JsonBody<Reason>,
) -> Result<Json<Changed>, Problem> {
    let change = MemoryChange::Erased { record };
    change_record(&service, &caller, &key, change, why.or("erased")).await
}

async fn change_record(
    service: &Shared,
    caller: &Caller,
    key: &AssistantId,
    change: MemoryChange,
    why: String,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Operate, key)?;
    let mut memory = service.memory(key).await?;
    let (event, _) = memory.change(change, caller.author(), &why).await?;
    Ok(Json(event.into()))
}

/// Mark a record as no longer valid.
///
/// This can be undone.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/memory/{id}/supersede/", tag = "memory",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the record")),
    request_body = SupersedeRecord, responses((status = OK, body = Changed)))]
pub(crate) async fn supersede(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<RecordId>,
    JsonBody(asked): JsonBody<SupersedeRecord>,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Operate, &key)?;
    let by = asked.by.as_deref().map(|id| record("by", id)).transpose()?;
    let since = moment("since", asked.since.as_deref())?;
    let why = asked.reason.unwrap_or_else(|| over_http("superseded"));
    let mut memory = service.memory(&key).await?;
    let superseded = memory.supersede(id, (by, since), caller.author(), &why);
    let (event, _) = superseded.await?;
    Ok(Json(event.into()))
}

/// Undo what an event did to records or to what is known of people.
///
/// To undo the undo makes it again.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/memory/undo/", tag = "memory",
    params(("key" = String, Path, description = "Its key")), request_body = UndoEvent,
    responses((status = OK, body = Changed)))]
pub(crate) async fn undo(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(asked): JsonBody<UndoEvent>,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Operate, &key)?;
    let event = Seq(asked.event);
    let why = asked.reason.unwrap_or_else(|| over_http("undone"));
    let mut memory = service.memory(&key).await?;
    let added = memory.memory().why(RecordId::event(event)).await?;
    if added.is_some_and(|why| why.lost_words().is_some()) {
        let why = "the words of that record are gone, so nothing brings them back";
        return Err(ProblemCode::Conflict.because(why));
    }
    let undone = memory.undo(event, caller.author(), &why).await?;
    Ok(Json(undone.into()))
}

fn record(name: &str, id: &str) -> Result<RecordId, Problem> {
    id.parse()
        .map_err(|error| ProblemCode::InvalidValue.because(format!("{name}: {error}")))
}

fn unknown(id: RecordId) -> Problem {
    ProblemCode::UnknownItem.because(format!("there is no record {id}"))
}

impl From<MemoryError> for Problem {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Change(error) => error.into(),
            error => Self::internal(&error),
        }
    }
}

impl From<ChangeError> for Problem {
    fn from(error: ChangeError) -> Self {
        let code = match &error {
            ChangeError::Entity(error) => entity_code(error),
            ChangeError::Unknown(_) | ChangeError::UnknownChange(_) => ProblemCode::UnknownItem,
            ChangeError::Note(_) | ChangeError::Ended { .. } | ChangeError::Weight(_) => {
                ProblemCode::InvalidValue
            }
            _ => ProblemCode::Conflict,
        };
        code.because(error.to_string())
    }
}

fn entity_code(error: &EntityChangeError) -> ProblemCode {
    match error {
        EntityChangeError::Unknown { .. }
        | EntityChangeError::UnknownAction { .. }
        | EntityChangeError::NoConversation { .. } => ProblemCode::UnknownItem,
        _ => ProblemCode::Conflict,
    }
}

impl From<LoggedChangeError> for Problem {
    fn from(error: LoggedChangeError) -> Self {
        match error {
            LoggedChangeError::Memory(error) => error.into(),
            LoggedChangeError::Append(error) => error.into(),
            error => Self::internal(&error),
        }
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
