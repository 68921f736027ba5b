//! The assistants themselves: who they are, and whether they are active.

use std::collections::{BTreeMap, BTreeSet};

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use dormouse_contracts::{AssistantId, Seq};
use dormouse_engine::{Event, RosterChange, State as AssistantState, Tag};
use dormouse_host::{
    Summary,
    roster::{LookedUp, Newcomer, Wrong},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    Changed,
    config::{one, set},
};
use crate::{
    extract::{Asked, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// How many assistants a page has: at most, and by default.
const PAGE: (u32, u32) = (200, 50);

/// An assistant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AssistantView {
    /// Its key.
    key: String,
    /// The name of its character.
    name: String,
    /// Its tags.
    tags: Vec<String>,
    /// Whether it is awake now.
    is_awake: bool,
    /// When it wakes by itself, if it is not awake and something is due.
    wakes_at: Option<String>,
    /// Since when, by whom and why it is archived, if it is.
    archived: Option<ArchivedView>,
    /// What is wrong with it, as codes from a fixed set.
    wrong: Vec<&'static str>,
    /// The last event of its log.
    events: u64,
}

/// Who archived an assistant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ArchivedView {
    /// When.
    at: String,
    /// Who.
    by: String,
    /// Why.
    reason: String,
}

/// A page of assistants.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AssistantPage {
    assistants: Vec<AssistantView>,
    /// What to send as `after` for the next page; absent at the end.
    next: Option<String>,
}

/// Which assistants.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListAssistants {
    /// Only those with this tag.
    tag: Option<String>,
    /// Also those that are archived.
    #[serde(default)]
    archived: bool,
    /// Only those after this key.
    after: Option<String>,
    /// How many at most: 1 to 200.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// An assistant that is to be created.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAssistant {
    /// Its key: letters, digits, `_`, `-` and `.`.
    pub(crate) key: String,
    /// The name of its character; made from the key if absent.
    pub(crate) name: Option<String>,
    /// Who it is; a clone has the persona of the original if absent.
    pub(crate) persona: Option<String>,
    /// Tags by which it is found; a clone has those of the original.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
}

/// A change of an assistant.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AssistantPatch {
    /// Who it is. Applies from its next tick on.
    pub(crate) persona: Option<String>,
    /// All of its tags.
    pub(crate) tags: Option<Vec<String>>,
    /// Whether it is archived.
    pub(crate) archived: Option<bool>,
    /// Why, for the log.
    pub(crate) reason: Option<String>,
}

/// Why something is done.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Because {
    /// Why, for the log.
    reason: Option<String>,
}

/// List assistants, by key.
#[utoipa::path(get, path = "/api/ai/assistants/", tag = "assistants", params(ListAssistants),
    responses((status = OK, body = AssistantPage)))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Asked(asked): Asked<ListAssistants>,
) -> Result<Json<AssistantPage>, Problem> {
    let tag = asked.tag.as_deref().map(tag).transpose()?;
    let limit = limit(asked.limit, PAGE)?;
    let residents = residents(&service).await;
    let mut known = service.host.known()?;
    known.sort();
    let mut assistants: Vec<AssistantView> = Vec::new();
    let mut next = None;
    for (key, _) in known {
        let is_behind = asked
            .after
            .as_deref()
            .is_none_or(|after| key.as_str() > after);
        if !is_behind || !caller.token.allows(Right::Read, &key) {
            continue;
        }
        if assistants.len() == limit {
            next = assistants.last().map(|last| last.key.clone());
            break;
        }
        let it = service.host.look_up(&key).await?;
        let roster = &it.state.roster;
        let has_tag = tag.as_ref().is_none_or(|tag| roster.tags.contains(tag));
        if has_tag && (asked.archived || roster.archived.is_none()) {
            assistants.push(view(&it, residents.get(&key)));
        }
    }
    Ok(Json(AssistantPage { assistants, next }))
}

/// Create an assistant.
///
/// It is active at once.
#[utoipa::path(post, path = "/api/ai/assistants/", tag = "assistants", request_body = NewAssistant,
    responses((status = CREATED, body = AssistantView)))]
pub(crate) async fn create(
    State(service): State<Shared>,
    caller: Caller,
    JsonBody(new): JsonBody<NewAssistant>,
) -> Result<Response, Problem> {
    let newcomer = newcomer(new)?;
    let key = newcomer.key.clone();
    caller.may(Right::Admin, &key)?;
    service
        .host
        .create(newcomer, caller.decision(None, "created"))
        .await?;
    created(&service, &key).await
}

