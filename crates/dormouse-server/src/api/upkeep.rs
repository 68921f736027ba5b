//! Work of a model on what an assistant remembers, which somebody asks for: facts and attributes, summaries of earlier turns,
//! conclusions from the journal. Each is carried out to its end, even if the client goes away.

use axum::{Json, extract::State};
use dormouse_engine::{
    CompactError, Compacting, ConsolidateError, Consolidated, ConsolidationForecast, JournalWork,
};
use dormouse_host::upkeep::{self, EntryScoring};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::json;
use crate::{
    extract::{JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// How many requests to a model such work may take: at most, and by default.
const REQUESTS: (u64, u64) = (100, 20);

/// How far the work may go.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpkeepRequest {
    /// How many requests to a model at most: 1 to 100; 20 if absent.
    #[schema(minimum = 1, maximum = 100)]
    requests: Option<u64>,
}

impl UpkeepRequest {
    fn most(&self) -> Result<u64, Problem> {
        let (most, usual) = REQUESTS;
        match self.requests.unwrap_or(usual) {
            asked if (1..=most).contains(&asked) => Ok(asked),
            asked => Err(ProblemCode::InvalidValue
                .because(format!("requests is {asked}; expected 1 to {most}"))),
        }
    }
}

/// How much of the context window instructions and earlier turns take, and what was, or would be, left out.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompactionView {
    /// How many tokens they took.
    before: u32,
    /// How many they take then, without summaries.
    after: u32,
    window: u32,
    /// How full it was.
    level: &'static str,
    /// Turns whose results are one line each.
    masked: u64,
    /// Turns that are left out.
    dropped: u64,
    /// What became of the facts that are made before, if that was due.
    #[schema(value_type = Value)]
    facts: Value,
    /// Summaries that were made.
    summaries: u64,
    /// Summaries that were not made. They are tried again.
    failed: u64,
    /// Why no more were made, if the assistant is stopped or may spend no more.
    #[schema(value_type = Value)]
    end: Value,
}

impl From<Compacting> for CompactionView {
    fn from(it: Compacting) -> Self {
        Self {
            before: it.before,
            after: it.after,
            window: it.window,
            level: it.level.as_str(),
            masked: it.masked as u64,
            dropped: it.dropped as u64,
            facts: json(&it.facts),
            summaries: it.summaries,
            failed: it.failed,
            end: json(&it.end),
        }
    }
}

/// What consolidating would take.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConsolidationForecastView {
    /// How many requests. Doubtful facts need further ones.
    requests: u64,
    /// The tokens of their prompts.
    prompt_tokens: u64,
    /// Records that were not searched for facts yet.
    records: u64,
    /// People and things with observations that are due.
    people: u64,
}

impl From<ConsolidationForecast> for ConsolidationForecastView {
    fn from(it: ConsolidationForecast) -> Self {
        Self {
            requests: it.requests,
            prompt_tokens: it.prompt_tokens,
            records: it.records,
            people: it.people,
        }
    }
}

/// What came of consolidating.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConsolidationView {
    /// Requests that were answered.
    requests: u64,
    /// Replies of an earlier run that were used.
    resumed: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    /// Records that were read.
    records: u64,
    /// Facts that were added; those in place of a record, and those linked with one.
    added: u64,
    superseded: u64,
    linked: u64,
    /// Facts that were not kept, and those that could not be used.
    ignored: u64,
    unusable: u64,
    /// Whose observations were consolidated.
    people: Vec<String>,
    /// What was skipped, because the model gave no usable reply three times.
    skipped: Vec<String>,
    /// The events that changed records. Each can be undone.
    events: Vec<u64>,
    /// Why it ended: `done`, `max_requests`, `stopped`, `budget_spent`, or how the model failed.
    #[schema(value_type = Value)]
    end: Value,
}

impl From<Consolidated> for ConsolidationView {
    fn from(it: Consolidated) -> Self {
        Self {
            requests: it.requests,
            resumed: it.resumed,
            prompt_tokens: it.prompt_tokens,
            completion_tokens: it.completion_tokens,
            records: it.records,
            added: it.added,
            superseded: it.superseded,
            linked: it.linked,
            ignored: it.ignored,
            unusable: it.unusable,
            people: it.people.iter().map(ToString::to_string).collect(),
            skipped: it.skipped,
            events: it.events.iter().map(|event| event.0).collect(),
            end: json(&it.end),
        }
    }
}

