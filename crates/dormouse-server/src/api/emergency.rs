//! The emergency stop.

use axum::{Json, extract::State};
use dormouse_contracts::AssistantId;
use dormouse_engine::{ClearError, StopError};
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

/// The emergency stop of an assistant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EmergencyView {
    /// Whether it is on.
    emergency_stop: bool,
    /// When it was triggered.
    stopped_at: Option<String>,
    /// What triggered it: `{"operator": NAME}`, `{"consecutive_errors": N}`, `{"failure_rate": TOOL}` or
    /// `"credentials"`.
    #[schema(value_type = Option<Value>)]
    cause: Option<Value>,
    /// The reason that somebody gave.
    reason: Option<String>,
    /// How many messages wait until it is cleared.
    waiting: u64,
}

/// Why an assistant is stopped.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TriggerStop {
    /// Why, for the log.
    #[serde(default)]
    pub(crate) reason: String,
}

/// Show whether an assistant is stopped, since when and why.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/emergency/", tag = "emergency",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = EmergencyView)))]
pub(crate) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<EmergencyView>, Problem> {
    caller.may(Right::Read, &key)?;
    view(&service, &key).await
}

/// Trigger the stop: work under way ends, and messages are kept until it is cleared.
///
/// The log names the holder of the token.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/emergency/trigger/", tag = "emergency",
    params(("key" = String, Path, description = "Its key")), request_body = TriggerStop,
    responses((status = OK, body = EmergencyView)))]
pub(crate) async fn trigger(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(asked): JsonBody<TriggerStop>,
) -> Result<Json<EmergencyView>, Problem> {
    caller.may(Right::Operate, &key)?;
    let resident = service.awake(&key).await?;
    let stopped = resident
        .handle()
        .stop(&caller.token.name, asked.reason)
        .await;
    match stopped {
        Ok(()) => view(&service, &key).await,
        Err(error @ StopError::AlreadyOn) => {
            Err(ProblemCode::AlreadyStopped.because(error.to_string()))
        }
        Err(error @ StopError::Storage) => Err(ProblemCode::Storage.because(error.to_string())),
        Err(error) => Err(ProblemCode::Unavailable.because(error.to_string())),
    }
}

/// Clear the stop: messages that waited are answered.
///
/// The log names the holder of the token.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/emergency/clear/", tag = "emergency",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = EmergencyView)))]
pub(crate) async fn clear(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<EmergencyView>, Problem> {
    caller.may(Right::Operate, &key)?;
    let resident = service.awake(&key).await?;
    match resident.handle().clear_stop(&caller.token.name).await {
        Ok(()) => view(&service, &key).await,
        Err(error @ ClearError::NotActive) => {
            Err(ProblemCode::NotStopped.because(error.to_string()))
        }
        Err(error @ ClearError::Storage) => Err(ProblemCode::Storage.because(error.to_string())),
        Err(error) => Err(ProblemCode::Unavailable.because(error.to_string())),
    }
}

async fn view(service: &Shared, key: &AssistantId) -> Result<Json<EmergencyView>, Problem> {
    let state = service.state(key).await?;
    let stopped = state.stop.stopped();
    Ok(Json(EmergencyView {
        emergency_stop: stopped.is_some(),
        stopped_at: stopped.map(|it| it.at.to_string()),
        cause: stopped.map(|it| json(&it.cause)),
        reason: stopped.and_then(|it| it.reason.clone()),
        waiting: state.turns.len() as u64,
    }))
}