/// Create an assistant with the persona of another one, but without its memories.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/clone/", tag = "assistants", request_body = NewAssistant,
    params(("key" = String, Path, description = "The original")),
    responses((status = CREATED, body = AssistantView)))]
pub(crate) async fn clone(
    State(service): State<Shared>,
    caller: Caller,
    Key(from): Key,
    JsonBody(new): JsonBody<NewAssistant>,
) -> Result<Response, Problem> {
    let newcomer = newcomer(new)?;
    let key = newcomer.key.clone();
    // A clone shows who the original is.
    caller.may(Right::Read, &from)?;
    caller.may(Right::Admin, &key)?;
    let decision = caller.decision(None, "cloned");
    service.host.clone_of(&from, newcomer, decision).await?;
    created(&service, &key).await
}

/// A fork that is to be created.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForkRequest {
    /// Its key: letters, digits, `_`, `-` and `.`.
    pub(crate) key: String,
    /// The name of its character; made from the key if absent.
    pub(crate) name: Option<String>,
    /// The last event that both have: this one, or an earlier one if a turn was under way after it. The end of the log
    /// if absent.
    pub(crate) at: Option<u64>,
    /// Tags by which it is found; those of the original if there are none.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
}

/// Create an assistant that has lived as another one did, up to an event: its log begins with the other's.
///
/// It is switched off at first, because it has the promises and goals of the original.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/fork/", tag = "assistants", request_body = ForkRequest,
    params(("key" = String, Path, description = "The original")),
    responses((status = CREATED, body = AssistantView)))]
pub(crate) async fn fork(
    State(service): State<Shared>,
    caller: Caller,
    Key(from): Key,
    JsonBody(new): JsonBody<ForkRequest>,
) -> Result<Response, Problem> {
    let newcomer = newcomer(NewAssistant {
        key: new.key,
        name: new.name,
        persona: None,
        tags: new.tags,
    })?;
    let key = newcomer.key.clone();
    // A fork shows everything that the original lived.
    caller.may(Right::Read, &from)?;
    caller.may(Right::Admin, &key)?;
    let last = service.exists(&from)?;
    let at = new.at.map_or(last, Seq);
    if at > last {
        let why = format!("there is no event {at}; the log ends at event {last}");
        return Err(ProblemCode::UnknownItem.because(why));
    }
    let decision = caller.decision(None, "forked");
    Box::pin(service.host.fork(&from, at, newcomer, decision)).await?;
    created(&service, &key).await
}

async fn created(service: &Shared, key: &AssistantId) -> Result<Response, Problem> {
    let view = look_up(service, key).await?;
    let location = [(header::LOCATION, format!("/api/ai/assistants/{key}/"))];
    Ok((StatusCode::CREATED, location, Json(view)).into_response())
}

/// Show an assistant.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/", tag = "assistants",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = AssistantView)))]
pub(crate) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<AssistantView>, Problem> {
    caller.may(Right::Read, &key)?;
    look_up(&service, &key).await.map(Json)
}

/// Change who an assistant is, its tags, or whether it is archived: all of it or nothing.
///
/// Each kind of change is an event of its own.
#[utoipa::path(patch, path = "/api/ai/assistants/{key}/", tag = "assistants", request_body = AssistantPatch,
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = AssistantView)))]
pub(crate) async fn update(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(patch): JsonBody<AssistantPatch>,
) -> Result<Json<AssistantView>, Problem> {
    caller.may(Right::Admin, &key)?;
    let tags = patch.tags.as_deref().map(tags).transpose()?;
    let host = &service.host;
    let decided = |what| caller.decision(patch.reason.clone(), what);
    let events = |state: &AssistantState| -> Result<Vec<Event>, Problem> {
        let restored = (patch.archived == Some(false)).then_some(RosterChange::Restored);
        let tagged = tags.clone().map(RosterChange::Tagged);
        let archived = (patch.archived == Some(true)).then_some(RosterChange::Archived);
        let of = |what, change| decided(what).events(&state.roster, change);
        let mut events = of("restored", restored);
        if let Some(persona) = &patch.persona {
            let persona = one("assistant.persona", persona);
            let by = &caller.token.name;
            let change = host.config().change_of((&key, state), &persona, by)?;
            events.extend(change.events());
        }
        events.extend(of("tagged", tagged));
        events.extend(of("archived", archived));
        Ok(events)
    };
    host.change(&key, events).await?;
    look_up(&service, &key).await.map(Json)
}

