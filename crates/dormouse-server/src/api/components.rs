//! The parts of prompts: their order, whether they are shown, and how many tokens they take.

use std::ops::RangeInclusive;

use axum::{extract::State, http::HeaderMap, response::Response};
use dormouse_contracts::AssistantId;
use dormouse_engine::{COMPONENTS, Component, ComponentConfig};
use dormouse_host::config::Config;
use serde::{Deserialize, Serialize};
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

/// The numbers that a part of the operator's own may have.
const OWN_NUMBERS: RangeInclusive<u16> = 1..=5999;

/// The largest number of tokens that the description allows. No context window has as many tokens.
const MOST_TOKENS: u32 = i32::MAX.unsigned_abs();

/// The parts of prompts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ComponentList {
    /// `stable`, `documented`, or the keys that come first.
    #[schema(value_type = Value)]
    order: Value,
    /// By number.
    components: Vec<ComponentView>,
}

/// A part of prompts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ComponentView {
    /// Its name.
    pub(crate) component: String,
    /// Its number, which is its place in the documented order.
    pub(crate) number: Option<u32>,
    /// Whether it is shown.
    pub(crate) enabled: bool,
    /// Whether no prompt can do without it.
    pub(crate) is_needed: bool,
    /// Whether it is one of the operator's own.
    pub(crate) is_own: bool,
    /// Whether it can be put before or behind others.
    pub(crate) is_movable: bool,
    /// The most tokens that it takes, if there is such a bound.
    pub(crate) budget: Option<u32>,
    /// The text of one of the operator's own.
    pub(crate) text: Option<String>,
    /// Why it is there.
    pub(crate) why: Option<&'static str>,
}

/// An order of parts.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reorder {
    /// The names of those that come first, in this order. The others follow in the stable order.
    pub(crate) order: Vec<String>,
}

/// What is decided about a part. A field that is absent or `null` has the program's default.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ComponentPatch {
    /// Whether it is shown.
    pub(crate) enabled: Option<bool>,
    /// The most tokens that it takes.
    pub(crate) budget: Option<u32>,
    /// The number of a part of your own: its place among the others.
    #[schema(minimum = 1, maximum = 5999)]
    pub(crate) number: Option<u16>,
    /// The text of a part of your own.
    pub(crate) text: Option<String>,
}

/// List the parts of prompts.
///
/// The etag is that of the settings.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/components/", tag = "components",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = ComponentList, headers(("etag" = String)))))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Response, Problem> {
    caller.may(Right::Read, &key)?;
    respond(&service, &key).await
}

/// Put parts into another order, from the next tick on.
///
/// This changes the setting `prompt.order`.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/components/reorder/", tag = "components",
    params(
        ("key" = String, Path, description = "Its key"),
        ("if-match" = Option<String>, Header, description = "The etag of the settings that are changed"),
    ),
    request_body = Reorder,
    responses((status = OK, body = ComponentList, headers(("etag" = String)))))]
pub(crate) async fn reorder(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<Reorder>,
) -> Result<Response, Problem> {
    caller.may(Right::Admin, &key)?;
    let order = one("prompt.order", Config::order_of(asked.order));
    set(&service, &caller, &key, if_match(&headers)?, |_| {
        Ok(order.clone())
    })
    .await?;
    respond(&service, &key).await
}

/// Decide about one part, or make one of your own, from the next tick on; an empty object takes every decision back.
///
/// This changes the setting `prompt.components`.
#[utoipa::path(patch, path = "/api/ai/assistants/{key}/components/{id}/", tag = "components",
    params(
        ("key" = String, Path, description = "Its key"),
        ("id" = String, Path, description = "The name of the part"),
        ("if-match" = Option<String>, Header, description = "The etag of the settings that are changed"),
    ),
    request_body = ComponentPatch,
    responses((status = OK, body = ComponentList, headers(("etag" = String)))))]
pub(crate) async fn update(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(name): ItemId<String>,
    headers: HeaderMap,
    JsonBody(patch): JsonBody<ComponentPatch>,
) -> Result<Response, Problem> {
    caller.may(Right::Admin, &key)?;
    // A value that is never valid is refused before the etag is compared.
    if let Some(number) = patch.number.filter(|number| !OWN_NUMBERS.contains(number)) {
        let (first, last) = (OWN_NUMBERS.start(), OWN_NUMBERS.end());
        let why = format!("number is {number}; expected {first} to {last}");
        return Err(ProblemCode::InvalidValue.because(why));
    }
    if let Some(budget) = patch.budget.filter(|budget| *budget > MOST_TOKENS) {
        let why = format!("budget is {budget}; expected at most {MOST_TOKENS} tokens");
        return Err(ProblemCode::InvalidValue.because(why));
    }
    let decided = ComponentConfig {
        enabled: patch.enabled,
        budget: patch.budget,
        id: patch.number,
        text: patch.text,
    };
    set(&service, &caller, &key, if_match(&headers)?, |config| {
        let components = config.with_component(&name, decided.clone());
        Ok(one("prompt.components", components))
    })
    .await?;
    respond(&service, &key).await
}

async fn respond(service: &Shared, key: &AssistantId) -> Result<Response, Problem> {
    let config = service.config(key).await?.0;
    let order = json(&config.prompt.order);
    let components = components(&config);
    with_etag(&config, ComponentList { order, components })
}

/// All parts of prompts, by number.
pub(crate) fn components(config: &Config) -> Vec<ComponentView> {
    let section = &config.prompt;
    let decided = |name: &str| section.components.get(name).cloned().unwrap_or_default();
    let of_program = COMPONENTS.iter().map(|row| {
        let ComponentConfig {
            enabled, budget, ..
        } = decided(row.key);
        ComponentView {
            component: row.key.to_owned(),
            number: Some(row.id.into()),
            enabled: enabled.unwrap_or(true),
            is_needed: row.component.is_needed(),
            is_own: false,
            is_movable: row.component.is_movable(),
            budget,
            text: None,
            why: Some(row.why),
        }
    });
    let own = section.components.iter();
    let own = own.filter(|(name, _)| Component::of_key(name).is_none());
    let own = own.map(|(name, config)| ComponentView {
        component: name.clone(),
        number: config.id.map(Into::into),
        enabled: config.enabled.unwrap_or(true),
        is_needed: false,
        is_own: true,
        is_movable: config.is_movable(),
        budget: config.budget,
        text: config.text.clone(),
        why: None,
    });
    let mut components: Vec<_> = of_program.chain(own).collect();
    components.sort_by_key(|it| it.number);
    components
}
