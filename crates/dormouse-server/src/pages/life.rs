//! One life: what it heard, thought, did, remembered and slept, in the order of its log; and talking to it.

use axum::{extract::State, response::Response};
use dormouse_contracts::{BoxFuture, ReadEvents, Seq};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    Page,
    form::{Button, Fields, given},
    frame, go_to,
    residents::fill,
    seen::{Seen, When, left},
    story::{self, Lane},
    words::{counted, grouped, moment, outside},
};
use crate::{
    api::{
        approvals::{self, AnswerRequest},
        assistants,
        emergency::{self, TriggerStop},
        interact::{self, Message},
        sleep::{self, SleepRequest},
    },
    extract::{Asked, ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::{Service, Shared},
    tokens::Right,
};

/// How many events a page has.
const PAGE: u64 = 80;

/// How many events before a page are read, to know what the first events of the page belong to.
const CONTEXT: u64 = 40;

/// How many events are added to a page at once, at most.
const GROWTH: u64 = 500;

/// Up to which event a page is complete.
#[derive(Debug, Deserialize)]
pub(super) struct After {
    after: u64,
}

/// Shows a life.
pub(super) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(when): Asked<When>,
) -> Result<Page, Problem> {
    let seen = Box::pin(Seen::at(&service, &caller, &key, when)).await?;
    let (end, last) = (seen.end.0, seen.state.seq.0.max(1));
    let first = last.saturating_sub(PAGE - 1).max(1);
    let rows = rows_of(&service, &seen, first, last).await?;
    let is_end = seen.past.is_none();
    let follows = is_end && !seen.is_archived;
    let path = format!("/a/{key}/");
    let body = html! {
        (facts(&seen, &caller))
        (legend())
        nav.pages aria-label="Parts of the log" {
            @if first > 1 {
                a href={ (path) "?at=" (PAGE) } { "First" }
                a href={ (path) "?at=" (first - 1) } rel="prev" { "Earlier" }
            }
            span { "Events " (grouped(first)) " to " b #shown { (grouped(last)) } @if !is_end { " of " (grouped(end)) } }
            @if !is_end {
                a href={ (path) "?at=" ((last + PAGE).min(end)) } rel="next" { "Later" }
                a href=(path) { "Now" }
            }
            a href={ "/api/ai/assistants/" (key) "/audit/archive/" } download { "Export its whole life" }
        }
        ol #log.log role="log" aria-label="Its life" aria-live=(if follows { "polite" } else { "off" })
            data-key=[follows.then_some(key.as_str())] data-last=(last) { (rows) }
        @if follows && seen.game.is_none() && caller.may(Right::Talk, &key).is_ok() { (composer(&seen)) }
    };
    Ok(frame::about(&seen, &caller, "", &body))
}

/// The rows after an event, for a page that adds new events by itself.
pub(super) async fn rows(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<After>,
) -> Result<Page, Problem> {
    let seen = Box::pin(Seen::of(&service, &caller, &key)).await?;
    let end = seen.state.seq.0;
    let last = end.min(asked.after.saturating_add(GROWTH));
    let rows = rows_of(&service, &seen, asked.after.saturating_add(1), last).await?;
    Ok(Page(html! {
        (frame::status(&seen))
        (facts(&seen, &caller))
        ol data-last=(last) { (rows) }
    }))
}

async fn rows_of(service: &Service, seen: &Seen, first: u64, last: u64) -> Result<Markup, Problem> {
    let from = first.saturating_sub(CONTEXT).max(1);
    let count = usize::try_from((last + 1).saturating_sub(from)).unwrap_or(usize::MAX);
    let log = service.host.log();
    let events = match count {
        0 => Vec::new(),
        _ => log.read(&seen.key, Seq(from - 1), count).await?,
    };
    let price = seen.state.configuration.settings.budgets.price;
    Ok(story::rows(&seen.key, &events, Seq(first), price))
}

/// The numbers of a resident, with what can be done about each. The page shows two separate numbers: how full the
/// context is, and how many tokens a life has used.
fn facts(seen: &Seen, caller: &Caller) -> Markup {
    let state = &seen.state;
    let spent = &state.spent;
    let window = state.configuration.settings.limits.max_context_tokens();
    let waiting = seen.waiting();
    html! {
        dl #facts.numbers {
            div { dt { "Last prompt" } dd { (fill(state.counts.prompt_tokens, window)) } }
            div {
                dt { "Its whole life" }
                dd {
                    (grouped(spent.prompt_tokens)) " tokens in, " (grouped(spent.completion_tokens)) " out, "
                    (counted(spent.replies, "reply", "replies"))
                    @if spent.failures > 0 { ", " (counted(spent.failures, "failed call", "failed calls")) }
                }
            }
            div { dt { "Ticks" } dd { (grouped(state.counts.ticks)) } }
            @if let Some(game) = &seen.game { div { dt { "Game" } dd { (outside(game)) } } }
            @if state.admission.overheard > 0 || state.admission.dropped > 0 { div { dt { "Refused" } dd { (refused(seen)) } } }
            @if waiting > 0 { div { dt { "Waiting" } dd { (counted(waiting as u64, "message", "messages")) } } }
            @for budget in seen.live.iter().flat_map(|live| &live.budgets) { div { dt { "Budget" } dd { (left(budget)) } } }
            @if seen.may_be_changed(caller, Right::Operate) && !seen.is_archived {
                div { dt { "Steer" } dd { (steer(seen, caller)) } }
            }
        }
    }
}

