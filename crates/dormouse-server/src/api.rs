//! The routes, one module for each domain. A handler checks the caller's rights, asks the host, and renders the result;
//! it makes no decisions.

pub(crate) mod approvals;
mod archive;
pub(crate) mod assistants;
mod audit;
pub(crate) mod components;
pub(crate) mod config;
mod contexts;
mod conversations;
pub(crate) mod emergency;
mod entities;
pub(crate) mod events;
mod execution;
pub(crate) mod goals;
pub(crate) mod heard;
mod history;
mod hygiene;
pub(crate) mod interact;
pub(crate) mod journal;
pub(crate) mod memory;
mod memory_lines;
mod operation;
mod pending_actions;
mod projects;
mod prompt;
mod reflection;
mod session_memory;
pub(crate) mod sleep;
pub(crate) mod status;
mod templates;
mod tools;
mod upkeep;
mod world;

use std::sync::Arc;

use axum::{Router, middleware::from_fn_with_state, routing::post};
use dormouse_contracts::{Seq, Timestamp};
use dormouse_engine::GoalNote;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    guard::{method_not_allowed, not_found, pass},
    idempotency::once,
    mcp, pages,
    problem::{Problem, ProblemCode},
    service::{Shared, over_http},
};

/// The result of a change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Changed {
    /// The last event that was written; absent if nothing had to be changed.
    event: Option<u64>,
}

impl From<Option<Seq>> for Changed {
    fn from(event: Option<Seq>) -> Self {
        let event = event.map(|event| event.0);
        Self { event }
    }
}

/// Why something is changed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    /// Why, for the log.
    pub(crate) reason: Option<String>,
}

impl Reason {
    /// The reason, or what was done.
    fn or(self, what: &str) -> String {
        self.reason.unwrap_or_else(|| over_http(what))
    }
}

/// All routes with their descriptions.
pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(assistants::list, assistants::create))
        .routes(routes!(
            assistants::show,
            assistants::update,
            assistants::archive
        ))
        .routes(routes!(assistants::clone))
        .routes(routes!(assistants::fork))
        .routes(routes!(assistants::start))
        .routes(routes!(assistants::stop))
        .routes(routes!(status::show))
        .routes(routes!(status::health))
        .routes(routes!(emergency::show))
        .routes(routes!(emergency::trigger))
        .routes(routes!(emergency::clear))
        .routes(routes!(interact::speak, heard::list))
        .routes(routes!(interact::outcome))
        .routes(routes!(config::show, config::update))
        .routes(routes!(goals::list, goals::create))
        .routes(routes!(goals::update))
        .routes(routes!(journal::list, journal::write))
        .routes(routes!(sleep::show, sleep::fall_asleep))
        .routes(routes!(sleep::wake))
        .routes(routes!(memory::search, memory::add))
        .routes(routes!(memory::list))
        .routes(routes!(memory::stats))
        .routes(routes!(hygiene::survey_memory, hygiene::fold_duplicates))
        .routes(routes!(memory_lines::export))
        .routes(routes!(memory_lines::import))
        .routes(routes!(upkeep::forecast_consolidation, upkeep::consolidate))
        .routes(routes!(memory::undo))
        .routes(routes!(memory::show))
        .routes(routes!(memory::why))
        .routes(routes!(memory::supersede))
        .routes(routes!(memory::withdraw))
        .routes(routes!(memory::publish))
        .routes(routes!(memory::erase))
        .routes(routes!(entities::list, entities::create))
        .routes(routes!(entities::show, entities::update, entities::delete))
        .routes(routes!(entities::observe))
        .routes(routes!(entities::merge))
        .routes(routes!(entities::unmerge))
        .routes(routes!(entities::restore))
        .routes(routes!(conversations::list))
        .routes(routes!(conversations::show))
        .routes(routes!(conversations::end))
        .routes(routes!(pending_actions::list, pending_actions::create))
        .routes(routes!(pending_actions::complete))
        .routes(routes!(approvals::list))
        .routes(routes!(approvals::answer))
        .routes(routes!(history::show))
        .routes(routes!(history::reset))
        .routes(routes!(upkeep::forecast_compaction, upkeep::compact))
        .routes(routes!(execution::show))
        .routes(routes!(execution::log))
        .routes(routes!(execution::metrics))
        .routes(routes!(prompt::preview_prompt))
        .routes(routes!(tools::list))
        .routes(routes!(contexts::list))
        .routes(routes!(contexts::update))
        .routes(routes!(components::list))
        .routes(routes!(components::reorder))
        .routes(routes!(components::update))
        .routes(routes!(templates::list, templates::create))
        .routes(routes!(templates::clone))
        .routes(routes!(templates::apply))
        .routes(routes!(projects::list, projects::create))
        .routes(routes!(projects::show, projects::update))
        .routes(routes!(projects::swap))
        .routes(routes!(session_memory::list, session_memory::add))
        .routes(routes!(session_memory::remove))
        .routes(routes!(reflection::show, reflection::request))
        .routes(routes!(upkeep::conclude))
        .routes(routes!(audit::events))
        .routes(routes!(audit::state))
        .routes(routes!(archive::export, archive::import))
        .routes(routes!(events::stream))
        .routes(routes!(world::tools, world::offer))
        .routes(routes!(world::perceive))
        .routes(routes!(world::requests))
        .routes(routes!(world::stream))
        .routes(routes!(world::answer))
        .routes(routes!(operation::alive))
        .routes(routes!(operation::ready))
        .routes(routes!(operation::metrics))
        .routes(routes!(operation::description))
}

/// The routes, behind all checks that a request must pass first.
pub(crate) fn router(service: &Shared) -> Router {
    let (router, _) = routes().split_for_parts();
    router
        .merge(pages::routes())
        .fallback(not_found)
        .layer(from_fn_with_state(Arc::clone(service), once))
        // This route does not use the header for idempotency: its answer may be a stream, which cannot be kept. Its
        // tools take the key as an argument.
        .route(
            mcp::PATH,
            post(mcp::serve).get(mcp::notify).delete(mcp::end),
        )
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(Arc::clone(service), pass))
        .with_state(Arc::clone(service))
}

/// The text of an operator, if it has at most `limit` characters as it was sent. What is kept may be shorter, because secrets
/// in it are masked.
fn operator_note(field: &str, text: &str, limit: usize) -> Result<GoalNote, Problem> {
    match text.chars().count() <= limit {
        true => Ok(GoalNote::by_operator(text)),
        false => {
            let why = format!("{field}: expected at most {limit} characters");
            Err(ProblemCode::InvalidValue.because(why))
        }
    }
}

/// A moment as RFC 3339, under this name in the request.
fn moment(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let moment = text.map(str::parse::<Timestamp>).transpose();
    moment.map_err(|error| ProblemCode::InvalidValue.because(format!("{name}: {error}")))
}

/// Some data of the engine in its JSON form, as in the log.
fn json(value: &impl Serialize) -> Value {
    // What was read from JSON can be written as JSON.
    serde_json::to_value(value).unwrap_or_default()
}
