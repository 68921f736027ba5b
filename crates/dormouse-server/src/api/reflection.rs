//! When an assistant looks back over its journal.

use axum::{Json, extract::State};
use dormouse_engine::{Event, ReflectionRequested};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Changed, Reason};
use crate::{
    extract::{JsonBody, Key},
    guard::Caller,
    problem::Problem,
    service::Shared,
    tokens::Right,
};

/// When an assistant looks back.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReflectionView {
    /// How often it has looked back.
    count: u64,
    /// How many ticks had a reason since then.
    ticks: u32,
    /// After how many of these it looks back; 0: their number does not matter.
    every_ticks: u32,
    /// After how many seconds it looks back.
    after_seconds: Option<u64>,
    /// Since when it has been awake without looking back.
    since: Option<String>,
    /// Whether somebody asked for it.
    is_requested: bool,
    /// Whether it is looking back now.
    is_under_way: bool,
}

/// Show when an assistant looks back over its journal.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/reflection/", tag = "reflection",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = ReflectionView)))]
pub(crate) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<ReflectionView>, Problem> {
    caller.may(Right::Read, &key)?;
    let state = service.state(&key).await?;
    let (reflections, settings) = (&state.reflections, &state.configuration.settings.journal);
    let after = settings.reflection_after.map(|after| after.as_secs());
    Ok(Json(ReflectionView {
        count: reflections.count,
        ticks: reflections.ticks,
        every_ticks: settings.reflection_interval.0,
        after_seconds: after,
        since: reflections.since.map(|(_, at)| at.to_string()),
        is_requested: reflections.requested.is_some(),
        is_under_way: reflections.under_way.is_some(),
    }))
}

/// Ask an assistant to look back over its journal in its next turn.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/reflection/", tag = "reflection",
    params(("key" = String, Path, description = "Its key")), request_body = Reason,
    responses((status = OK, body = Changed)))]
pub(crate) async fn request(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(why): JsonBody<Reason>,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Operate, &key)?;
    let reason = why.or("asked for");
    let event = service
        .change(&key, |_| {
            Ok(vec![Event::ReflectionRequested(ReflectionRequested {
                author: caller.author(),
                reason: reason.clone(),
            })])
        })
        .await?;
    Ok(Json(event.into()))
}