/// The messages that it did not answer, because somebody sent too many.
fn refused(seen: &Seen) -> Markup {
    let admission = &seen.state.admission;
    let dropped = seen
        .live
        .as_ref()
        .map_or(admission.dropped, |live| live.dropped);
    html! {
        (counted(admission.overheard, "message", "messages")) " overheard instead of answered, "
        (counted(dropped, "line", "lines")) " only counted"
        @if let Some(last) = &admission.last {
            "; last of " (outside(last.sender.as_ref().map_or("unnamed senders", |id| id.as_str()))) " at " (moment(last.at))
        }
    }
}

/// Everything that can be done with a resident as a whole, except stopping it.
fn steer(seen: &Seen, caller: &Caller) -> Markup {
    let key = seen.key.as_str();
    html! {
        div.buttons {
            @if seen.is_asleep() {
                form method="post" action={ "/a/" (key) "/wake/" } { button { "Wake" } }
            } @else {
                form method="post" action={ "/a/" (key) "/sleep/" } { button { "Let it sleep" } }
            }
            @if seen.is_on() {
                form method="post" action={ "/a/" (key) "/off/" } { button { "Switch off" } }
            }
            @if caller.may(Right::Admin, &seen.key).is_ok() {
                form method="post" action={ "/a/" (key) "/archive/" } data-ask={ "Archive " (seen.name) "? It is put away until somebody restores it." } {
                    button { "Archive" }
                }
            }
        }
    }
}

fn legend() -> Markup {
    html! {
        fieldset.legend {
            legend.unseen { "Lanes" }
            @for lane in Lane::ALL {
                label data-lane=(lane.word()) {
                    input type="checkbox" checked data-lane=(lane.word());
                    span { (lane.title()) }
                }
            }
        }
    }
}

fn composer(seen: &Seen) -> Markup {
    html! {
        form #say.composer method="post" action={ "/a/" (seen.key) "/say/" } {
            label.unseen for="words" { "Say something to " (seen.name) }
            textarea #words name="words" rows="1" required maxlength="65536"
                placeholder={ "Say something to " (seen.name) } {}
            button.primary { "Say" }
        }
        @if seen.is_stopped || seen.is_asleep() || !seen.is_on() {
            p.quiet { "It answers when it goes on. What you say is kept." }
        } @else if let Some(since) = seen.live.as_ref().and_then(|live| live.waiting_since) {
            p.quiet { "A message waits since " (moment(since)) "." }
        }
    }
}

