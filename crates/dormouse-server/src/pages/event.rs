//! One event of the log, as it is.

use axum::extract::State;
use dormouse_contracts::{ReadEvents, Seq};
use dormouse_engine::Event;
use maud::html;

use super::{
    Page, frame,
    seen::Seen,
    story,
    words::{grouped, moment_in_zone, passage},
};
use crate::{
    extract::{ItemId, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// Shows an event.
pub(super) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(number): ItemId<u64>,
) -> Result<Page, Problem> {
    let seen = Box::pin(Seen::of(&service, &caller, &key)).await?;
    let end = seen.state.seq.0;
    let unknown = || {
        let why = format!("there is no event {number}; the log ends at event {end}");
        ProblemCode::UnknownItem.because(why)
    };
    let before = number.checked_sub(1).ok_or_else(unknown)?;
    let read = service.host.log().read(&key, Seq(before), 1).await?;
    let stored = read.first().filter(|it| it.seq == Seq(number));
    let stored = stored.ok_or_else(unknown)?;
    let text = match serde_json::from_slice::<serde_json::Value>(&stored.payload) {
        Ok(data) => serde_json::to_string_pretty(&data).unwrap_or_default(),
        Err(_) => String::from_utf8_lossy(&stored.payload).into_owned(),
    };
    let can_be_undone = matches!(
        Event::decode(stored),
        Ok(Event::Remembered(_) | Event::MemoryChanged(_) | Event::EntityChanged(_))
    );
    let price = seen.state.configuration.settings.budgets.price;
    let path = format!("/a/{key}");
    let body = html! {
        nav.pages aria-label="Events" {
            @if number > 1 { a href={ (path) "/event/" (number - 1) "/" } rel="prev" { "Event " (grouped(number - 1)) } }
            b { "Event " (grouped(number)) }
            @if number < end { a href={ (path) "/event/" (number + 1) "/" } rel="next" { "Event " (grouped(number + 1)) } }
            a href={ (path) "/?at=" (number) "#e" (number) } { "In its life" }
            a href={ (path) "/prompt/?at=" (number) } { "Prompt behind it" }
        }
        ol.log { (story::rows(&key, &read, Seq(number), price)) }
        @if can_be_undone && caller.may(Right::Operate, &key).is_ok() {
            form.inline method="post" action={ (path) "/undo/" (number) "/" } { button { "Take back what it did" } }
        }
        h3 { "As it is in the log" }
        dl.numbers {
            div { dt { "Kind" } dd { code { (stored.kind) } } }
            div { dt { "Schema" } dd { (stored.schema) } }
            div { dt { "At" } dd { (moment_in_zone(stored.at)) } }
        }
        div.code tabindex="0" role="region" aria-label="Its data" { (passage(&text)) }
    };
    Ok(frame::about(&seen, &caller, "", &body))
}
