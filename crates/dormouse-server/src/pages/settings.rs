//! The settings of a resident, with what each is for and which values it can have.

use std::collections::BTreeMap;

use axum::{extract::State, response::Response};
use dormouse_host::config::inline;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Page,
    form::{Fields, if_match},
    frame, go_to,
    seen::{Seen, When},
    words::outside,
};
use crate::{
    api::config::{self, ConfigPatch, SettingView},
    extract::{Asked, JsonBody, Key},
    guard::Caller,
    problem::Problem,
    service::Shared,
    tokens::Right,
};

/// Shows the settings.
pub(super) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(when): Asked<When>,
) -> Result<Page, Problem> {
    let seen = Box::pin(Seen::at(&service, &caller, &key, when)).await?;
    let config = service.host.config().read_for(&key, &seen.state).0;
    let (view, etag) = config::read(&config);
    let may = seen.may_be_changed(&caller, Right::Admin);
    let mut sections: BTreeMap<&str, Vec<&SettingView>> = BTreeMap::new();
    for setting in &view.settings {
        let section = setting
            .name
            .split_once('.')
            .map_or("", |(section, _)| section);
        sections.entry(section).or_default().push(setting);
    }
    let body = html! {
        p.quiet { "A change applies from the resident's next tick on. Those that are not changeable here are set in the file of the service." }
        nav.pages aria-label="Sections" { @for name in sections.keys().filter(|name| !name.is_empty()) { a href={ "#" (name) } { (name) } } }
        @for (name, settings) in &sections {
            section.settings id=[(!name.is_empty()).then_some(name)] {
                @if !name.is_empty() { h3 { (name) } }
                @for setting in settings { (line(key.as_str(), setting, &etag, may)) }
            }
        }
    };
    Ok(frame::about(&seen, &caller, "settings/", &body))
}

fn line(key: &str, setting: &SettingView, etag: &str, may: bool) -> Markup {
    let value = setting.value.as_ref().map(inline).unwrap_or_default();
    let id = format!("set.{}", setting.name);
    let words = setting.expects.split(", ").collect::<Vec<_>>();
    let is_switch = matches!(setting.default, Some(Value::Bool(_)));
    html! {
        div.setting data-from=(setting.from) {
            div {
                label for=(id) { code { (setting.name) } }
                @if setting.from != "default" { " " span.tag { (setting.from) } }
                p { (setting.about) }
                p.quiet {
                    "Expects " (setting.expects)
                    @if let Some(default) = &setting.default { "; default " code { (inline(default)) } }
                }
            }
            @if setting.is_hidden {
                p #(id) .quiet { "Its value may hold a key and is not shown." }
            } @else if may && setting.is_changeable {
                form.inline method="post" action={ "/a/" (key) "/settings/" } {
                    input type="hidden" name="etag" value=(etag);
                    input type="hidden" name="name" value=(setting.name);
                    @if is_switch {
                        select id=(id) name="value" {
                            @for word in ["true", "false"] { option selected[value == word] { (word) } }
                        }
                    } @else if words.len() > 1 && words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')) {
                        select id=(id) name="value" {
                            @for word in &words { option selected[plain(setting) == *word] { (word) } }
                        }
                    } @else {
                        input id=(id) name="value" value=(plain(setting)) autocomplete="off";
                    }
                    button { "Set" }
                    @if setting.from == "event" { button name="reset" value="yes" { "As configured" } }
                }
            } @else {
                p { output id=(id) { @if value.is_empty() { span.quiet { "unset" } } @else { (outside(&value)) } } }
            }
        }
    }
}

/// The value as somebody writes it: a text without its quotation marks.
fn plain(setting: &SettingView) -> String {
    match &setting.value {
        Some(Value::String(text)) => text.clone(),
        Some(value) => inline(value),
        None => String::new(),
    }
}

/// A setting that is to be changed.
#[derive(Debug, Deserialize)]
pub(super) struct Change {
    etag: String,
    name: String,
    #[serde(default)]
    value: String,
    #[serde(default)]
    reset: String,
}

/// Changes a setting, if nobody has changed any since the page was read.
pub(super) async fn change(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Fields(change): Fields<Change>,
) -> Result<Response, Problem> {
    let headers = if_match(&change.etag)?;
    let value = match change.reset.as_str() {
        "" => Value::String(change.value.replace("\r\n", "\n")),
        _ => Value::Null,
    };
    let place = change
        .name
        .split_once('.')
        .map_or("", |(section, _)| section);
    let path = format!("/a/{key}/settings/#{place}");
    let patch = ConfigPatch {
        settings: BTreeMap::from([(change.name, value)]),
    };
    config::update(State(service), caller, Key(key), headers, JsonBody(patch)).await?;
    Ok(go_to(&path))
}
