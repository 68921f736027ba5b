//! What an assistant works on.

use axum::{Json, extract::State, http::StatusCode};
use dormouse_engine::{
    Event, GoalNote, Project, ProjectError, ProjectId, ProjectStatus, ProjectUpdated,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{Changed, json, operator_note};
use crate::{
    extract::{ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// The most characters of a summary, and of any other text, as in the description of the API.
const SUMMARY: usize = 200;
const CONTEXT: usize = 1_000;

/// A project.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProjectView {
    /// Its key, such as `project-3`.
    project: String,
    /// The event that began it.
    event: u64,
    created_at: String,
    last_active: String,
    /// `active`, `paused` or `completed`.
    #[schema(value_type = String)]
    status: Value,
    /// What it is, in a sentence.
    summary: String,
    /// Its current state, and what one must know to continue it.
    context: Option<String>,
    /// How far that is believed, 0 to 1.
    trust: f64,
}

/// The projects of an assistant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProjectList {
    projects: Vec<ProjectView>,
}

/// A project that is to be begun.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewProject {
    /// What it is, in a sentence. Everybody may learn of it.
    #[schema(min_length = 1, max_length = 200)]
    summary: String,
    /// Its current state, and what one must know to continue it.
    #[schema(min_length = 1, max_length = 1000)]
    context: Option<String>,
}

/// A change of a project.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProjectPatch {
    /// What it is, in a sentence.
    #[schema(min_length = 1, max_length = 200)]
    summary: Option<String>,
    /// Its current state, which replaces the former text.
    #[schema(min_length = 1, max_length = 1000)]
    context: Option<String>,
    /// Whether it is over; `swap/` takes it up again.
    #[serde(default)]
    completed: bool,
}

/// Another project becomes the active one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SwapProject {
    /// The current state of the former project, which replaces its context.
    #[schema(min_length = 1, max_length = 1000)]
    update: Option<String>,
    /// Why.
    #[schema(min_length = 1, max_length = 1000)]
    reason: Option<String>,
}

/// List the projects.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/projects/", tag = "projects",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = ProjectList)))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<ProjectList>, Problem> {
    caller.may(Right::Read, &key)?;
    let projects = service.state(&key).await?.projects;
    Ok(Json(ProjectList {
        projects: projects.iter().map(view).collect(),
    }))
}

/// Show a project.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/projects/{id}/", tag = "projects",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The key of the project, or its number")),
    responses((status = OK, body = ProjectView)))]
pub(crate) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<ProjectId>,
) -> Result<Json<ProjectView>, Problem> {
    caller.may(Right::Read, &key)?;
    let projects = service.state(&key).await?.projects;
    let unknown = || ProjectError::unknown(id, projects.iter().map(|it| it.id));
    Ok(Json(view(projects.get(id).ok_or_else(unknown)?)))
}

/// Begin a project.
///
/// It is the active one if no other is.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/projects/", tag = "projects",
    params(("key" = String, Path, description = "Its key")), request_body = NewProject,
    responses((status = CREATED, body = Changed)))]
pub(crate) async fn create(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(new): JsonBody<NewProject>,
) -> Result<(StatusCode, Json<Changed>), Problem> {
    caller.may(Right::Operate, &key)?;
    let event = service
        .change(&key, |state| {
            let settings = &state.configuration.settings.own;
            let summary = operator_note("summary", &new.summary, SUMMARY)?;
            let context = note("context", new.context.as_deref(), CONTEXT)?;
            let projects = &state.projects;
            let created = projects.create(summary, context, settings, caller.author())?;
            Ok(vec![Event::ProjectCreated(created)])
        })
        .await?;
    Ok((StatusCode::CREATED, Json(event.into())))
}

/// Change a project.
#[utoipa::path(patch, path = "/api/ai/assistants/{key}/projects/{id}/", tag = "projects",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The key of the project, or its number")),
    request_body = ProjectPatch, responses((status = OK, body = Changed)))]
pub(crate) async fn update(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<ProjectId>,
    JsonBody(patch): JsonBody<ProjectPatch>,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Operate, &key)?;
    let event = service
        .change(&key, |state| {
            let updated = ProjectUpdated {
                summary: note("summary", patch.summary.as_deref(), SUMMARY)?,
                context: note("context", patch.context.as_deref(), CONTEXT)?,
                status: patch.completed.then_some(ProjectStatus::Completed),
                ..ProjectUpdated::of(id, caller.author())
            };
            let updated = state.projects.update(updated)?;
            Ok(vec![Event::ProjectUpdated(updated)])
        })
        .await?;
    Ok(Json(event.into()))
}

/// Make a project the active one.
///
/// The one before it is paused.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/projects/{id}/swap/", tag = "projects",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The key of the project, or its number")),
    request_body = SwapProject, responses((status = OK, body = Changed)))]
pub(crate) async fn swap(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<ProjectId>,
    JsonBody(asked): JsonBody<SwapProject>,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Operate, &key)?;
    let event = service
        .change(&key, |state| {
            let update = note("update", asked.update.as_deref(), CONTEXT)?;
            let reason = note("reason", asked.reason.as_deref(), CONTEXT)?;
            match state.projects.swap(id, update, reason, caller.author()) {
                Ok(swapped) => Ok(vec![Event::ProjectSwapped(swapped)]),
                Err(ProjectError::Active(_)) => Ok(Vec::new()),
                Err(error) => Err(error.into()),
            }
        })
        .await?;
    Ok(Json(event.into()))
}

fn note(field: &str, text: Option<&str>, limit: usize) -> Result<Option<GoalNote>, Problem> {
    text.map(|text| operator_note(field, text, limit))
        .transpose()
}

impl From<ProjectError> for Problem {
    fn from(error: ProjectError) -> Self {
        let code = match error {
            ProjectError::Unknown { .. } => ProblemCode::UnknownItem,
            ProjectError::NoneActive | ProjectError::TooMany(_) => ProblemCode::Conflict,
            _ => ProblemCode::InvalidValue,
        };
        code.because(error.to_string())
    }
}

fn view(project: &Project) -> ProjectView {
    let context = project.context.as_ref();
    ProjectView {
        project: project.id.to_string(),
        event: project.seq.0,
        created_at: project.created_at.to_string(),
        last_active: project.last_active.to_string(),
        status: json(&project.status),
        summary: project.summary.text.clone(),
        context: context.map(|context| context.text.clone()),
        trust: project.summary.trust.score().into(),
    }
}
