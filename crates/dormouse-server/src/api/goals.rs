//! What an assistant means to reach.

use axum::{Json, extract::State, http::StatusCode};
use dormouse_contracts::Timestamp;
use dormouse_engine::{
    Event, Goal, GoalError, GoalId, GoalMoment, GoalNote, GoalStatus, GoalUpdated, Goals, NewGoal,
    Recurrence, USUAL_PRIORITY,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Changed;
use crate::{
    extract::{Asked, ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// A goal.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GoalView {
    /// Its number.
    goal: u32,
    /// The goal that it is a part of.
    parent: Option<u32>,
    /// What is to be reached.
    description: String,
    /// How far that is believed, 0 to 1.
    trust: f64,
    /// 1 to 10.
    priority: u32,
    /// Its status, for people.
    status: String,
    /// Whether it is still open.
    is_open: bool,
    /// When it calls for a turn next.
    next_at: Option<String>,
    /// When it recurs, such as `daily 20:00`.
    repeats: Option<String>,
    /// What was noted about it last.
    note: Option<String>,
    /// How many of its parts are done.
    parts_done: u64,
    /// How many parts it has.
    parts: u64,
}

/// The goals of an assistant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GoalList {
    goals: Vec<GoalView>,
}

/// Which goals.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListGoals {
    /// Also those that were closed lately.
    #[serde(default)]
    pub(crate) closed: bool,
}

/// A goal that is to be set.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoalRequest {
    /// What is to be reached. Everybody may learn of it.
    pub(crate) text: String,
    /// How important it is, 1 to 10.
    pub(crate) priority: Option<u8>,
    /// The goal that it is a part of.
    pub(crate) parent: Option<u32>,
    /// When it is pursued, as RFC 3339.
    pub(crate) due: Option<String>,
    /// When it recurs: `daily 20:00`, `weekly mon 08:00` or `every 2 hours`, in UTC.
    pub(crate) every: Option<String>,
}

/// A change of a goal.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoalPatch {
    /// `open`, `done` or `dropped`.
    pub(crate) status: Option<String>,
    /// How important it is, 1 to 10.
    pub(crate) priority: Option<u8>,
    /// What is to be noted about it. Everybody may learn of it.
    pub(crate) note: Option<String>,
}

/// List the goals of an assistant.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/goals/", tag = "goals",
    params(("key" = String, Path, description = "Its key"), ListGoals),
    responses((status = OK, body = GoalList)))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<ListGoals>,
) -> Result<Json<GoalList>, Problem> {
    caller.may(Right::Read, &key)?;
    let goals = service.state(&key).await?.goals;
    let listed = goals.iter().filter(|goal| asked.closed || goal.is_open());
    let listed = listed.map(|goal| view(&goals, goal)).collect();
    Ok(Json(GoalList { goals: listed }))
}

/// Set a goal.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/goals/", tag = "goals",
    params(("key" = String, Path, description = "Its key")), request_body = GoalRequest,
    responses((status = CREATED, body = GoalView)))]
pub(crate) async fn create(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(asked): JsonBody<GoalRequest>,
) -> Result<(StatusCode, Json<GoalView>), Problem> {
    caller.may(Right::Operate, &key)?;
    let invalid =
        |what: &str, why: String| ProblemCode::InvalidValue.because(format!("{what}: {why}"));
    let due = asked
        .due
        .as_deref()
        .map(str::parse::<Timestamp>)
        .transpose();
    let due = due.map_err(|error| invalid("due", error.to_string()))?;
    let every = asked
        .every
        .as_deref()
        .map(str::parse::<Recurrence>)
        .transpose();
    let every = every.map_err(|error| invalid("every", error.to_string()))?;
    let now = service.now();
    let event = service
        .change(&key, |state| {
            let goal = NewGoal {
                description: GoalNote::by_operator(&asked.text),
                priority: asked.priority.unwrap_or(USUAL_PRIORITY),
                parent: asked.parent.map(GoalId),
                moment: GoalMoment::of(due, every, now)?,
            };
            let created = state.goals.create(goal, caller.author())?;
            Ok(vec![Event::GoalCreated(created)])
        })
        .await?;
    let goals = service.state(&key).await?.goals;
    let created = goals.iter().find(|goal| Some(goal.seq) == event);
    let gone = || ProblemCode::Conflict.because("the goal was set, and is gone already");
    let view = view(&goals, created.ok_or_else(gone)?);
    Ok((StatusCode::CREATED, Json(view)))
}

/// Change a goal, mark it as done, or drop it with its parts.
#[utoipa::path(patch, path = "/api/ai/assistants/{key}/goals/{id}/", tag = "goals",
    params(("key" = String, Path, description = "Its key"), ("id" = u32, Path, description = "The number of the goal")),
    request_body = GoalPatch, responses((status = OK, body = Changed)))]
pub(crate) async fn update(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<u32>,
    JsonBody(patch): JsonBody<GoalPatch>,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Operate, &key)?;
    let id = GoalId(id);
    let status = match patch.status.as_deref() {
        None | Some("done") => None,
        Some("open") => Some(GoalStatus::Open),
        Some("dropped") => Some(GoalStatus::Dropped),
        Some(other) => {
            let why = format!("status is {other:?}; expected \"open\", \"done\" or \"dropped\"");
            return Err(ProblemCode::InvalidValue.because(why));
        }
    };
    let is_done = patch.status.as_deref() == Some("done");
    if is_done && patch.priority.is_some() {
        let why = "a goal that is done has no priority any more: leave out priority";
        return Err(ProblemCode::InvalidValue.because(why));
    }
    let note = patch.note.as_deref().map(GoalNote::by_operator);
    let event = service
        .change(&key, |state| {
            let (goals, author) = (&state.goals, caller.author());
            if is_done {
                let completed = goals.complete(id, note.clone(), &author)?;
                return Ok(completed.into_iter().map(Event::GoalCompleted).collect());
            }
            let updated = GoalUpdated {
                status: status.clone(),
                priority: patch.priority,
                note: note.clone(),
                ..GoalUpdated::of(id, author)
            };
            Ok(vec![Event::GoalUpdated(goals.update(updated)?)])
        })
        .await?;
    Ok(Json(event.into()))
}

impl From<GoalError> for Problem {
    fn from(error: GoalError) -> Self {
        let code = match error {
            GoalError::Unknown(_) => ProblemCode::UnknownItem,
            _ => ProblemCode::InvalidValue,
        };
        code.because(error.to_string())
    }
}

fn view(goals: &Goals, goal: &Goal) -> GoalView {
    let (parts_done, parts) = goals.progress(goal.id).unwrap_or_default();
    let repeats = match goal.moment {
        GoalMoment::Repeating { every, .. } => Some(every.to_string()),
        GoalMoment::Never | GoalMoment::At(_) => None,
    };
    GoalView {
        goal: goal.id.0,
        parent: goal.parent.map(|parent| parent.0),
        description: goal.description.text.clone(),
        trust: goal.description.trust.score().into(),
        priority: goal.priority.into(),
        status: goal.status.to_text(),
        is_open: goal.is_open(),
        next_at: goal.turns.next_at.map(|at| at.to_string()),
        repeats,
        note: goal.note.as_ref().map(|note| note.text.clone()),
        parts_done: parts_done as u64,
        parts: parts as u64,
    }
}
