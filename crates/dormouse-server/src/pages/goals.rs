//! The goals of a resident, as a tree.

use axum::{extract::State, response::Response};
use dormouse_engine::{Goal, GoalMoment, Goals};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    Page,
    form::{Fields, given},
    frame, go_to,
    seen::{Seen, When},
    words::{counted, event, moment, outside, trust},
};
use crate::{
    api::goals::{self, GoalPatch, GoalRequest},
    extract::{Asked, ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// The page shows at most this many levels of the tree. The log of somebody else could contain a cycle.
const DEEPEST: usize = 16;

/// Shows the goals.
pub(super) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(when): Asked<When>,
) -> Result<Page, Problem> {
    let seen = Box::pin(Seen::at(&service, &caller, &key, when)).await?;
    let all = &seen.state.goals;
    let may = seen.may_be_changed(&caller, Right::Operate);
    let is_root = |goal: &&Goal| goal.parent.is_none_or(|parent| all.get(parent).is_none());
    let roots: Vec<_> = all.iter().filter(is_root).collect();
    let (open, closed): (Vec<&Goal>, Vec<&Goal>) = roots.into_iter().partition(|it| it.is_open());
    let body = html! {
        @if open.is_empty() { p.quiet { "It has no open goal." } }
        ul.tree { @for goal in open { (branch(key.as_str(), all, goal, may, DEEPEST)) } }
        @if !closed.is_empty() {
            details {
                summary { (counted(closed.len() as u64, "goal that was closed lately", "goals that were closed lately")) }
                ul.tree { @for goal in closed { (branch(key.as_str(), all, goal, false, DEEPEST)) } }
            }
        }
        @if may {
            section.card {
                h3 { "Set a goal" }
                form.stack method="post" action={ "/a/" (key) "/goals/" } {
                    label for="text" { "What is to be reached" span.quiet { " everybody may learn of it" } }
                    input #text name="text" required autocomplete="off";
                    label for="parent" { "As a part of" }
                    select #parent name="parent" {
                        option value="" { "nothing" }
                        @for goal in all.iter().filter(|goal| goal.is_open()) { option value=(goal.id) { (goal.id) ". " (goal.description.text) } }
                    }
                    label for="priority" { "Priority" span.quiet { " 1 to 10" } }
                    input #priority type="number" name="priority" min="1" max="10" placeholder="5";
                    label for="every" { "It comes back" span.quiet { " such as daily 20:00, weekly mon 08:00, every 2 hours (UTC); may be left out" } }
                    input #every name="every" autocomplete="off";
                    button.primary { "Set" }
                }
            }
        }
    };
    Ok(frame::about(&seen, &caller, "goals/", &body))
}

fn branch(key: &str, all: &Goals, goal: &Goal, may: bool, depth: usize) -> Markup {
    let parts: Vec<_> = all.children_of(goal.id).collect();
    let progress = all.progress(goal.id);
    html! {
        li {
            div.card data-open=(goal.is_open()) {
                div.strip {
                    h3 { span.quiet { (goal.id) ". " } (outside(&goal.description.text)) }
                    span.tag { (outside(&goal.status.to_text())) }
                }
                @if let Some(note) = &goal.note { p { (outside(&note.text)) } }
                p.facts {
                    span { "priority " (goal.priority) }
                    span { "trust " (trust(goal.description.trust)) }
                    @if let Some((done, of)) = progress { span { progress value=(done) max=(of) aria-hidden="true" {} " " (done) " of " (of) " parts" } }
                    @match goal.moment {
                        GoalMoment::Repeating { every, .. } => { span { (every.to_string()) } }
                        GoalMoment::At(at) => { span { "at " (moment(at)) } }
                        GoalMoment::Never => {}
                    }
                    @if let Some(next) = goal.turns.next_at { span { "next at " (moment(next)) } }
                    @if goal.turns.taken > 0 { span { (counted(goal.turns.taken, "turn", "turns")) } }
                    span { "set by " (event(key, goal.seq)) }
                }
                @if may && goal.is_open() {
                    form.inline method="post" action={ "/a/" (key) "/goals/" (goal.id) "/" } {
                        button name="status" value="done" { "Done" }
                        button name="status" value="dropped" { "Drop" }
                    }
                }
            }
            @if !parts.is_empty() && depth > 0 { ul.tree { @for part in parts { (branch(key, all, part, may, depth - 1)) } } }
        }
    }
}

/// A goal that is to be set.
#[derive(Debug, Deserialize)]
pub(super) struct NewGoal {
    text: String,
    #[serde(default)]
    parent: String,
    #[serde(default)]
    priority: String,
    #[serde(default)]
    every: String,
}

/// Sets a goal.
pub(super) async fn create(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Fields(new): Fields<NewGoal>,
) -> Result<Response, Problem> {
    let request = GoalRequest {
        text: given(&new.text).unwrap_or_default(),
        priority: number("priority", &new.priority)?,
        parent: number("parent", &new.parent)?,
        due: None,
        every: given(&new.every),
    };
    let path = format!("/a/{key}/goals/");
    drop(goals::create(State(service), caller, Key(key), JsonBody(request)).await?);
    Ok(go_to(&path))
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<Option<T>, Problem> {
    let invalid = |text: &str| {
        ProblemCode::InvalidValue.because(format!("{name} is {text:?}; expected a number"))
    };
    let text = given(text);
    let number = text.map(|text| text.parse().map_err(|_other| invalid(&text)));
    number.transpose()
}

/// A change of a goal.
#[derive(Debug, Deserialize)]
pub(super) struct GoalChange {
    status: String,
}

/// Changes a goal.
pub(super) async fn update(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    id: ItemId<u32>,
    Fields(change): Fields<GoalChange>,
) -> Result<Response, Problem> {
    let patch = GoalPatch {
        status: Some(change.status),
        priority: None,
        note: None,
    };
    let path = format!("/a/{key}/goals/");
    drop(goals::update(State(service), caller, Key(key), id, JsonBody(patch)).await?);
    Ok(go_to(&path))
}
