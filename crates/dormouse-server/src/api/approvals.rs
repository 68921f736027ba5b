//! Dangerous acts that wait for a person who confirms or refuses them.

use axum::{Json, extract::State};
use dormouse_contracts::{AssistantId, Seq};
use dormouse_engine::{Approval, ApprovalAnswer, ApprovalAnswered, ApprovalError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    extract::{ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// An act that waits, or that is confirmed and not done yet.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalView {
    /// Its number: the event that asked for it.
    number: u64,
    tool: String,
    /// The arguments of the call.
    #[schema(value_type = Value)]
    arguments: Value,
    asked_at: String,
    /// Until when it must be confirmed and done.
    expires_at: String,
    /// The hash of the act. A confirmation holds only for an act with this hash.
    digest: String,
    /// Who confirmed it.
    allowed_by: Option<String>,
}

/// The acts of an assistant that are neither done nor refused.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalList {
    approvals: Vec<ApprovalView>,
}

/// The answer of a person.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerRequest {
    /// Whether the assistant may do it, once.
    pub(crate) allow: bool,
    /// Why, for the log and for the assistant.
    pub(crate) reason: Option<String>,
}

/// List the acts that wait to be confirmed, oldest first.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/approvals/", tag = "approvals",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = ApprovalList)))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<ApprovalList>, Problem> {
    caller.may(Right::Read, &key)?;
    respond(&service, &key).await
}

/// Confirm or refuse an act.
///
/// The assistant hears of it at once.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/approvals/{id}/", tag = "approvals",
    params(("key" = String, Path, description = "Its key"), ("id" = u64, Path, description = "The number of the act")),
    request_body = AnswerRequest, responses((status = OK, body = ApprovalList)))]
pub(crate) async fn answer(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(number): ItemId<u64>,
    JsonBody(asked): JsonBody<AnswerRequest>,
) -> Result<Json<ApprovalList>, Problem> {
    caller.may(Right::Operate, &key)?;
    let resident = service.awake(&key).await?;
    let answered = ApprovalAnswered {
        approval: Seq(number),
        answer: match asked.allow {
            true => ApprovalAnswer::Allowed,
            false => ApprovalAnswer::Denied,
        },
        by: caller.token.name.clone(),
        reason: asked.reason.filter(|reason| !reason.trim().is_empty()),
    };
    resident.handle().answer_approval(answered).await?;
    respond(&service, &key).await
}

async fn respond(service: &Shared, key: &AssistantId) -> Result<Json<ApprovalList>, Problem> {
    let state = service.state(key).await?;
    let open = state.approvals.open(service.now()).map(view);
    Ok(Json(ApprovalList {
        approvals: open.collect(),
    }))
}

impl From<ApprovalError> for Problem {
    fn from(error: ApprovalError) -> Self {
        let code = match error {
            ApprovalError::NotWaiting(_) => ProblemCode::UnknownItem,
            ApprovalError::Storage => ProblemCode::Storage,
            _ => ProblemCode::Unavailable,
        };
        code.because(error.to_string())
    }
}

fn view(approval: &Approval) -> ApprovalView {
    let request = &approval.request;
    ApprovalView {
        number: approval.seq.0,
        tool: request.tool.to_string(),
        arguments: Value::Object(request.arguments.clone()),
        asked_at: approval.at.to_string(),
        expires_at: request.expires_at.to_string(),
        digest: request.digest.clone(),
        allowed_by: approval.allowed_by.clone(),
    }
}