/// What somebody says.
#[derive(Debug, Deserialize)]
pub(super) struct Said {
    words: String,
}

/// Says something to a resident as the API does, without waiting. The answer is shown as an event of the log.
pub(super) async fn say(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Fields(said): Fields<Said>,
) -> Result<Response, Problem> {
    let message = Message {
        words: given(&said.words).unwrap_or_default(),
        wait_seconds: Some(0),
        key: None,
    };
    let path = format!("/a/{key}/#say");
    Box::pin(interact::speak(
        State(service),
        caller,
        Key(key),
        JsonBody(message),
    ))
    .await?;
    Ok(go_to(&path))
}

/// Does what a button asks for, and shows the page from which it was sent.
fn then_back<'a, T>(
    back: String,
    work: impl Future<Output = Result<T, Problem>> + Send + 'a,
) -> BoxFuture<'a, Result<Response, Problem>> {
    Box::pin(async move {
        drop(work.await?);
        Ok(go_to(&back))
    })
}

/// Stops a resident.
pub(super) async fn stop(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Fields(button): Fields<Button>,
) -> Result<Response, Problem> {
    let back = button.back_or(&format!("/a/{key}/"));
    let reason = button.reason;
    let asked = TriggerStop { reason };
    then_back(
        back,
        emergency::trigger(State(service), caller, Key(key), JsonBody(asked)),
    )
    .await
}

/// Lets a stopped resident go on.
pub(super) async fn clear(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Fields(button): Fields<Button>,
) -> Result<Response, Problem> {
    let back = button.back_or(&format!("/a/{key}/"));
    then_back(back, emergency::clear(State(service), caller, Key(key))).await
}

/// Switches a resident on.
pub(super) async fn switch_on(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Fields(button): Fields<Button>,
) -> Result<Response, Problem> {
    let back = button.back_or(&format!("/a/{key}/"));
    then_back(back, assistants::start(State(service), caller, Key(key))).await
}

/// Switches a resident off.
pub(super) async fn switch_off(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Fields(button): Fields<Button>,
) -> Result<Response, Problem> {
    let back = button.back_or(&format!("/a/{key}/"));
    then_back(back, assistants::stop(State(service), caller, Key(key))).await
}

/// Lets a resident sleep until its schedule wakes it.
pub(super) async fn fall_asleep(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Fields(button): Fields<Button>,
) -> Result<Response, Problem> {
    let back = button.back_or(&format!("/a/{key}/"));
    let asked = SleepRequest {
        until: None,
        reason: button.reason(),
    };
    then_back(
        back,
        sleep::fall_asleep(State(service), caller, Key(key), JsonBody(asked)),
    )
    .await
}

/// Wakes a resident.
pub(super) async fn wake(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Fields(button): Fields<Button>,
) -> Result<Response, Problem> {
    let back = button.back_or(&format!("/a/{key}/"));
    then_back(back, sleep::wake(State(service), caller, Key(key))).await
}

/// What somebody answers to an act that waits.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    answer: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    back: String,
}

/// Confirms or refuses an act.
pub(super) async fn answer_approval(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(number): ItemId<u64>,
    Fields(given): Fields<Answer>,
) -> Result<Response, Problem> {
    caller.may(Right::Operate, &key)?;
    let allow = match given.answer.as_str() {
        "allow" => true,
        "deny" => false,
        other => {
            let why = format!("answer is {other:?}; expected \"allow\" or \"deny\"");
            return Err(ProblemCode::InvalidValue.because(why));
        }
    };
    let button = Button {
        reason: given.reason,
        back: given.back,
    };
    let back = button.back_or(&format!("/a/{key}/"));
    let asked = AnswerRequest {
        allow,
        reason: button.reason(),
    };
    let answered = approvals::answer(
        State(service),
        caller,
        Key(key),
        ItemId(number),
        JsonBody(asked),
    );
    then_back(back, answered).await
}