/// Archive an assistant: it does not wake until it is restored.
///
/// Its log, its memory and its character stay.
#[utoipa::path(delete, path = "/api/ai/assistants/{key}/", tag = "assistants",
    params(("key" = String, Path, description = "Its key"), Because),
    responses((status = OK, body = Changed)))]
pub(crate) async fn archive(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(because): Asked<Because>,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Admin, &key)?;
    service.exists(&key)?;
    let decision = caller.decision(because.reason, "archived");
    let event = service
        .host
        .change_roster(&key, RosterChange::Archived, decision)
        .await?;
    Ok(Json(event.into()))
}

/// Switch an assistant on: it takes ticks.
///
/// This does not clear an emergency stop.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/start/", tag = "assistants",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = Changed)))]
pub(crate) async fn start(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<Changed>, Problem> {
    switch(&service, &caller, &key, true).await
}

/// Switch an assistant off: it takes no ticks, and messages wait in its log.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/stop/", tag = "assistants",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = Changed)))]
pub(crate) async fn stop(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<Changed>, Problem> {
    switch(&service, &caller, &key, false).await
}

async fn switch(
    service: &Shared,
    caller: &Caller,
    key: &AssistantId,
    on: bool,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Operate, key)?;
    let enabled = one("assistant.enabled", on.to_string());
    let event = set(service, caller, key, None, |_| Ok(enabled.clone())).await?;
    Ok(Json(event.into()))
}

async fn look_up(service: &Shared, key: &AssistantId) -> Result<AssistantView, Problem> {
    let it = service.host.look_up(key).await?;
    Ok(view(&it, residents(service).await.get(key)))
}

async fn residents(service: &Shared) -> BTreeMap<AssistantId, Summary> {
    let residents = service.host.residents().await.into_iter();
    residents.map(|it| (it.key.clone(), it)).collect()
}

fn view(it: &LookedUp, summary: Option<&Summary>) -> AssistantView {
    let roster = &it.state.roster;
    let archived = roster.archived.as_ref().map(|archived| ArchivedView {
        at: archived.at.to_string(),
        by: archived.by.to_string(),
        reason: archived.reason.clone(),
    });
    AssistantView {
        key: it.key.to_string(),
        name: it.name.clone(),
        tags: roster.tags.iter().map(ToString::to_string).collect(),
        is_awake: summary.is_some_and(|it| it.is_awake),
        wakes_at: summary.and_then(|it| it.due).map(|due| due.to_string()),
        archived,
        wrong: it.wrong.iter().map(wrong).collect(),
        events: it.state.seq.0,
    }
}

/// What is wrong, without the words of errors, which may name files.
pub(super) fn wrong(wrong: &Wrong) -> &'static str {
    match wrong {
        Wrong::Archived(_) => "archived",
        Wrong::Stopped(_) => "emergency_stop",
        Wrong::SwitchedOff => "switched_off",
        Wrong::NeverWoke => "never_woke",
        Wrong::NotInWorld => "not_in_world",
        Wrong::World(_) => "world_and_log_differ",
        _ => "other",
    }
}

fn newcomer(new: NewAssistant) -> Result<Newcomer, Problem> {
    let NewAssistant {
        key,
        name,
        persona,
        tags: asked,
    } = new;
    let key = AssistantId::try_new(key);
    let key = key.map_err(|error| ProblemCode::InvalidKey.because(error.to_string()))?;
    let tags = self::tags(&asked)?;
    Ok(Newcomer {
        key,
        name,
        persona,
        tags,
    })
}

fn tags(asked: &[String]) -> Result<BTreeSet<Tag>, Problem> {
    asked.iter().map(|text| tag(text)).collect()
}

fn tag(text: &str) -> Result<Tag, Problem> {
    Tag::try_new(text).map_err(|error| ProblemCode::InvalidValue.because(error.to_string()))
}

/// The requested size of a page, or the default; an error if it is out of range.
pub(super) fn limit(asked: Option<u32>, (most, usual): (u32, u32)) -> Result<usize, Problem> {
    match asked.unwrap_or(usual) {
        limit if (1..=most).contains(&limit) => Ok(limit as usize),
        limit => {
            Err(ProblemCode::InvalidRequest
                .because(format!("limit is {limit}; expected 1 to {most}")))
        }
    }
}
