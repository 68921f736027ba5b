//! What a resident wrote down, and its nights.

use axum::{extract::State, response::Response};
use dormouse_engine::Night;
use dormouse_journal::{JournalEntry, JournalQuery};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    Page,
    form::{Fields, given},
    frame, go_to,
    seen::{Seen, When},
    words::{attributed, counted, grouped, meter, moment, outside, passage, trust},
};
use crate::{
    api::journal::{self, EntryRequest},
    extract::{Asked, JsonBody, Key},
    guard::Caller,
    problem::Problem,
    service::Shared,
    tokens::Right,
};

/// How many entries are shown.
const MOST: usize = 60;

/// What is searched for.
#[derive(Debug, Deserialize)]
pub(super) struct Search {
    #[serde(default)]
    q: String,
    /// As of this event; now if absent.
    at: Option<u64>,
}

/// Shows the journal.
pub(super) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<Search>,
) -> Result<Page, Problem> {
    let when = When { at: asked.at };
    let seen = Box::pin(Seen::at(&service, &caller, &key, when)).await?;
    let (book, now) = (&seen.state.journal, seen.now(service.now()));
    let q = asked.q.trim();
    let query = JournalQuery {
        limit: MOST,
        ..JournalQuery::ranked(q.to_owned())
    };
    let found: Vec<(&JournalEntry, Option<String>)> = match q {
        "" => {
            let all: Vec<_> = query.within(book.journal(), now).collect();
            let newest = all.into_iter().rev().take(MOST);
            newest.map(|entry| (entry, None)).collect()
        }
        _ => {
            let found = book.search(&query, now);
            let found = found.iter();
            found
                .map(|it| (it.entry, Some(it.why.to_string())))
                .collect()
        }
    };
    let nights: Vec<_> = seen.state.sleep.nights().rev().collect();
    let body = html! {
        form.search role="search" method="get" action={ "/a/" (key) "/journal/" } {
            label.unseen for="q" { "Search its journal" }
            input #q type="search" name="q" value=(q) placeholder="Search its journal";
            @if let Some(past) = seen.past { input type="hidden" name="at" value=(past.seq); }
            button.primary { "Search" }
        }
        @if found.is_empty() { p.quiet { @if q.is_empty() { "It has written nothing down yet." } @else { "Nothing was found." } } }
        ul.records {
            @for (entry, why) in &found {
                li.card id={ "entry" (entry.id) } {
                    (passage(&entry.content))
                    p.facts {
                        span { "entry " (entry.id) }
                        span { (moment(entry.timestamp)) }
                        span { "importance " (meter(entry.importance.get().into(), 0.0, 10.0)) " " (entry.importance) }
                        span { (entry.source_type) ", from " (attributed(&entry.source_entity)) }
                        span { "trust " (trust(entry.source_trust)) }
                        @for tag in &entry.tags { span.tag { (outside(tag.as_str())) } }
                        @if let Some(record) = book.record(entry.id) { a href={ "/a/" (key) "/memory/" (record) "/" } { "Record " (record) } }
                        @if let Some(why) = why { span { "found by " (outside(why)) } }
                    }
                }
            }
        }
        @if !nights.is_empty() {
            h3 { "Nights" }
            ul.records { @for it in nights { (night(it)) } }
        }
        @if seen.may_be_changed(&caller, Right::Operate) {
            section.card {
                h3 { "Write an entry for it" }
                form.stack method="post" action={ "/a/" (key) "/journal/" } {
                    label for="content" { "What happened" span.quiet { " everybody may learn of it" } }
                    textarea #content name="content" rows="3" required {}
                    label for="tags" { "Tags" span.quiet { " separated by spaces; may be left out" } }
                    input #tags name="tags" autocomplete="off";
                    button.primary { "Write" }
                }
            }
        }
    };
    Ok(frame::about(&seen, &caller, "journal/", &body))
}

fn night(it: &Night) -> Markup {
    let made = &it.came_of_it;
    let counts = [
        (made.consolidated, "fact made", "facts made"),
        (made.linked, "link made", "links made"),
        (made.people, "person seen anew", "people seen anew"),
        (made.concluded, "conclusion", "conclusions"),
        (made.pruned, "entry let go", "entries let go"),
        (made.taken_back, "change taken back", "changes taken back"),
    ];
    let counts: Vec<_> = counts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .collect();
    html! {
        li.card {
            div.strip {
                h4 { "Night " (it.number) }
                span { (moment(it.began)) " to " @match &it.woke { Some((at, _)) => (moment(*at)), None => (moment(it.until)) } }
                @if it.woke.is_none() { span.tag { "under way" } }
            }
            p.facts {
                @if counts.is_empty() { span { "Nothing was changed" } }
                @for (count, one, many) in counts { span { (counted(count, one, many)) } }
                @if made.requests > 0 {
                    span { (counted(made.requests, "reply of a model", "replies of a model")) ", " (grouped(made.prompt_tokens)) " tokens in, " (grouped(made.completion_tokens)) " out" }
                }
                @if let Some(reason) = &it.reason { span { "why: " (outside(&reason.text)) } }
            }
        }
    }
}

/// An entry that is to be written.
#[derive(Debug, Deserialize)]
pub(super) struct NewEntry {
    content: String,
    #[serde(default)]
    tags: String,
}

/// Writes an entry.
pub(super) async fn write(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Fields(new): Fields<NewEntry>,
) -> Result<Response, Problem> {
    let request = EntryRequest {
        content: given(&new.content).unwrap_or_default(),
        source_type: None,
        from: None,
        importance: None,
        tags: new.tags.split_whitespace().map(str::to_owned).collect(),
        reason: Some("written on a page".to_owned()),
    };
    let path = format!("/a/{key}/journal/");
    drop(journal::write(State(service), caller, Key(key), JsonBody(request)).await?);
    Ok(go_to(&path))
}
