//! The prompt at an event, part by part: what a model was sent, or would be sent next.

use axum::extract::State;
use dormouse_contracts::{ReadEvents, Seq};
use dormouse_engine::{CONTEXTS, ContextType, PartRole, PreviewOf};
use maud::html;
use serde::Deserialize;

use super::{
    Page, frame,
    residents::fill,
    seen::{Seen, When},
    words::{clock, counted, grouped, outside, passage},
};
use crate::{
    extract::{Asked, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
};

/// How many events are searched for the latest replies.
const LATEST: u64 = 400;

/// How many replies are offered.
const REPLIES: usize = 12;

/// Which prompt.
#[derive(Debug, Deserialize)]
pub(super) struct Which {
    /// The prompt of this reply, or the next one after this event; at the end of the log if absent.
    at: Option<u64>,
    /// The kind of tick for which the prompt is made.
    context: Option<String>,
}

/// Shows a prompt.
pub(super) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(which): Asked<Which>,
) -> Result<Page, Problem> {
    let when = When { at: which.at };
    let seen = Box::pin(Seen::at(&service, &caller, &key, when)).await?;
    let end = seen.end.0;
    let asked = which.context.as_deref().filter(|name| !name.is_empty());
    let context = asked
        .map(|name| {
            let unknown =
                || ProblemCode::InvalidRequest.because(format!("{name:?} is not a kind of tick"));
            ContextType::of_name(name).ok_or_else(unknown)
        })
        .transpose()?;
    let log = service.host.log();
    let host = &service.host;
    let preview = Box::pin(host.preview(&key, which.at.map(Seq), context)).await?;
    let around = which.at.unwrap_or(end).saturating_add(LATEST / 2).min(end);
    let from = around.saturating_sub(LATEST);
    let read = log
        .read(&key, Seq(from), usize::try_from(around - from).unwrap_or(0))
        .await;
    let replies: Vec<_> = read?
        .into_iter()
        .filter(|stored| stored.kind == "replied")
        .collect();
    let spent = &seen.state.spent;
    let (path, is_reply) = (
        format!("/a/{key}/prompt/"),
        preview.of == PreviewOf::Call && which.at.is_some(),
    );
    let most = preview
        .parts
        .iter()
        .map(|part| part.tokens)
        .max()
        .unwrap_or(1)
        .max(1);
    let body = html! {
        form.bar method="get" action=(path) {
            @if let Some(at) = which.at { input type="hidden" name="at" value=(at); }
            label for="context" { "As" }
            select #context name="context" {
                option value="" { "the tick that it was" }
                @for row in &CONTEXTS { option value=(row.name) selected[asked == Some(row.name)] { (row.name) } }
            }
            button { "Show" }
        }
        @if !replies.is_empty() {
            nav.pages aria-label="Replies around it" {
                span { "Replies:" }
                @for stored in replies.iter().rev().take(REPLIES).rev() {
                    a href={ (path) "?at=" (stored.seq) } aria-current=[(which.at == Some(stored.seq.0)).then_some("page")] {
                        "#" (stored.seq) " " (clock(stored.at))
                    }
                }
            }
        }
        h3 {
            @match preview.of {
                PreviewOf::Call if is_reply => { "The prompt that reply #" (which.at.unwrap_or_default()) " answered" }
                PreviewOf::Call => { "The prompt of the call under way" }
                PreviewOf::NextTick => { "The first prompt of the next tick, before the memory is searched" }
                PreviewOf::Imagined => { "A prompt as it would be if something called for a turn now" }
            }
        }
        dl.numbers {
            div { dt { "This prompt" } dd { (fill(preview.tokens, preview.window)) } }
            div {
                dt { "Its whole life until now" }
                dd { (grouped(spent.prompt_tokens)) " tokens in, " (grouped(spent.completion_tokens)) " out" }
            }
            div { dt { "Kind of tick" } dd { (preview.context.row().name) } }
            div { dt { "Log up to" } dd { a href={ "/a/" (key) "/event/" (preview.seq) "/" } { "#" (preview.seq) } } }
            div { dt { "Hash" } dd { code { (preview.hash) } } }
        }
        @for finding in &preview.findings { p.warning { "Check: " (outside(finding)) } }
        ol.parts {
            @for part in &preview.parts {
                li.card {
                    details open[part.tokens <= 400] {
                        summary {
                            span.role { @match part.role { PartRole::System => "system", PartRole::User => "world", PartRole::Turns => "turns" } }
                            " " b { (part.key) } " "
                            span.quiet { (counted(part.tokens, "token", "tokens")) @if part.is_static { ", the same in each prompt" } }
                            progress value=(part.tokens) max=(most) aria-hidden="true" {}
                        }
                        p.quiet { (outside(&part.why)) }
                        div.code { (passage(&part.text)) }
                    }
                }
            }
        }
        @if !preview.left_out.is_empty() {
            h3 { "Left out or withheld" }
            ul.plain { @for it in &preview.left_out { li { b { (it.part) } ": " (outside(&it.why)) } } }
        }
        h3 { "Tools that it offers" }
        p { @for tool in &preview.tools { code { (tool) } " " } }
    };
    let kept = asked.map(|name| ("context", name));
    Ok(frame::about_with(
        &seen,
        &caller,
        ("prompt/", kept.as_slice()),
        &body,
    ))
}
