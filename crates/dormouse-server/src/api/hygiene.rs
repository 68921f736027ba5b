//! How healthy a memory is, and folding its duplicates.

use axum::{Json, extract::State};
use dormouse_memory::hygiene::{HygienePolicy, HygieneReport, survey};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::json;
use crate::{extract::Key, guard::Caller, problem::Problem, service::Shared, tokens::Right};

/// What a scan of a memory found.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HygieneView {
    /// How many records can be recalled.
    in_use: u64,
    /// Duplicates, and records that are outdated, not trusted enough, or look like secrets: counts with examples, as
    /// `dormouse memory hygiene --json` prints them.
    #[schema(value_type = Value)]
    report: Value,
    /// The events that folded duplicates. Each can be undone.
    folded: Vec<u64>,
}

impl HygieneView {
    fn of(report: &HygieneReport, folded: Vec<u64>) -> Self {
        Self {
            in_use: report.in_use,
            report: json(report),
            folded,
        }
    }
}

/// Scan the memory for duplicates, and for records that are outdated, doubtful or secret.
///
/// Nothing is changed.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/memory/hygiene/", tag = "memory",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = HygieneView)))]
pub(crate) async fn survey_memory(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<HygieneView>, Problem> {
    caller.may(Right::Read, &key)?;
    let resident = service.remembering(&key).await?;
    let report = survey(resident.memory(), HygienePolicy::default(), service.now()).await?;
    Ok(Json(HygieneView::of(&report, Vec::new())))
}

/// Scan the memory, and fold duplicates into the oldest record of the same words.
///
/// Each event can be undone.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/memory/hygiene/", tag = "memory",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = HygieneView)))]
pub(crate) async fn fold_duplicates(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<HygieneView>, Problem> {
    caller.may(Right::Operate, &key)?;
    let mut logged = service.memory(&key).await?;
    let report = survey(logged.memory(), HygienePolicy::default(), service.now()).await?;
    let mut folded = Vec::new();
    for proposal in &report.proposals {
        let (change, reason) = proposal.change();
        let (event, _) = logged.change(change, caller.author(), reason).await?;
        folded.extend(event.map(|event| event.0));
    }
    Ok(Json(HygieneView::of(&report, folded)))
}
