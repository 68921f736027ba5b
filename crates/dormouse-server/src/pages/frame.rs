//! What every page has around it.

use axum::http::StatusCode;
use maud::{DOCTYPE, Markup, html};

use super::{
    Page,
    files::{ICON_PATH, SCRIPT_PATH, STYLE_PATH},
    seen::{NeedKind, Seen},
    words::{beginning, grouped, moment_in_zone, outside},
};
use crate::{guard::Caller, problem::Refused, tokens::Right};

/// A view of a resident.
struct View {
    /// Its path below that of the resident.
    path: &'static str,
    title: &'static str,
    /// Whether it can show a moment of the past.
    has_past: bool,
}

const fn view(path: &'static str, title: &'static str, has_past: bool) -> View {
    View {
        path,
        title,
        has_past,
    }
}

/// The views of a resident.
const VIEWS: [View; 9] = [
    view("", "Life", true),
    view("prompt/", "Prompt", true),
    view("workbench/", "Workbench", true),
    view("memory/", "Memory", false),
    view("people/", "People", false),
    view("goals/", "Goals", true),
    view("journal/", "Journal", true),
    view("charts/", "Charts", true),
    view("settings/", "Settings", true),
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
    about_with(seen, caller, (view, &[]), body)
}

/// The same for a view with fields of a query, which stay when another moment is chosen.
pub(super) fn about_with(
    seen: &Seen,
    caller: &Caller,
    (view, fields): (&str, &[(&str, &str)]),
    body: &Markup,
) -> Page {
    let shown = VIEWS.iter().find(|it| it.path == view);
    let title = shown.map_or("", |it| it.title);
    let has_past = shown.is_some_and(|it| it.has_past);
    let key = seen.key.as_str();
    let back = format!("/a/{key}/{view}{}", seen.query());
    let body = html! {
        div.resident {
            div.strip {
                (status(seen))
                h1 { a href={ "/a/" (key) "/" } { (outside(&seen.name)) } }
                @if seen.name != key { span.quiet { (key) } }
                (emergency(seen, caller, &back, WhyField::Shown))
            }
            nav.views aria-label=(format!("Views of {}", seen.name)) {
                @for it in &VIEWS {
                    @let query = if it.has_past { seen.query() } else { String::new() };
                    a href={ "/a/" (key) "/" (it.path) (query) } aria-current=[(it.path == view).then_some("page")] { (it.title) }
                }
            }
        }
        main #main {
            h2.unseen { (title) }
            (needs(seen, caller, &back))
            @if has_past { (time(seen, caller, view, fields)) }
            (body)
        }
    };
    document(&format!("{} · {title}", seen.name), Some(caller), &body)
}

/// The slider through the whole log. It carries nothing out: it shows the same view at another moment.
fn time(seen: &Seen, caller: &Caller, view: &str, fields: &[(&str, &str)]) -> Markup {
    let key = seen.key.as_str();
    let path = format!("/a/{key}/{view}");
    let (end, at) = (seen.end, seen.past.map_or(seen.end, |it| it.seq));
    let kept: String = fields
        .iter()
        .map(|(name, value)| format!("&{name}={value}"))
        .collect();
    html! {
        form.time method="get" action=(path) data-past[seen.past.is_some()] {
            label for="at" { "As of event " output { (grouped(at.0)) } }
            input #at type="range" name="at" min="1" max=(end) value=(at) autofocus[seen.past.is_some()];
            @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
            button { "Show" }
            @if let Some(past) = seen.past {
                span.pages {
                    span { (moment_in_zone(past.at)) }
                    @if at.0 > 1 { a href={ (path) "?at=" (at.0 - 1) (kept) } rel="prev" { "Before" } }
                    a href={ (path) "?at=" (at.next()) (kept) } rel="next" { "After" }
                    a href={ (path) "?" (kept.trim_start_matches('&')) } { "Now" }
                }
            }
            @if caller.may_everywhere(Right::Admin).is_ok() {
                a.button href={ "/a/" (key) "/fork/?at=" (at) } { "Fork here" }
            }
        }
    }
}

/// What a resident is doing, as a coloured word.
pub(super) fn status(seen: &Seen) -> Markup {
    let (kind, text) = &seen.doing;
    html! { span.status data-kind=(kind) { (text) } }
}

/// Whether there is room to say why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhyField {
    Shown,
    LeftOut,
}

/// The button that stops a resident, or lets it go on.
pub(super) fn emergency(seen: &Seen, caller: &Caller, back: &str, why: WhyField) -> Markup {
    let key = seen.key.as_str();
    let may = caller.may(Right::Operate, &seen.key).is_ok() && !seen.is_archived;
    html! {
        @if may && seen.is_stopped {
            form.emergency method="post" action={ "/a/" (key) "/clear/" } {
                input type="hidden" name="back" value=(back);
                button.go aria-label={ "Clear the emergency stop of " (seen.name) } { "Let it go on" }
            }
        } @else if may {
            form.emergency method="post" action={ "/a/" (key) "/stop/" } {
                input type="hidden" name="back" value=(back);
                @if why == WhyField::Shown {
                    input.why name="reason" placeholder="Why" aria-label="Why it is stopped; may be left out" maxlength="500" autocomplete="off";
                }
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
