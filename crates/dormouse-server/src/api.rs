//! The routes, one module for each domain. A handler checks the right, asks the host, and renders; it decides nothing.

pub(crate) mod assistants;
mod audit;
pub(crate) mod config;
pub(crate) mod emergency;
mod events;
pub(crate) mod goals;
pub(crate) mod interact;
pub(crate) mod journal;
mod memory;
mod operation;
pub(crate) mod sleep;
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
    pages,
    service::Shared,
};

/// What became of a change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Changed {
    /// The last event that was written; absent if everything was so already.
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

/// The routes with everything that a request passes before them.
pub(crate) fn router(service: &Shared) -> Router {
    let (router, _) = routes().split_for_parts();
    router
        .merge(pages::routes())
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(Arc::clone(service), once))
        .layer(from_fn_with_state(Arc::clone(service), pass))
        .with_state(Arc::clone(service))
}

/// A part of the engine's data as it is in the log.
fn json(value: &impl Serialize) -> Value {
    // What was read from JSON can be written as JSON.
    serde_json::to_value(value).unwrap_or_default()
}
