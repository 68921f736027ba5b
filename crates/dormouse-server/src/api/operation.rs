//! For operators: health checks, metrics, and the description of the API.

use std::sync::LazyLock;

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::{ToSchema, openapi::OpenApi};

use crate::{
    guard::Caller,
    openapi::openapi,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// Whether the service runs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Alive {
    /// Always `ok`.
    status: &'static str,
}

/// Whether the service answers at all.
#[utoipa::path(get, path = "/healthz", tag = "operation", responses((status = OK, body = Alive)))]
pub(crate) async fn alive() -> Json<Alive> {
    Json(Alive { status: "ok" })
}

/// Whether the service accepts requests: it is not shutting down, and its log can be read.
#[utoipa::path(get, path = "/readyz", tag = "operation", responses((status = OK, body = Alive)))]
pub(crate) async fn ready(State(service): State<Shared>) -> Result<Json<Alive>, Problem> {
    if *service.ending.borrow() {
        return Err(ProblemCode::Unavailable.because("the service ends"));
    }
    service.host.known()?;
    Ok(Json(Alive { status: "ok" }))
}

/// The metrics of the service, for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "operation",
    responses((status = OK, content_type = "application/openmetrics-text", body = String)))]
pub(crate) async fn metrics(
    State(service): State<Shared>,
    caller: Caller,
) -> Result<Response, Problem> {
    caller.may_everywhere(Right::Read)?;
    let residents = service.host.residents().await;
    let awake = residents.iter().filter(|it| it.is_awake).count();
    let assistants = (residents.len(), awake);
    let text = service.metrics.render(assistants, service.open_streams());
    let text = text.map_err(|error| Problem::internal(&error))?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

/// This description, as OpenAPI 3.1.
#[utoipa::path(get, path = "/api/openapi.json", tag = "operation",
    responses((status = OK, body = serde_json::Value)))]
pub(crate) async fn description(_caller: Caller) -> Json<&'static OpenApi> {
    static DESCRIPTION: LazyLock<OpenApi> = LazyLock::new(openapi);
    Json(&DESCRIPTION)
}
