//! What an assistant means to do for people.

use axum::{Json, extract::State, http::StatusCode};
use dormouse_contracts::{Audience, Sources, Trust};
use dormouse_entities::{ActionText, Completion, EntityChange, PendingAction};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    Changed,
    entities::{change, entity},
    moment,
};
use crate::{
    extract::{ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::{Shared, over_http},
    tokens::Right,
};

/// Something that is to be done for somebody.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PendingActionView {
    /// For whom.
    entity: String,
    /// Its number in the conversation with them.
    action: u64,
    description: String,
    /// Higher is sooner.
    priority: u32,
    created_at: String,
    due_at: Option<String>,
    /// What it waits for, in words; empty if it waits for nothing.
    condition: String,
    /// How far it is believed, 0 to 1.
    trust: f64,
}

/// What is to be done, by entity, most important first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PendingActionList {
    pending_actions: Vec<PendingActionView>,
}

/// Something that is to be done for somebody with whom a conversation runs.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPendingAction {
    /// For whom: the id of an entity.
    entity: String,
    /// What. Everybody may learn of it.
    #[schema(value_type = String, min_length = 1, max_length = 200)]
    description: ActionText,
    /// Higher is sooner; 1 if absent.
    #[schema(minimum = 0, maximum = 255)]
    priority: Option<u8>,
    /// When it is due, as RFC 3339.
    #[schema(format = DateTime)]
    due_at: Option<String>,
    /// Why, for the log.
    reason: Option<String>,
}

/// What became of a pending action.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompleteAction {
    /// For whom it was: the id of an entity.
    entity: String,
    /// Whether it was not done, because nobody wants it any more.
    #[serde(default)]
    withdrawn: bool,
    /// Why, for the log.
    reason: Option<String>,
}

/// List what an assistant means to do for people.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/pending-actions/", tag = "pending-actions",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = PendingActionList)))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<PendingActionList>, Problem> {
    caller.may(Right::Read, &key)?;
    let resident = service.remembering(&key).await?;
    let pending_actions = resident.memory().with_entities(|known| {
        let with = known.conversations().map(|(entity, _)| entity);
        let of = |entity| {
            let actions = known.pending_actions(entity).into_iter();
            actions.map(move |action| view(entity.as_str(), action))
        };
        with.flat_map(of).collect()
    });
    Ok(Json(PendingActionList { pending_actions }))
}

/// Add something that an assistant is to do for somebody.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/pending-actions/", tag = "pending-actions",
    params(("key" = String, Path, description = "Its key")), request_body = NewPendingAction,
    responses((status = CREATED, body = Changed)))]
pub(crate) async fn create(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(new): JsonBody<NewPendingAction>,
) -> Result<(StatusCode, Json<Changed>), Problem> {
    let added = EntityChange::ActionAdded {
        entity: entity(new.entity)?,
        description: new.description,
        priority: new.priority.unwrap_or(1),
        due_at: moment("due_at", new.due_at.as_deref())?,
        when: Vec::new(),
        until: None,
        trust: Some(Trust::FULL),
        // What an operator writes may be shown to everybody.
        audience: Some(Audience::Public),
        sources: Sources::default(),
    };
    let why = new.reason.unwrap_or_else(|| over_http("added"));
    let changed = change(&service, &caller, &key, added, why).await?;
    Ok((StatusCode::CREATED, changed))
}

/// Say that something was done for somebody, or that nobody wants it any more.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/pending-actions/{id}/complete/", tag = "pending-actions",
    params(("key" = String, Path, description = "Its key"), ("id" = u64, Path, description = "The number of the action")),
    request_body = CompleteAction, responses((status = OK, body = Changed)))]
pub(crate) async fn complete(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(action): ItemId<u64>,
    JsonBody(asked): JsonBody<CompleteAction>,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Operate, &key)?;
    let entity = entity(asked.entity)?;
    let resident = service.remembering(&key).await?;
    let noted_at = resident.memory().with_entities(|known| {
        let mut actions = known.pending_actions(&entity).into_iter();
        let found = actions.find(|it| it.id == action)?;
        Some(found.waits().then_some(found.created_at))
    });
    let unknown = format!("there is no pending action {action} for {entity}");
    let noted_at = noted_at.ok_or_else(|| ProblemCode::UnknownItem.because(unknown))?;
    let completed = EntityChange::ActionCompleted {
        entity,
        action,
        noted_at,
        completion: match asked.withdrawn {
            true => Completion::Withdrawn,
            false => Completion::Done,
        },
    };
    let why = asked.reason.unwrap_or_else(|| over_http("completed"));
    change(&service, &caller, &key, completed, why).await
}

fn view(entity: &str, action: &PendingAction) -> PendingActionView {
    PendingActionView {
        entity: entity.to_owned(),
        action: action.id,
        description: action.description.as_str().to_owned(),
        priority: action.priority.into(),
        created_at: action.created_at.to_string(),
        due_at: action.due_at.map(|at| at.to_string()),
        condition: action.condition(),
        trust: action.trust.score().into(),
    }
}
