//! Whether an assistant sleeps.

use axum::{Json, extract::State};
use dormouse_contracts::Timestamp;
use dormouse_engine::{Event, GoalNote, Night, SleepError, SleepWish, StepProgress, WakeCause};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{Changed, json};
use crate::{
    extract::{JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// Whether an assistant sleeps, and its nights.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SleepView {
    /// Whether it is asleep.
    is_asleep: bool,
    /// `compacting` or `dreaming`.
    phase: Option<String>,
    /// When it wakes, if nothing wakes it earlier.
    wakes_at: Option<String>,
    /// The latest nights, oldest first.
    nights: Vec<NightView>,
}

/// A night.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NightView {
    /// Its number.
    night: u64,
    began: String,
    /// When it was planned to end.
    until: String,
    /// Who decided that it sleeps.
    by: String,
    reason: Option<String>,
    woke_at: Option<String>,
    /// The pieces of its work, in order.
    steps: Vec<NightStepView>,
    /// Its results: counts by kind.
    #[schema(value_type = Value)]
    came_of_it: Value,
}

/// A piece of the work of a night.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NightStepView {
    step: String,
    /// In how many sleep ticks it was done.
    ticks: u32,
    /// How often it failed.
    failures: u32,
    /// How it ended: `done`, `skipped`, `over_budget` or `taken_back`; absent if it goes on.
    #[schema(value_type = Value)]
    end: Value,
}

/// How long an assistant is to sleep.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SleepRequest {
    /// When it wakes, as RFC 3339; by its schedule if absent.
    pub(crate) until: Option<String>,
    /// Why.
    pub(crate) reason: Option<String>,
}

/// Show whether an assistant sleeps.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/sleep/", tag = "sleep",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = SleepView)))]
pub(crate) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<SleepView>, Problem> {
    caller.may(Right::Read, &key)?;
    let sleep = service.state(&key).await?.sleep;
    Ok(Json(SleepView {
        is_asleep: sleep.is_asleep(),
        phase: sleep.phase().map(|phase| phase.to_string()),
        wakes_at: sleep.scheduled_wake_time().map(|at| at.to_string()),
        nights: sleep.nights().map(view).collect(),
    }))
}

/// Let an assistant fall asleep.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/sleep/", tag = "sleep",
    params(("key" = String, Path, description = "Its key")), request_body = SleepRequest,
    responses((status = OK, body = Changed)))]
pub(crate) async fn fall_asleep(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(asked): JsonBody<SleepRequest>,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Operate, &key)?;
    let until = asked
        .until
        .as_deref()
        .map(str::parse::<Timestamp>)
        .transpose();
    let until =
        until.map_err(|error| ProblemCode::InvalidValue.because(format!("until: {error}")))?;
    let now = service.now();
    let event = service
        .change(&key, |state| {
            let wish = SleepWish {
                author: caller.author(),
                until,
                reason: asked.reason.as_deref().map(GoalNote::by_operator),
            };
            Ok(vec![Event::FellAsleep(state.fall_asleep(now, wish)?)])
        })
        .await?;
    Ok(Json(event.into()))
}

/// Wake an assistant that sleeps.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/wake/", tag = "sleep",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = Changed)))]
pub(crate) async fn wake(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Operate, &key)?;
    let event = service
        .change(&key, |state| {
            let cause = WakeCause::Operator(caller.token.name.clone());
            Ok(vec![Event::WokeUp(state.wake_up(cause)?)])
        })
        .await?;
    Ok(Json(event.into()))
}

impl From<SleepError> for Problem {
    fn from(error: SleepError) -> Self {
        let code = match error {
            SleepError::Until(_) | SleepError::Reason => ProblemCode::InvalidValue,
            _ => ProblemCode::Conflict,
        };
        code.because(error.to_string())
    }
}

fn step(it: &StepProgress) -> NightStepView {
    NightStepView {
        step: it.step.to_string(),
        ticks: it.ticks,
        failures: it.failures,
        end: json(&it.end),
    }
}

fn view(night: &Night) -> NightView {
    NightView {
        night: night.number,
        began: night.began.to_string(),
        until: night.until.to_string(),
        by: night.author.to_string(),
        reason: night.reason.as_ref().map(|reason| reason.text.clone()),
        woke_at: night.woke.as_ref().map(|(at, _)| at.to_string()),
        steps: night.steps.iter().map(step).collect(),
        came_of_it: json(&night.came_of_it),
    }
}
