//! The conversations of an assistant: those that run, and those that have ended.

use axum::{Json, extract::State};
use dormouse_entities::{Conversation, EntityChange, StaleAfter};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    Changed, Reason,
    entities::{change, entity},
    json,
};
use crate::{
    extract::{ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// A conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationView {
    /// With whom.
    entity: String,
    /// Its number among those with this entity.
    number: u64,
    topic: Option<String>,
    started_at: String,
    last_message_at: String,
    /// When it ended; absent while it runs.
    ended_at: Option<String>,
    /// Whether it has been silent for so long that the next message begins a new one.
    is_stale: bool,
    /// How many messages there were.
    message_count: u64,
    /// How many actions are pending in it.
    pending_actions: u64,
}

/// The conversations that run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationList {
    conversations: Vec<ConversationView>,
}

/// A message of a conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationMessageView {
    at: String,
    /// `user` or `assistant`.
    #[schema(value_type = String)]
    role: Value,
    words: String,
}

/// The conversations with somebody.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationsWith {
    /// The one that runs.
    running: Option<ConversationView>,
    /// The last messages of it, oldest first.
    messages: Vec<ConversationMessageView>,
    /// Those that have ended and are kept, oldest first.
    ended: Vec<ConversationView>,
}

/// List the conversations that run.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/conversations/", tag = "conversations",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = ConversationList)))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<ConversationList>, Problem> {
    caller.may(Right::Read, &key)?;
    let (resident, now) = (service.remembering(&key).await?, service.now());
    let conversations = resident.memory().with_entities(|known| {
        let running = known.conversations();
        let running = running.map(|(entity, it)| view(entity.as_str(), it, now));
        running.collect()
    });
    Ok(Json(ConversationList { conversations }))
}

/// Show the conversations with somebody.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/conversations/{id}/", tag = "conversations",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the entity")),
    responses((status = OK, body = ConversationsWith)))]
pub(crate) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<String>,
) -> Result<Json<ConversationsWith>, Problem> {
    caller.may(Right::Read, &key)?;
    let entity = entity(id)?;
    let (resident, now) = (service.remembering(&key).await?, service.now());
    let found = resident.memory().with_entities(|known| {
        known.profile(&entity)?;
        let running = known.conversation(&entity);
        let messages = running.iter().flat_map(|running| &running.messages);
        let messages = messages.map(|message| ConversationMessageView {
            at: message.timestamp.to_string(),
            role: json(&message.role),
            words: message.content.as_str().to_owned(),
        });
        let ended = known.archived(&entity).into_iter();
        let ended = ended.map(|archived| ConversationView {
            ended_at: Some(archived.ended_at.to_string()),
            ..view(entity.as_str(), &archived.conversation, now)
        });
        Some(ConversationsWith {
            running: running.map(|it| view(entity.as_str(), it, now)),
            messages: messages.collect(),
            ended: ended.collect(),
        })
    });
    let unknown = || ProblemCode::UnknownItem.because(format!("there is no profile of {entity}"));
    found.map(Json).ok_or_else(unknown)
}

/// End the conversation that runs with somebody.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/conversations/{id}/end/", tag = "conversations",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the entity")),
    request_body = Reason, responses((status = OK, body = Changed)))]
pub(crate) async fn end(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<String>,
    JsonBody(why): JsonBody<Reason>,
) -> Result<Json<Changed>, Problem> {
    let entity = entity(id)?;
    let ended = EntityChange::ConversationEnded { entity };
    change(&service, &caller, &key, ended, why.or("ended")).await
}

fn view(
    entity: &str,
    conversation: &Conversation,
    now: dormouse_contracts::Timestamp,
) -> ConversationView {
    let topic = conversation.topic.as_ref();
    ConversationView {
        entity: entity.to_owned(),
        number: conversation.number,
        topic: topic.map(|topic| topic.as_str().to_owned()),
        started_at: conversation.started_at.to_string(),
        last_message_at: conversation.last_message_at.to_string(),
        ended_at: None,
        is_stale: conversation.is_stale(now, StaleAfter::default()),
        message_count: conversation.message_count,
        pending_actions: conversation.pending_actions.len() as u64,
    }
}
