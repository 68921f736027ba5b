//! What prompts show of earlier turns.

use axum::{Json, extract::State};
use dormouse_engine::{FinishedTurn, ResetError};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::json;
use crate::{
    extract::Key,
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// What prompts show of earlier turns.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HistoryView {
    /// The turns that are kept, oldest first.
    turns: Vec<TurnView>,
    /// Messages that were given up lately.
    given_up: Vec<u64>,
    /// How often earlier turns were left out of prompts.
    compactions: u64,
    /// When that was done last.
    last_compaction: Option<String>,
}

/// An earlier turn.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TurnView {
    /// The event that called for it.
    trigger: u64,
    /// The kind of its ticks.
    context: &'static str,
    /// Who called for it, and what they said; absent if nobody did.
    from: Option<String>,
    words: Option<String>,
    /// How many steps it took.
    steps: u64,
    /// How many tokens it takes in a prompt.
    tokens: u32,
    /// How much of it prompts show: `whole`, `masked` or nothing.
    #[schema(value_type = Value)]
    shown: Value,
}

/// Show what prompts show of earlier turns.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/history/", tag = "history",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = HistoryView)))]
pub(crate) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<HistoryView>, Problem> {
    caller.may(Right::Read, &key)?;
    view(&service, &key).await
}

/// Reset the history: prompts show no earlier turn, earlier errors are forgiven, and the emergency stop is cleared.
///
/// Log and memory keep everything.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/history/reset/", tag = "history",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = HistoryView)))]
pub(crate) async fn reset(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<HistoryView>, Problem> {
    caller.may(Right::Operate, &key)?;
    let resident = service.awake(&key).await?;
    resident.handle().reset_history(&caller.token.name).await?;
    view(&service, &key).await
}

async fn view(
    service: &Shared,
    key: &dormouse_contracts::AssistantId,
) -> Result<Json<HistoryView>, Problem> {
    let state = service.state(key).await?;
    Ok(Json(HistoryView {
        turns: state.history.turns().map(turn).collect(),
        given_up: state.history.given_up().map(|event| event.0).collect(),
        compactions: state.compactions.count,
        last_compaction: state.compactions.last_at.map(|at| at.to_string()),
    }))
}

fn turn(turn: &FinishedTurn) -> TurnView {
    let message = turn.message();
    TurnView {
        trigger: turn.trigger_seq().0,
        context: turn.context.row().name,
        from: message.map(|it| it.perception.attested.sender.name().to_owned()),
        words: message.map(|it| it.perception.words.as_claimed().to_owned()),
        steps: turn.steps.len() as u64,
        tokens: turn.tokens(),
        shown: json(&turn.view),
    }
}

impl From<ResetError> for Problem {
    fn from(error: ResetError) -> Self {
        let code = match error {
            ResetError::Storage => ProblemCode::Storage,
            _ => ProblemCode::Unavailable,
        };
        code.because(error.to_string())
    }
}
