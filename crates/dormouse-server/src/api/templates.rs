//! Texts that can take the place of the persona.

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::Response,
};
use dormouse_contracts::AssistantId;
use dormouse_host::config::{DEFAULT_TEMPLATE, TemplateError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::config::{if_match, one, set, with_etag};
use crate::{
    extract::{ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// The templates of an assistant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TemplateList {
    templates: Vec<TemplateView>,
}

/// A template.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TemplateView {
    /// Its name; `default` is the persona.
    name: String,
    text: String,
    /// Whether it says who the assistant is.
    is_applied: bool,
}

/// A template that is to be kept.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTemplate {
    /// Its name.
    name: String,
    /// The text; it may hold `{name}`, `{key}`, `{tick_rate}` and `{reflection_interval}`.
    text: String,
}

/// A copy of a template that is to be kept.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CopyOfTemplate {
    /// The name of the copy.
    name: String,
}

/// List the templates.
///
/// The etag is that of the settings.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/templates/", tag = "templates",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = TemplateList, headers(("etag" = String)))))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Response, Problem> {
    caller.may(Right::Read, &key)?;
    respond(&service, &key).await
}

/// Keep a text under a new name.
///
/// This changes the setting `prompt.templates`.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/templates/", tag = "templates",
    params(
        ("key" = String, Path, description = "Its key"),
        ("if-match" = Option<String>, Header, description = "The etag of the settings that are changed"),
    ),
    request_body = NewTemplate,
    responses((status = CREATED, body = TemplateList, headers(("etag" = String)))))]
pub(crate) async fn create(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    headers: HeaderMap,
    JsonBody(new): JsonBody<NewTemplate>,
) -> Result<(StatusCode, Response), Problem> {
    caller.may(Right::Admin, &key)?;
    set(&service, &caller, &key, if_match(&headers)?, |config| {
        let templates = config.with_template(&new.name, new.text.clone())?;
        Ok(one("prompt.templates", templates))
    })
    .await?;
    Ok((StatusCode::CREATED, respond(&service, &key).await?))
}

/// Keep a copy of a template, or of the persona, under a new name.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/templates/{id}/clone/", tag = "templates",
    params(
        ("key" = String, Path, description = "Its key"),
        ("id" = String, Path, description = "The name of the template"),
        ("if-match" = Option<String>, Header, description = "The etag of the settings that are changed"),
    ),
    request_body = CopyOfTemplate,
    responses((status = CREATED, body = TemplateList, headers(("etag" = String)))))]
pub(crate) async fn clone(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(from): ItemId<String>,
    headers: HeaderMap,
    JsonBody(copy): JsonBody<CopyOfTemplate>,
) -> Result<(StatusCode, Response), Problem> {
    caller.may(Right::Admin, &key)?;
    set(&service, &caller, &key, if_match(&headers)?, |config| {
        let templates = config.with_copy_of(&key, &from, &copy.name)?;
        Ok(one("prompt.templates", templates))
    })
    .await?;
    Ok((StatusCode::CREATED, respond(&service, &key).await?))
}

/// Let a template say who the assistant is, from the next tick on; `default`: its persona does.
///
/// This changes the setting `prompt.template`.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/templates/{id}/apply/", tag = "templates",
    params(
        ("key" = String, Path, description = "Its key"),
        ("id" = String, Path, description = "The name of the template"),
        ("if-match" = Option<String>, Header, description = "The etag of the settings that are changed"),
    ),
    responses((status = OK, body = TemplateList, headers(("etag" = String)))))]
pub(crate) async fn apply(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(name): ItemId<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.may(Right::Admin, &key)?;
    set(&service, &caller, &key, if_match(&headers)?, |config| {
        let is_known = name == DEFAULT_TEMPLATE || config.prompt.templates.contains_key(&name);
        match is_known {
            true => Ok(one("prompt.template", &*name)),
            false => Err(TemplateError::Unknown(name.clone()).into()),
        }
    })
    .await?;
    respond(&service, &key).await
}

impl From<TemplateError> for Problem {
    fn from(error: TemplateError) -> Self {
        match error {
            TemplateError::Unknown(name) => {
                ProblemCode::UnknownItem.because(format!("there is no template {name:?}"))
            }
            TemplateError::Taken(name) => {
                ProblemCode::Conflict.because(format!("there is a template {name:?} already"))
            }
        }
    }
}

async fn respond(service: &Shared, key: &AssistantId) -> Result<Response, Problem> {
    let config = service.config(key).await?.0;
    let templates = config.templates(key).map(|(name, text)| TemplateView {
        name: name.to_owned(),
        text,
        is_applied: name == config.prompt.template,
    });
    let templates = templates.collect();
    with_etag(&config, TemplateList { templates })
}
