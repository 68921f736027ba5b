//! The workbench: the parts of prompts in their order, next to the prompt that they give. Each part can be switched
//! off, or bounded in tokens.

use std::collections::BTreeMap;

use axum::{extract::State, response::Response};
use dormouse_engine::{
    CONTEXTS, ContextRow, ContextType, OrderPreset, PartOrder, PreviewError, PromptPreview,
};
use dormouse_host::config::Config;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Page,
    form::{Fields, given, if_match},
    frame, go_to,
    residents::fill,
    seen::{Seen, When},
    words::{counted, outside, passage},
};
use crate::{
    api::{
        components::{self, ComponentPatch, ComponentView, Reorder},
        config::{self, ConfigPatch},
    },
    extract::{Asked, ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// The order of the parts between instructions and event that `prompt.order = "stable"` means.
const STABLE: [&str; 6] = [
    "goals",
    "conversation_history",
    "entity_context",
    "standing_orders",
    "semantic_memories",
    "context_buffer",
];

/// What is shown.
#[derive(Debug, Deserialize)]
pub(super) struct Bench {
    /// The kind of tick.
    #[serde(default)]
    context: String,
    /// The event after which the page shows the parts; if absent, the present.
    at: Option<u64>,
}

/// Shows the parts of prompts, and the prompt of one kind of tick.
pub(super) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(bench): Asked<Bench>,
) -> Result<Page, Problem> {
    let seen = Box::pin(Seen::at(&service, &caller, &key, When { at: bench.at })).await?;
    let row = kind(&bench.context)?;
    let config = service.host.config().read_for(&key, &seen.state).0;
    let etag = config::read(&config).1;
    let parts = config.prompt.config();
    let host = &service.host;
    let preview = match host.preview_with(&key, &seen.state, parts, row.context) {
        Ok(preview) => Some(preview),
        Err(PreviewError::NeverWoke(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let parts = in_order(&config);
    let may = seen.may_be_changed(&caller, Right::Admin);
    let path = format!("/a/{key}/workbench/");
    let at = seen.past.map(|past| format!("&at={}", past.seq));
    let lines = Lines {
        path: &path,
        etag: &etag,
        context: row.name,
        preview: preview.as_ref(),
        may,
    };
    let body = html! {
        nav.pages aria-label="Kinds of ticks" {
            @for it in &CONTEXTS {
                a href={ (path) "?context=" (it.name) (at.as_deref().unwrap_or("")) }
                    aria-current=[(it.name == row.name).then_some("page")] { (it.name) }
            }
        }
        p.quiet { "A tick of this kind begins when " (row.entry) "." }
        @match &preview {
            Some(preview) => {
                dl.numbers {
                    div { dt { "Its prompt, with these parts" } dd { (fill(preview.tokens, preview.window)) } }
                    div { dt { "Tools" } dd { (counted(preview.tools.len() as u64, "tool", "tools")) } }
                    div { dt { "Parts that show something" } dd { (preview.parts.len()) } }
                }
                @for finding in &preview.findings { p.warning { "Check: " (outside(finding)) } }
            }
            None => p.quiet { "It has not woken yet, so there is no prompt to show." },
        }
        @if may { (order_form(&lines, &config.prompt.order)) }
        ol.bench {
            @for (place, part) in parts.iter().enumerate() {
                @let is_movable = |other: Option<&ComponentView>| other.is_some_and(|it| it.is_movable);
                @let before = place.checked_sub(1).and_then(|place| parts.get(place));
                (lines.line(part, is_movable(before), is_movable(parts.get(place + 1))))
            }
        }
    };
    let fields = [("context", row.name)];
    Ok(frame::about_with(
        &seen,
        &caller,
        ("workbench/", &fields),
        &body,
    ))
}

/// The order after dragging, which only a script sends, and a button that restores the order of the program.
fn order_form(lines: &Lines<'_>, order: &PartOrder) -> Markup {
    html! {
        form #order.inline method="post" action=(lines.path) {
            (lines.hidden())
            input type="hidden" name="order" value="";
            p.quiet {
                "A change applies from the next tick on, and is an event of the log. Drag a part by its handle, or use its buttons. "
                @match order {
                    PartOrder::Preset(OrderPreset::Stable) => { "What changes least comes first, so that caches of prompts hit." }
                    PartOrder::Preset(OrderPreset::Documented) => { "The order is the documented one." }
                    PartOrder::Own(_) => { "The order is your own." }
                }
            }
            @if matches!(order, PartOrder::Own(_)) { button name="do" value="as_configured" { "Order as configured" } }
        }
    }
}

/// What the form of every part needs.
struct Lines<'a> {
    path: &'a str,
    etag: &'a str,
    context: &'a str,
    preview: Option<&'a PromptPreview>,
    may: bool,
}

impl Lines<'_> {
    fn hidden(&self) -> Markup {
        html! {
            input type="hidden" name="etag" value=(self.etag);
            input type="hidden" name="context" value=(self.context);
        }
    }

    fn line(&self, part: &ComponentView, can_rise: bool, can_sink: bool) -> Markup {
        let name = part.component.as_str();
        let shown = self.preview.iter().flat_map(|it| &it.parts);
        let shown: Vec<_> = shown.filter(|it| it.key == name).collect();
        let tokens: u32 = shown.iter().map(|it| it.tokens).sum();
        let left_out = self.preview.iter().flat_map(|it| &it.left_out);
        let left_out = left_out.filter(|it| it.part == name);
        let most = self.preview.map_or(1, |preview| preview.tokens.max(1));
        html! {
            li.card id={ "part-" (name) } data-part=[part.is_movable.then_some(name)] data-on=(part.enabled) {
                div.strip {
                    @if self.may && part.is_movable { span.grip title="Drag it to another place" aria-hidden="true" { "⠿" } }
                    h3 { (outside(name)) }
                    @if part.is_own { span.tag { "your own" } }
                    @if !part.enabled { span.tag { "off" } }
                    span.quiet {
                        (counted(tokens, "token", "tokens"))
                        @if let Some(budget) = part.budget { " of at most " (budget) }
                    }
                    progress value=(tokens) max=(most) aria-hidden="true" {}
                }
                p.quiet {
                    @if let Some(why) = part.why { (why) }
                    @for it in left_out { "; " (outside(&it.why)) }
                }
                @if self.may { (self.buttons(part, can_rise, can_sink)) }
                @if !shown.is_empty() {
                    details { summary { "Its text" } div.code { @for it in shown { (passage(&it.text)) } } }
                }
            }
        }
    }

    /// What can be decided about a part.
    fn buttons(&self, part: &ComponentView, can_rise: bool, can_sink: bool) -> Markup {
        let name = part.component.as_str();
        let has_budget = part.is_movable || part.is_own;
        let is_fixed = part.is_needed && !has_budget;
        html! {
            @if is_fixed {
                p.quiet { "No prompt can do without it, and it stays in its place." }
            } @else {
                form.inline method="post" action=(self.path) {
                    (self.hidden())
                    input type="hidden" name="part" value=(name);
                    @if has_budget {
                        label for={ "budget-" (name) } { "At most" }
                        input id={ "budget-" (name) } type="number" name="budget" min="0" max="1000000" value=[part.budget] placeholder="no bound";
                        button name="do" value="budget" aria-label={ "Set the most tokens of " (name) } { "Set" }
                    }
                    @if !part.is_needed {
                        @if part.enabled { button name="do" value="off" aria-label={ "Switch " (name) " off" } { "Switch off" } }
                        @else { button name="do" value="on" aria-label={ "Switch " (name) " on" } { "Switch on" } }
                    }
                    @if part.is_movable {
                        button name="do" value="up" disabled[!can_rise] aria-label={ "Move " (name) " up" } { "Up" }
                        button name="do" value="down" disabled[!can_sink] aria-label={ "Move " (name) " down" } { "Down" }
                    }
                }
            }
        }
    }
}

/// The kind of tick of this name; a message, if there is no name.
fn kind(name: &str) -> Result<&'static ContextRow, Problem> {
    let context = match name {
        "" => Some(ContextType::TickEvent),
        name => ContextType::of_name(name),
    };
    let unknown = || ProblemCode::InvalidRequest.because(format!("{name:?} is not a kind of tick"));
    context.map(ContextType::row).ok_or_else(unknown)
}