/// What came of drawing conclusions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConclusionsView {
    /// Requests that were answered.
    requests: u64,
    /// Replies of an earlier run that were used.
    resumed: u64,
    /// Entries that got an importance.
    scored: u64,
    /// Conclusions that were written.
    insights: u64,
    /// Conclusions that were refused, and replies without usable ones.
    refused: u64,
    /// Whether there was enough to draw conclusions from, and all were drawn.
    reflected: bool,
    /// Why it ended: `done`, `max_requests`, `stopped`, `budget_spent`, or how the model failed.
    #[schema(value_type = Value)]
    end: Value,
}

impl From<JournalWork> for ConclusionsView {
    fn from(it: JournalWork) -> Self {
        Self {
            requests: it.requests,
            resumed: it.resumed,
            scored: it.scored,
            insights: it.insights,
            refused: it.refused,
            reflected: it.reflected,
            end: json(&it.end),
        }
    }
}

/// Show what compacting would leave out of prompts.
///
/// Nothing is changed.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/history/compact/", tag = "history",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = CompactionView)))]
pub(crate) async fn forecast_compaction(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<CompactionView>, Problem> {
    caller.may(Right::Read, &key)?;
    let by = service.host.consolidator(&key, 1, caller.author()).await?;
    let forecast = upkeep::forecast_compaction(by, service.host.log(), &key).await?;
    Ok(Json(forecast.into()))
}

/// Leave earlier turns out of prompts, as far as the context window is full, and let a model sum them up.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/history/compact/", tag = "history",
    params(("key" = String, Path, description = "Its key")), request_body = UpkeepRequest,
    responses((status = OK, body = CompactionView)))]
pub(crate) async fn compact(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(asked): JsonBody<UpkeepRequest>,
) -> Result<Json<CompactionView>, Problem> {
    caller.may(Right::Operate, &key)?;
    let most = asked.most()?;
    service.exists(&key)?;
    let host = service.host.clone();
    let compacted = service.to_its_end(async move {
        let mut work = host.upkeep(&key, most, caller.author()).await?;
        Ok(upkeep::compact(work.by.clone(), &mut work.memory).await?)
    });
    Ok(Json(compacted.await?.into()))
}

/// Show what consolidating the memory would take.
///
/// Nothing is changed.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/memory/consolidation/", tag = "memory",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = ConsolidationForecastView)))]
pub(crate) async fn forecast_consolidation(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<ConsolidationForecastView>, Problem> {
    caller.may(Right::Read, &key)?;
    let resident = service.remembering(&key).await?;
    let by = service.host.consolidator(&key, u64::MAX, caller.author());
    let forecast = by.await?.forecast(resident.memory()).await?;
    Ok(Json(forecast.into()))
}

/// Let a model make facts of what was heard, and attributes of what was noticed about people.
///
/// Each event can be undone.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/memory/consolidation/", tag = "memory",
    params(("key" = String, Path, description = "Its key")), request_body = UpkeepRequest,
    responses((status = OK, body = ConsolidationView)))]
pub(crate) async fn consolidate(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(asked): JsonBody<UpkeepRequest>,
) -> Result<Json<ConsolidationView>, Problem> {
    caller.may(Right::Operate, &key)?;
    let most = asked.most()?;
    service.exists(&key)?;
    let host = service.host.clone();
    let consolidated = service.to_its_end(async move {
        let mut work = host.upkeep(&key, most, caller.author()).await?;
        Ok(Box::pin(work.by.run(&mut work.memory)).await?)
    });
    Ok(Json(consolidated.await?.into()))
}

/// Let a model score entries of the journal, and draw conclusions from those since the last time.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/reflection/conclude/", tag = "reflection",
    params(("key" = String, Path, description = "Its key")), request_body = UpkeepRequest,
    responses((status = OK, body = ConclusionsView)))]
pub(crate) async fn conclude(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(asked): JsonBody<UpkeepRequest>,
) -> Result<Json<ConclusionsView>, Problem> {
    caller.may(Right::Operate, &key)?;
    let most = asked.most()?;
    service.exists(&key)?;
    let host = service.host.clone();
    let concluded = service.to_its_end(async move {
        let mut work = host.upkeep(&key, most, caller.author()).await?;
        Ok(upkeep::conclude(&work.by, &mut work.memory, EntryScoring::First).await?)
    });
    Ok(Json(concluded.await?.into()))
}

impl From<ConsolidateError> for Problem {
    fn from(error: ConsolidateError) -> Self {
        match error {
            ConsolidateError::Change(error) => error.into(),
            ConsolidateError::Memory(error) => error.into(),
            error => Self::internal(&error),
        }
    }
}

impl From<CompactError> for Problem {
    fn from(error: CompactError) -> Self {
        match error {
            CompactError::Off | CompactError::Busy => {
                ProblemCode::Conflict.because(error.to_string())
            }
            CompactError::Consolidate(error) => error.into(),
            error => Self::internal(&error),
        }
    }
}
