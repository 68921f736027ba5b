//! The routes, one module for each domain. A handler checks the caller's rights, asks the host, and renders the result;
//! it makes no decisions.

mod assistants;
mod audit;
mod config;
mod emergency;
mod events;
mod goals;
mod interact;
mod journal;
mod memory;
mod operation;
mod sleep;
mod status;

use std::sync::Arc;

use axum::{Router, middleware::from_fn_with_state};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    guard::{method_not_allowed, not_found, pass},
    idempotency::once,
    service::Shared,
};

/// The result of a change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Changed {
    /// The last event that was written; absent if nothing had to be changed.
    event: Option<u64>,
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
        .routes(routes!(assistants::start))
        .routes(routes!(assistants::stop))
        .routes(routes!(status::show))
        .routes(routes!(status::health))
        .routes(routes!(emergency::show))
        .routes(routes!(emergency::trigger))
        .routes(routes!(emergency::clear))
        .routes(routes!(interact::speak))
        .routes(routes!(interact::outcome))
        .routes(routes!(config::show, config::update))
        .routes(routes!(goals::list, goals::create))
        .routes(routes!(goals::update))
        .routes(routes!(journal::list, journal::write))
        .routes(routes!(sleep::show, sleep::fall_asleep))
        .routes(routes!(sleep::wake))
        .routes(routes!(memory::search))
        .routes(routes!(memory::why))
        .routes(routes!(audit::events))
        .routes(routes!(events::stream))
        .routes(routes!(operation::alive))
        .routes(routes!(operation::ready))
        .routes(routes!(operation::metrics))
        .routes(routes!(operation::description))
}

/// The routes, behind all checks that a request must pass first.
pub(crate) fn router(service: &Shared) -> Router {
    let (router, _) = routes().split_for_parts();
    router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(Arc::clone(service), once))
        .layer(from_fn_with_state(Arc::clone(service), pass))
        .with_state(Arc::clone(service))
}

/// Some data of the engine in its JSON form, as in the log.
fn json(value: &impl Serialize) -> Value {
    // What was read from JSON can be written as JSON.
    serde_json::to_value(value).unwrap_or_default()
}