/// The parts in the order in which prompts show them: first those of the system, then those that can be moved, then the
/// event of the turn.
fn in_order(config: &Config) -> Vec<ComponentView> {
    let mut parts = components::components(config);
    let numbers: BTreeMap<u32, String> = parts
        .iter()
        .filter(|it| !it.is_own)
        .filter_map(|it| Some((it.number?, it.component.clone())))
        .collect();
    // A part of the operator's own keeps its place behind the part of the program that has the next lower number.
    let with = |part: &ComponentView| {
        let number = part.number.unwrap_or(0);
        let base = numbers.range(..=number).next_back();
        STABLE
            .iter()
            .position(|name| base.is_some_and(|(_, base)| base == name))
    };
    let first = numbers
        .iter()
        .find(|(_, name)| STABLE.contains(&name.as_str()));
    let first = first.map_or(0, |(number, _)| *number);
    let order = &config.prompt.order;
    parts.sort_by_cached_key(|part| {
        let number = part.number.unwrap_or(0);
        if !part.is_movable {
            return (usize::from(number >= first) * 2, 0, 0, number);
        }
        let place = match order {
            PartOrder::Preset(OrderPreset::Documented) => (0, 0),
            PartOrder::Preset(OrderPreset::Stable) => (0, with(part).unwrap_or(0)),
            PartOrder::Own(keys) => {
                let listed = keys.iter().position(|it| *it == part.component);
                (listed.unwrap_or(keys.len()), with(part).unwrap_or(0))
            }
        };
        (1, place.0, place.1, number)
    });
    parts
}

