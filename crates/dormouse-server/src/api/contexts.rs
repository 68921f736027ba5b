//! The kinds of ticks, and how each restricts what the operator allows.

use axum::{extract::State, http::HeaderMap, response::Response};
use dormouse_contracts::AssistantId;
use dormouse_engine::{CONTEXTS, ComposedPattern, ContextConfig, ContextRow, ContextType, compose};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    config::{if_match, one, set, with_etag},
    json,
};
use crate::{
    extract::{ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// A kind of tick, and how far it may go.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PatternView {
    /// Its name, such as `tick_event`.
    context: &'static str,
    /// When it is entered.
    entry: &'static str,
    /// `react_loop` or `single_action`.
    #[schema(value_type = String)]
    mode: Value,
    max_iterations: u32,
    /// Whether a dangerous call is decided twice.
    confirm_dangerous: bool,
    /// Which tools are offered: by `names`, `categories` and `required_trust`; a field that is `null` excludes no tool.
    #[schema(value_type = Value)]
    tools: Value,
    /// The parts of its prompts.
    #[schema(value_type = Vec<String>)]
    components: Value,
    /// The most tokens that the parts of the prompt before the message or occasion take.
    token_budget: Option<u32>,
    /// How many tasks may be delegated at the same time.
    sub_agent_budget: u32,
    /// Which layer decides a value: `static`, `context` or `assessment`.
    #[schema(value_type = BTreeMap<String, String>)]
    from: Value,
}

/// The kinds of ticks.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ContextList {
    contexts: Vec<ContextView>,
}

/// A kind of tick, and what the operator decided about it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ContextView {
    #[serde(flatten)]
    pattern: PatternView,
    /// What differs from the table of the program.
    #[schema(value_type = Value)]
    decided: Value,
}

/// List the kinds of ticks.
///
/// The etag is that of the settings.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/contexts/", tag = "contexts",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = ContextList, headers(("etag" = String)))))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Response, Problem> {
    caller.may(Right::Read, &key)?;
    respond(&service, &key).await
}

/// Decide about one kind of tick, from the next tick on; an empty object takes every decision back.
///
/// This changes the setting `execution.contexts`; the body has its fields.
#[utoipa::path(patch, path = "/api/ai/assistants/{key}/contexts/{id}/", tag = "contexts",
    params(
        ("key" = String, Path, description = "Its key"),
        ("id" = String, Path, description = "The name of the kind, such as `tick_event`"),
        ("if-match" = Option<String>, Header, description = "The etag of the settings that are changed"),
    ),
    request_body = BTreeMap<String, Value>,
    responses((status = OK, body = ContextList, headers(("etag" = String)))))]
pub(crate) async fn update(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(name): ItemId<String>,
    headers: HeaderMap,
    JsonBody(decided): JsonBody<ContextConfig>,
) -> Result<Response, Problem> {
    caller.may(Right::Admin, &key)?;
    let context = self::context(&name)?;
    set(&service, &caller, &key, if_match(&headers)?, |config| {
        let contexts = config.with_context(context, decided.clone());
        Ok(one("execution.contexts", contexts))
    })
    .await?;
    respond(&service, &key).await
}

/// The kind of tick of this name.
pub(super) fn context(name: &str) -> Result<ContextType, Problem> {
    let unknown = || {
        let names = CONTEXTS.each_ref().map(|row| row.name).join(", ");
        ProblemCode::UnknownItem.because(format!("there is no kind of tick {name:?}: {names}"))
    };
    ContextType::of_name(name).ok_or_else(unknown)
}

async fn respond(service: &Shared, key: &AssistantId) -> Result<Response, Problem> {
    let (config, state) = service.config(key).await?;
    let settings = config.pattern_settings(key);
    let settings = settings.map_err(|error| Problem::internal(&error))?;
    let contexts = CONTEXTS.iter().map(|row| ContextView {
        pattern: PatternView::of(
            row,
            &compose(&settings, row.context, state.assessment_in(row.context)),
        ),
        decided: json(&config.execution.contexts.get(&row.context)),
    });
    let contexts = contexts.collect();
    with_etag(&config, ContextList { contexts })
}

impl PatternView {
    /// What is left for this kind of tick.
    pub(super) fn of(row: &'static ContextRow, composed: &ComposedPattern) -> Self {
        let ComposedPattern { pattern, from } = composed;
        Self {
            context: row.name,
            entry: row.entry,
            mode: json(&pattern.bounds.mode),
            max_iterations: pattern.bounds.max_iterations,
            confirm_dangerous: pattern.bounds.confirm_dangerous,
            tools: json(&pattern.tools),
            components: json(&pattern.components),
            token_budget: pattern.token_budget,
            sub_agent_budget: pattern.sub_agent_budget,
            from: json(from),
        }
    }
}
