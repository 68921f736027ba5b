//! The first screen: all residents. Those that need somebody come first. The form that creates one is here, too.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use dormouse_contracts::{AssistantId, Seq};
use dormouse_engine::WindowLevel;
use dormouse_host::Summary;
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    Page,
    form::{Button, Fields, given},
    frame::{self, WhyField},
    go_to,
    seen::{Seen, When},
    words::{counted, grouped, outside},
};
use crate::{
    api::assistants::{self, AssistantPatch, ForkRequest, NewAssistant},
    extract::{Asked, JsonBody, Key},
    guard::Caller,
    problem::Problem,
    service::Shared,
    tokens::Right,
};

/// How many residents the page shows. Each is folded from its log.
const MOST: usize = 500;

/// Which residents.
#[derive(Debug, Deserialize)]
pub(super) struct Which {
    /// Only those whose key contains this.
    #[serde(default)]
    key: String,
}

/// An etag of the first screen. It covers what changes without a request: the ends of the logs, who is awake, and what
/// each of them does.
async fn tag(service: &Shared, known: &[(AssistantId, Seq)], residents: &[Summary]) -> String {
    let mut hasher = DefaultHasher::new();
    known.hash(&mut hasher);
    for it in residents {
        (&it.key, it.is_awake, it.due, &it.failure).hash(&mut hasher);
        if let Some(handle) = service.host.if_awake(&it.key).await {
            let status = handle.status();
            format!(
                "{:?}{}{:?}",
                status.activity, status.is_out, status.slow_since
            )
            .hash(&mut hasher);
        }
    }
    format!("\"{:016x}\"", hasher.finish())
}

/// Shows the residents. If the etag of the request is still valid, the response only says that nothing has changed.
pub(super) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    headers: HeaderMap,
    Asked(which): Asked<Which>,
) -> Result<Response, Problem> {
    let residents = service.host.residents().await;
    let mut known = service.host.known()?;
    known.sort();
    let asked = which.key.trim();
    known.retain(|(key, _)| caller.token.allows(Right::Read, key) && key.as_str().contains(asked));
    let tag = tag(&service, &known, &residents).await;
    if headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|has| has.as_bytes() == tag.as_bytes())
    {
        return Ok(StatusCode::NOT_MODIFIED.into_response());
    }
    let count = known.len();
    let mut all = Vec::new();
    for (key, _) in known.iter().take(MOST) {
        let summary = residents.iter().find(|it| it.key == *key);
        all.push(Box::pin(Seen::with(&service, key, summary)).await?);
    }
    let (archived, mut all): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|it: &Seen| it.is_archived);
    all.sort_by_key(|it| it.needs.iter().map(|need| need.kind).min());
    let (needing, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| !it.needs.is_empty());
    let (awake, resting): (Vec<_>, Vec<_>) = others
        .into_iter()
        .partition(|it| it.live.is_some() && !it.is_asleep());
    let groups = [
        ("Needs you", needing),
        ("Awake", awake),
        ("Asleep or at rest", resting),
        ("Archived", archived),
    ];
    let body = html! {
        div.bar {
            form.search role="search" method="get" action="/" {
                label.unseen for="key" { "Key" }
                input #key type="search" name="key" value=(asked) placeholder="Key";
                button { "Find" }
            }
            @if caller.may_everywhere(Right::Admin).is_ok() {
                a.button.primary href="/new/" { "New resident" }
            }
        }
        div #residents data-tag=(tag) {
        @if count > MOST {
            p.warning { "Only the first " (MOST) " of " (grouped(count as u64)) " are shown. Search for a part of the key." }
        }
        @if count == 0 { p.quiet { "There is nobody here, or nobody whom your token lets you see." } }
        @for (title, group) in groups.iter().filter(|(_, group)| !group.is_empty()) {
            section {
                h2 { (title) " " span.count { (group.len()) } }
                ul.residents { @for it in group { (card(it, &caller)) } }
            }
        }
        }
    };
    let mut response = frame::page("Residents", &caller, &body).into_response();
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

fn card(it: &Seen, caller: &Caller) -> Markup {
    let key = it.key.as_str();
    let state = &it.state;
    let waiting = it.waiting();
    let spent = &state.spent;
    html! {
        li.card {
            div.strip {
                (frame::status(it))
                h3 { a href={ "/a/" (key) "/" } { (outside(&it.name)) } }
                @if it.name != key { span.quiet { (key) } }
                @for tag in &state.roster.tags { span.tag { (tag) } }
                (frame::emergency(it, caller, "/", WhyField::LeftOut))
            }
            (frame::needs(it, caller, "/"))
            p.facts {
                (fill(state.counts.prompt_tokens, state.configuration.settings.limits.max_context_tokens()))
                span { (grouped(spent.prompt_tokens.saturating_add(spent.completion_tokens))) " tokens in its life" }
                @if waiting > 0 { span { (counted(waiting as u64, "message waits", "messages wait")) } }
                span { (counted(state.seq.0, "event", "events")) }
                @if let Some(game) = &it.game { span { (outside(game)) } }
            }
            @if let Some(archived) = &state.roster.archived {
                p.quiet { "Archived by " (outside(&archived.by.to_string())) ": " (outside(&archived.reason)) }
                @if caller.may(Right::Admin, &it.key).is_ok() {
                    form.inline method="post" action={ "/a/" (key) "/restore/" } { button { "Restore" } }
                }
            }
        }
    }
}