/// What is decided about the parts.
#[derive(Debug, Deserialize)]
pub(super) struct Decision {
    etag: String,
    /// What is to be done. If this is absent, the order is changed.
    #[serde(default, rename = "do")]
    what: String,
    /// With which part.
    #[serde(default)]
    part: String,
    #[serde(default)]
    budget: String,
    /// The names of all parts that can be moved, with commas between them.
    #[serde(default)]
    order: String,
    /// The kind of tick that the page shows.
    #[serde(default)]
    context: String,
}

/// Changes the parts, if nobody has changed any setting since the page was read.
pub(super) async fn change(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Fields(decision): Fields<Decision>,
) -> Result<Response, Problem> {
    caller.may(Right::Admin, &key)?;
    let row = kind(&decision.context)?;
    let headers = if_match(&decision.etag)?;
    let config = service.config(&key).await?.0;
    let mut parts = in_order(&config);
    let place = parts.iter().position(|it| it.component == decision.part);
    let path = format!("/a/{key}/workbench/?context={}", row.name);
    let path = match place {
        Some(_) => format!("{path}#part-{}", decision.part),
        None => path,
    };
    let (state, its) = (State(service), Key(key));
    match (decision.what.as_str(), place) {
        ("", _) => {
            let order = decision.order.split(',').filter(|name| !name.is_empty());
            let order = order.map(str::to_owned).collect();
            let order = JsonBody(Reorder { order });
            drop(Box::pin(components::reorder(state, caller, its, headers, order)).await?);
        }
        ("as_configured", _) => {
            let settings = BTreeMap::from([("prompt.order".to_owned(), Value::Null)]);
            let patch = JsonBody(ConfigPatch { settings });
            drop(Box::pin(config::update(state, caller, its, headers, patch)).await?);
        }
        (what @ ("up" | "down"), Some(place)) => {
            let other = match what {
                "up" => place.checked_sub(1),
                _ => place.checked_add(1),
            };
            let other = other.filter(|other| parts.get(*other).is_some_and(|it| it.is_movable));
            if let Some(other) = other {
                parts.swap(place, other);
            }
            let order = parts.into_iter().filter(|it| it.is_movable);
            let order = order.map(|it| it.component).collect();
            let order = JsonBody(Reorder { order });
            drop(Box::pin(components::reorder(state, caller, its, headers, order)).await?);
        }
        (what @ ("on" | "off" | "budget"), Some(place)) => {
            let part = parts.swap_remove(place);
            let patch = JsonBody(patch(&part, what, &decision.budget)?);
            let name = ItemId(part.component);
            drop(Box::pin(components::update(state, caller, its, name, headers, patch)).await?);
        }
        (_, None) => {
            let why = format!("there is no part {:?} of prompts", decision.part);
            return Err(ProblemCode::UnknownItem.because(why));
        }
        (what, _) => {
            let why =
                format!("do is {what:?}; expected on, off, budget, up, down or as_configured");
            return Err(ProblemCode::InvalidValue.because(why));
        }
    }
    Ok(go_to(&path))
}

/// The present decision about a part, with one thing changed.
fn patch(part: &ComponentView, what: &str, budget: &str) -> Result<ComponentPatch, Problem> {
    let enabled = match what {
        "on" => true,
        "off" => false,
        _ => part.enabled,
    };
    let budget = match what {
        "budget" => given(budget)
            .map(|text| {
                let wrong = |_| {
                    let why = format!("budget is {text:?}; expected a number of tokens");
                    ProblemCode::InvalidValue.because(why)
                };
                text.parse().map_err(wrong)
            })
            .transpose()?,
        _ => part.budget,
    };
    let number = part.number.filter(|_| part.is_own);
    Ok(ComponentPatch {
        enabled: (!enabled).then_some(false),
        budget,
        number: number.and_then(|number| u16::try_from(number).ok()),
        text: part.text.clone(),
    })
}
