//! What a resident remembers: searching it, why a record is there, correcting it, and taking changes back.

use axum::{extract::State, response::Response};
use dormouse_contracts::{AssistantId, Seq};
use dormouse_host::Resident;
use dormouse_memory::{
    MemoryChange, MemoryError, Note, RecallRequest, Record, RecordId, RecordStatus, Role,
};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    Page,
    form::{Button, Fields, given},
    frame, go_to,
    seen::Seen,
    words::{attributed, counted, grouped, meter, moment, outside, passage, trust},
};
use crate::{
    api::{
        Reason,
        memory::{self, QUERY, UndoEvent},
    },
    extract::{Asked, ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// How many records are shown.
const MOST: usize = 40;

/// What is searched for.
#[derive(Debug, Deserialize)]
pub(super) struct Search {
    /// The words; without them the newest records are shown.
    #[serde(default)]
    q: String,
}

/// Searches the memory, or shows the newest records.
pub(super) async fn search(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<Search>,
) -> Result<Page, Problem> {
    let seen = Box::pin(Seen::of(&service, &caller, &key)).await?;
    let resident = Box::pin(service.remembering(&key)).await?;
    let memory = resident.memory();
    let stats = memory.stats().await?;
    let q = asked.q.trim();
    if q.len() > QUERY {
        let why = format!("q has {} bytes; expected at most {QUERY}", q.len());
        return Err(ProblemCode::InvalidRequest.because(why));
    }
    let found: Vec<(Record, Option<(Role, f32)>)> = if q.is_empty() {
        let newest = newest(&resident, seen.state.seq).await?;
        newest.into_iter().map(|record| (record, None)).collect()
    } else {
        let recalled = memory.recall(RecallRequest::new(q).limit(MOST)).await?;
        let items = recalled.items.into_iter();
        items
            .map(|it| (it.record, Some((it.role, it.score))))
            .collect()
    };
    let best = found
        .iter()
        .filter_map(|(_, match_of)| match_of.map(|(_, score)| score));
    let best = best.fold(f32::EPSILON, f32::max);
    let body = html! {
        form.search role="search" method="get" action={ "/a/" (key) "/memory/" } {
            label.unseen for="q" { "Search its memory" }
            input #q type="search" name="q" value=(q) placeholder="What does it remember of …" autofocus[q.is_empty()];
            button.primary { "Search" }
        }
        p.quiet {
            (counted(stats.in_use, "record can be recalled", "records can be recalled")) ", "
            (grouped(stats.records)) " in all. "
            @if q.is_empty() { "The newest are:" } @else { (counted(found.len() as u64, "record was found", "records were found")) ", the best first:" }
        }
        ul.records {
            @for (record, match_of) in &found {
                li.card {
                    a.body href={ "/a/" (key) "/memory/" (record.id) "/" } { (passage(&record.text)) }
                    p.facts {
                        (brief(record))
                        @if let Some((role, score)) = match_of {
                            span {
                                @match role { Role::Match => "match ", Role::Neighbour => "next to a match ", Role::Linked => "linked with a match " }
                                @if *score > 0.0 { (meter((*score / best).into(), 0.0, 1.0)) " " (format!("{score:.2}")) }
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(frame::about(&seen, &caller, "memory/", &body))
}

/// The newest records, newest first. Records are numbered by the events that they were made from.
async fn newest(resident: &Resident, end: Seq) -> Result<Vec<Record>, MemoryError> {
    let mut span = 256;
    loop {
        let from = end.0.saturating_sub(span);
        let mut after = (from > 0).then(|| RecordId::event(Seq(from)));
        let mut records = Vec::new();
        loop {
            let page = resident.memory().records(after, 256).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            records.extend(page.into_iter().filter(Record::is_in_use));
        }
        if from == 0 || records.len() >= MOST {
            let newest = records.into_iter().rev().take(MOST);
            return Ok(newest.collect());
        }
        span *= 4;
    }
}

/// What a record is, in a few words.
fn brief(record: &Record) -> Markup {
    html! {
        span { (record.kind) }
        @if record.status != RecordStatus::Live { span.tag { (status(record.status)) } }
        span { "from " (attributed(&record.speaker)) }
        span { (moment(record.at)) }
        span { "trust " (trust(record.trust)) }
        span { "known to " (outside(&record.known_to().to_string())) }
    }
}

fn status(status: RecordStatus) -> &'static str {
    match status {
        RecordStatus::Live => "live",
        RecordStatus::Superseded { .. } => "no longer true",
        RecordStatus::Folded { .. } => "part of another",
        RecordStatus::Withdrawn => "withdrawn",
    }
}

/// Shows a record: where it comes from, and what happened to it.
pub(super) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<RecordId>,
) -> Result<Page, Problem> {
    let seen = Box::pin(Seen::of(&service, &caller, &key)).await?;
    let resident = Box::pin(service.remembering(&key)).await?;
    let why = resident.memory().why(id).await?;
    let unknown = || ProblemCode::UnknownItem.because(format!("there is no record {id}"));
    let why = why.ok_or_else(unknown)?;
    let record = &why.record;
    let path = format!("/a/{key}/memory/{id}");
    let may = caller.may(Right::Operate, &key).is_ok();
    let body = html! {
        article.card {
            h3 { "Record " (id) }
            (passage(&record.text))
            p.facts { (brief(record)) }
            dl.numbers {
                div { dt { "From event" } dd { a href={ "/a/" (key) "/event/" (id.seq()) "/" } { "#" (id.seq()) } } }
                div { dt { "True since" } dd { (moment(record.valid_from)) } }
                @if let Some(until) = record.valid_until { div { dt { "True until" } dd { (moment(until)) } } }
                @match record.status {
                    RecordStatus::Superseded { by: Some(by) } => div { dt { "Replaced by" } dd { (link(&key, by)) } },
                    RecordStatus::Folded { into } => div { dt { "Part of" } dd { (link(&key, into)) } },
                    _ => {}
                }
                @for tag in &record.tags { div { dt { "Tag" } dd { (outside(tag)) } } }
            }
        }
        @if may && record.status == RecordStatus::Live {
            section.card {
                h3 { "Correct it" }
                p.quiet { "The new text replaces this record from now on. The old one stays in the log, and this can be taken back." }
                form.stack method="post" action={ (path) "/correct/" } {
                    label for="text" { "What is true instead" }
                    textarea #text name="text" rows="3" required { (record.text) }
                    label for="reason" { "Why" span.quiet { " for the log; may be left out" } }
                    input #reason name="reason" autocomplete="off";
                    button.primary { "Correct" }
                }
                form.inline method="post" action={ (path) "/withdraw/" } { button { "Take it out of recall" } }
            }
        }
        h3 { "Why it is there" }
        @if why.sources.is_empty() { p { "It was made of nothing but its event." } }
        ul.records { @for source in &why.sources { li.card { a.body href={ "/a/" (key) "/memory/" (source.id) "/" } { (passage(&source.text)) } p.facts { (brief(source)) } } } }
        h3 { "What happened to it" }
        ol.plain {
            @for change in &why.changes {
                li {
                    (moment(change.at)) " " b { (change.change.name()) }
                    @if let Some(author) = &change.author { " by " (outside(&author.to_string())) }
                    @if !change.reason.is_empty() { ": " (outside(&change.reason)) }
                    @if let Some(event) = change.event {
                        " " a href={ "/a/" (key) "/event/" (event) "/" } { "#" (event) }
                        @if may && change.author.is_some() {
                            form.inline method="post" action={ "/a/" (key) "/undo/" (event) "/" } {
                                input type="hidden" name="back" value={ (path) "/" };
                                button { "Take back" }
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(frame::about(&seen, &caller, "memory/", &body))
}

fn link(key: &AssistantId, id: RecordId) -> Markup {
    html! { a href={ "/a/" (key) "/memory/" (id) "/" } { (id) } }
}

/// A correction.
#[derive(Debug, Deserialize)]
pub(super) struct Correction {
    text: String,
    #[serde(default)]
    reason: String,
}

/// Replaces a record with what somebody wrote: a new record with the kind and the audience of the old one, and an event that says
/// that the old one is no longer true.
pub(super) async fn correct(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<RecordId>,
    Fields(correction): Fields<Correction>,
) -> Result<Response, Problem> {
    caller.may(Right::Operate, &key)?;
    let mut memory = Box::pin(service.memory(&key)).await?;
    let record = memory.memory().record(id).await?;
    let unknown = || ProblemCode::UnknownItem.because(format!("there is no record {id}"));
    let record = record.ok_or_else(unknown)?;
    let text = given(&correction.text).unwrap_or_default();
    let reason = given(&correction.reason).unwrap_or_else(|| "corrected on a page".to_owned());
    let note = Note::new(text)
        .kind(record.kind)
        .known_to(record.known_to());
    let author = caller.author();
    let added = MemoryChange::Added { notes: vec![note] };
    let (_, added) = Box::pin(memory.change(added, author.clone(), &reason)).await?;
    let Some(by) = added.first().map(|added| added.id()) else {
        return Err(ProblemCode::Conflict.because("nothing was added"));
    };
    let now = Some(service.now());
    Box::pin(memory.supersede(id, (Some(by), now), author, &reason)).await?;
    Ok(go_to(&format!("/a/{key}/memory/{by}/")))
}

/// Takes a record out of recall.
pub(super) async fn withdraw(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(record): ItemId<RecordId>,
    Fields(button): Fields<Button>,
) -> Result<Response, Problem> {
    let back = format!("/a/{key}/memory/{record}/");
    let reason = button
        .reason()
        .or_else(|| Some("withdrawn on a page".to_owned()));
    let (service, why) = (State(service), JsonBody(Reason { reason }));
    let withdrawn = memory::withdraw(service, caller, Key(key), ItemId(record), why);
    drop(Box::pin(withdrawn).await?);
    Ok(go_to(&back))
}

/// Takes back what an event did to the memory; what was taken back already is made again.
pub(super) async fn undo(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(event): ItemId<u64>,
    Fields(button): Fields<Button>,
) -> Result<Response, Problem> {
    let back = button.back_or(&format!("/a/{key}/event/{event}/"));
    let reason = button
        .reason()
        .or_else(|| Some("taken back on a page".to_owned()));
    let asked = JsonBody(UndoEvent { event, reason });
    drop(Box::pin(memory::undo(State(service), caller, Key(key), asked)).await?);
    Ok(go_to(&back))
}
