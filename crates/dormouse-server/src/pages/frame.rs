//! What every page has around it.

use axum::http::StatusCode;
use maud::{DOCTYPE, Markup, html};

use super::{
    Page,
    files::{ICON_PATH, SCRIPT_PATH, STYLE_PATH},
    seen::{NeedKind, Seen},
    words::{beginning, outside},
};
use crate::{guard::Caller, problem::Refused, tokens::Right};

/// The views of a resident, with their paths below it.
const VIEWS: [(&str, &str); 7] = [
    ("", "Life"),
    ("prompt/", "Prompt"),
    ("memory/", "Memory"),
    ("people/", "People"),
    ("goals/", "Goals"),
    ("journal/", "Journal"),
    ("settings/", "Settings"),
];

fn document(title: &str, caller: Option<&Caller>, body: &Markup) -> Page {
    Page(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Dormouse" }
                link rel="icon" type="image/svg+xml" href=(*ICON_PATH);
                link rel="stylesheet" href=(*STYLE_PATH);
                script src=(*SCRIPT_PATH) defer {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.brand href="/" { img src=(*ICON_PATH) alt="" width="28" height="28"; "Dormouse" }
                    @if let Some(caller) = caller {
                        nav aria-label="Service" {
                            a href="/" { "Residents" }
                            @if caller.may_everywhere(Right::Admin).is_ok() { a href="/new/" { "New" } }
                        }
                        form.who method="post" action="/sign-out/" {
                            span { "Signed in as " b { (outside(&caller.token.name)) } }
                            button.link { "Sign out" }
                        }
                    }
                }
                (body)
            }
        }
    })
}

/// A page of one column.
pub(super) fn page(title: &str, caller: &Caller, body: &Markup) -> Page {
    let body = html! { main #main { h1 { (title) } (body) } };
    document(title, Some(caller), &body)
}

/// A page for somebody who is not signed in.
pub(super) fn plain(title: &str, body: &Markup) -> Page {
    let body = html! { main #main.narrow { h1 { (title) } (body) } };
    document(title, None, &body)
}

/// A page that says why a request was refused.
pub(super) fn refusal(status: StatusCode, refused: &Refused) -> Page {
    plain(
        refused.title,
        &html! {
            p { (outside(&refused.detail)) }
            p { a href="/" { "Back to the residents" } }
            p.quiet { "HTTP status " (status.as_u16()) }
        },
    )
}

/// A page about a resident.
pub(super) fn about(seen: &Seen, caller: &Caller, view: &str, body: &Markup) -> Page {
    let title = VIEWS.iter().find(|(path, _)| *path == view);
    let title = title.map_or("", |(_, title)| title);
    let key = seen.key.as_str();
    let body = html! {
        div.resident {
            div.strip {
                (status(seen))
                h1 { a href={ "/a/" (key) "/" } { (outside(&seen.name)) } }
                @if seen.name != key { span.quiet { (key) } }
                (emergency(seen, caller, &format!("/a/{key}/{view}")))
            }
            nav.views aria-label=(format!("Views of {}", seen.name)) {
                @for (path, name) in VIEWS {
                    a href={ "/a/" (key) "/" (path) } aria-current=[(path == view).then_some("page")] { (name) }
                }
            }
        }
        main #main {
            h2.unseen { (title) }
            (needs(seen, caller, &format!("/a/{key}/{view}")))
            (body)
        }
    };
    document(&format!("{} · {title}", seen.name), Some(caller), &body)
}

/// What a resident is doing, as a coloured word.
pub(super) fn status(seen: &Seen) -> Markup {
    let (kind, text) = seen.doing();
    html! { span.status data-kind=(kind) { (text) } }
}

/// The button that stops a resident, or lets it go on.
pub(super) fn emergency(seen: &Seen, caller: &Caller, back: &str) -> Markup {
    let key = seen.key.as_str();
    let may = caller.may(Right::Operate, &seen.key).is_ok() && !seen.is_archived();
    html! {
        @if may && seen.is_stopped() {
            form.emergency method="post" action={ "/a/" (key) "/clear/" } {
                input type="hidden" name="back" value=(back);
                button.go aria-label={ "Clear the emergency stop of " (seen.name) } { "Let it go on" }
            }
        } @else if may {
            form.emergency method="post" action={ "/a/" (key) "/stop/" } {
                input type="hidden" name="back" value=(back);
                button.stop aria-label={ "Stop " (seen.name) " now" } { "Stop" }
            }
        }
    }
}

/// What a resident needs somebody for, with what can be done about it.
pub(super) fn needs(seen: &Seen, caller: &Caller, back: &str) -> Markup {
    let key = seen.key.as_str();
    let may = caller.may(Right::Operate, &seen.key).is_ok();
    html! {
        @if !seen.needs.is_empty() {
            ul.needs aria-label="Needs somebody" {
                @for need in &seen.needs {
                    li data-kind=(need.kind.word()) {
                        b { (need.kind.word()) } " "
                        (beginning(&need.text, 400))
                        @match need.kind {
                            NeedKind::Approval(seq) if may => {
                                form.inline method="post" action={ "/a/" (key) "/approvals/" (seq) "/" } {
                                    input type="hidden" name="back" value=(back);
                                    button name="answer" value="allow" { "Allow once" }
                                    button name="answer" value="deny" { "Refuse" }
                                }
                            }
                            NeedKind::Blocked(goal) if may => {
                                form.inline method="post" action={ "/a/" (key) "/goals/" (goal) "/" } {
                                    button name="status" value="open" { "Open again" }
                                    button name="status" value="dropped" { "Drop" }
                                }
                            }
                            NeedKind::Off if may => {
                                form.inline method="post" action={ "/a/" (key) "/on/" } {
                                    input type="hidden" name="back" value=(back);
                                    button { "Switch on" }
                                }
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
    }
}