/// How full the context window was with a prompt. This number does not depend on what a life has used.
pub(super) fn fill(tokens: u32, window: u32) -> Markup {
    let level = WindowLevel::of(tokens, window);
    html! {
        span.fill data-level=(level.as_str()) {
            progress value=(tokens) max=(window.max(1)) aria-hidden="true" {}
            " context " (grouped(tokens)) " of " (grouped(window))
        }
    }
}

/// Who is to be created.
#[derive(Debug, Deserialize)]
pub(super) struct Newcomer {
    key: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    persona: String,
    #[serde(default)]
    tags: String,
}

/// Shows the form for a new resident.
pub(super) async fn new(caller: Caller) -> Result<Page, Problem> {
    caller.may_everywhere(Right::Admin)?;
    let body = html! {
        form.stack method="post" action="/new/" {
            label for="key" { "Key" span.quiet { " letters, digits, _, - and . ; it never changes" } }
            input #key name="key" required autofocus autocomplete="off" autocapitalize="none" pattern="[A-Za-z0-9_.\\-]+";
            label for="name" { "Name" span.quiet { " of its character; made from the key if left out" } }
            input #name name="name" autocomplete="off";
            label for="persona" { "Who it is" span.quiet { " in a few sentences; may be left out" } }
            textarea #persona name="persona" rows="6" {}
            label for="tags" { "Tags" span.quiet { " separated by spaces" } }
            input #tags name="tags" autocomplete="off";
            button.primary { "Create" }
        }
    };
    Ok(frame::page("New resident", &caller, &body))
}

/// Creates a resident, which lives from then on.
pub(super) async fn create(
    State(service): State<Shared>,
    caller: Caller,
    Fields(new): Fields<Newcomer>,
) -> Result<Response, Problem> {
    let key = new.key.trim().to_owned();
    let path = format!("/a/{key}/");
    let new = NewAssistant {
        key,
        name: given(&new.name),
        persona: given(&new.persona),
        tags: new.tags.split_whitespace().map(str::to_owned).collect(),
    };
    assistants::create(State(service), caller, JsonBody(new)).await?;
    Ok(go_to(&path))
}

/// Shows the form for a fork of a resident.
pub(super) async fn fork_form(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(when): Asked<When>,
) -> Result<Page, Problem> {
    caller.may_everywhere(Right::Admin)?;
    let seen = Box::pin(Seen::at(&service, &caller, &key, when)).await?;
    let at = seen.state.seq;
    let point = service.host.fork_point(&key, at).await?;
    let path = format!("/a/{key}/");
    let body = html! {
        @match point {
            Some(point) => {
                p {
                    "A fork is another resident, with a log of its own that begins with that of " (outside(&seen.name)) " up to "
                    a href={ (path) "?at=" (point) "#e" (point) } { "event " (grouped(point.0)) }
                    @if point != at { ", the last one up to " (grouped(at.0)) " after which no turn was under way" }
                    ". It remembers what was lived until then, and " (outside(&seen.name)) " does not notice."
                }
                p.quiet { "It has the same goals and promises, so it begins switched off: look at them, and then switch it on." }
                form.stack method="post" action={ (path) "fork/" } {
                    input type="hidden" name="at" value=(point);
                    label for="key" { "Key of the fork" span.quiet { " letters, digits, _, - and . ; it never changes" } }
                    input #key name="key" required autofocus autocomplete="off" autocapitalize="none" pattern="[A-Za-z0-9_.\\-]+";
                    label for="name" { "Name" span.quiet { " of its character, unlike all others; made from the key if left out" } }
                    input #name name="name" autocomplete="off";
                    button.primary { "Fork" }
                }
            }
            None => p { "Up to event " (grouped(at.0)) " there is no moment at which nothing was under way." },
        }
        p { a href={ (path) (seen.query()) } { "Back to " (outside(&seen.name)) } }
    };
    Ok(frame::page(
        &format!("A fork of {}", seen.name),
        &caller,
        &body,
    ))
}

/// A fork that is to be made.
#[derive(Debug, Deserialize)]
pub(super) struct NewFork {
    at: u64,
    key: String,
    #[serde(default)]
    name: String,
}

/// Makes a fork of a resident.
pub(super) async fn fork(
    State(service): State<Shared>,
    caller: Caller,
    Key(from): Key,
    Fields(new): Fields<NewFork>,
) -> Result<Response, Problem> {
    let key = new.key.trim().to_owned();
    let path = format!("/a/{key}/");
    let new = ForkRequest {
        at: Some(new.at),
        key,
        name: given(&new.name),
        tags: Vec::new(),
    };
    Box::pin(assistants::fork(
        State(service),
        caller,
        Key(from),
        JsonBody(new),
    ))
    .await?;
    Ok(go_to(&path))
}

/// Archives a resident until it is restored.
pub(super) async fn archive(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Fields(button): Fields<Button>,
) -> Result<Response, Problem> {
    update(service, caller, key, true, &button).await
}

/// Lets an archived resident live again.
pub(super) async fn restore(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Fields(button): Fields<Button>,
) -> Result<Response, Problem> {
    update(service, caller, key, false, &button).await
}

async fn update(
    service: Shared,
    caller: Caller,
    key: dormouse_contracts::AssistantId,
    archived: bool,
    button: &Button,
) -> Result<Response, Problem> {
    let patch = AssistantPatch {
        persona: None,
        tags: None,
        archived: Some(archived),
        reason: button.reason(),
    };
    let changed: Json<_> =
        assistants::update(State(service), caller, Key(key), JsonBody(patch)).await?;
    drop(changed);
    Ok(go_to("/"))
}
