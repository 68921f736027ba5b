//! The settings of an assistant.

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use dormouse_contracts::{AssistantId, Seq};
use dormouse_engine::{Event, SettingChanged, State as AssistantState};
use dormouse_host::config::{
    Applies, Config, InvalidValue, Setting, ValueOrigin, find, inline, settings,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use crate::{
    extract::{JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// The settings of an assistant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConfigView {
    pub(crate) settings: Vec<SettingView>,
}

/// A setting.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SettingView {
    /// Its name.
    pub(crate) name: String,
    /// Its value; absent if it has none, or one that is never shown.
    #[schema(value_type = Option<Value>)]
    pub(crate) value: Option<Value>,
    /// Where the value comes from: `default`, `file`, `variable`, `event`, `flag` or `log`.
    pub(crate) from: &'static str,
    /// Its default.
    #[schema(value_type = Option<Value>)]
    pub(crate) default: Option<Value>,
    /// What it is.
    pub(crate) about: String,
    /// Which values it can have.
    pub(crate) expects: String,
    /// Whether it can be changed for an assistant. It then applies when the assistant wakes next.
    pub(crate) is_changeable: bool,
    /// Whether it has a value that is not shown, because it may hold a key.
    pub(crate) is_hidden: bool,
}

/// Changes of settings.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigPatch {
    /// Values by the names of the settings; `null` takes a change back.
    pub(crate) settings: BTreeMap<String, Value>,
}

/// Show the settings of an assistant. The etag names this state of them.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/config/", tag = "config",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = ConfigView, headers(("etag" = String)))))]
pub(crate) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Response, Problem> {
    caller.may(Right::Read, &key)?;
    respond(&service, &key).await
}

/// Change settings, all or none, from the next waking on. The log names the holder of the token.
#[utoipa::path(patch, path = "/api/ai/assistants/{key}/config/", tag = "config",
    params(
        ("key" = String, Path, description = "Its key"),
        ("if-match" = String, Header, description = "The etag of the settings that are changed"),
    ),
    request_body = ConfigPatch,
    responses((status = OK, body = ConfigView, headers(("etag" = String)))))]
pub(crate) async fn update(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    headers: HeaderMap,
    JsonBody(patch): JsonBody<ConfigPatch>,
) -> Result<Response, Problem> {
    caller.may(Right::Admin, &key)?;
    let etag = headers
        .get(header::IF_MATCH)
        .and_then(|etag| etag.to_str().ok());
    let why = "send if-match with the etag of `GET …/config/`";
    let etag = etag.ok_or_else(|| ProblemCode::EtagMissing.because(why))?;
    set(&service, &caller, &key, &patch.settings, Some(etag)).await?;
    respond(&service, &key).await
}

/// Gives settings these values, as events that say who did it, if they still have this etag.
pub(super) async fn set(
    service: &Shared,
    caller: &Caller,
    key: &AssistantId,
    values: &BTreeMap<String, Value>,
    if_match: Option<&str>,
) -> Result<Option<Seq>, Problem> {
    let config = service.host.config();
    service
        .change(key, |state| {
            let effective = config.read_for(key, state).0;
            if let Some(asked) = if_match
                && asked != etag(&view(&effective))
            {
                let why = "read the settings again, and decide again";
                return Err(ProblemCode::StaleEtag.because(why));
            }
            changes(config, (key, state), effective, values, &caller.token.name)
        })
        .await
}

fn changes(
    config: &Config,
    (key, state): (&AssistantId, &AssistantState),
    mut effective: Config,
    values: &BTreeMap<String, Value>,
    by: &str,
) -> Result<Vec<Event>, Problem> {
    let mut events = Vec::new();
    for (name, value) in values {
        let refused =
            |error: InvalidValue| ProblemCode::InvalidValue.because(format!("{name}: {error}"));
        let setting =
            find(name).map_err(|error| ProblemCode::InvalidValue.because(error.to_string()))?;
        setting.may_be_changed().map_err(refused)?;
        let (old, new) = match value {
            Value::Null => {
                let Some(changed) = state.changed_settings.get(&setting.name) else {
                    continue;
                };
                // The file does not say who another assistant is, and its log says what it was before.
                let is_of_its_log =
                    setting.name.starts_with("assistant.") && config.assistant.key() != *key;
                let before = changed.before.clone().filter(|_| is_of_its_log);
                (Some(changed.value.clone()), before)
            }
            value => {
                let text = match value {
                    Value::String(text) => text.clone(),
                    value => inline(value),
                };
                let value = setting.read(&text).map_err(refused)?;
                if !setting.can_be_shown(&text) {
                    return Err(ProblemCode::InvalidValue.because(format!(
                        "{name}: it seems to hold a key or a password, which is never a setting"
                    )));
                }
                let old = current(&effective, setting);
                effective = effective.changed(&setting.name, &value).map_err(refused)?;
                (old, Some(value))
            }
        };
        if old != new {
            events.push(Event::SettingChanged(SettingChanged {
                setting: setting.name.clone(),
                old,
                new,
                by: by.to_owned(),
            }));
        }
    }
    Ok(events)
}

/// The value that is in force.
fn current(config: &Config, setting: &Setting) -> Option<Value> {
    let given = config.given(setting).map(|given| given.value.clone());
    given.or_else(|| setting.default.clone())
}

/// The settings of an assistant, and the etag that names this state of them.
pub(crate) async fn read(
    service: &Shared,
    key: &AssistantId,
) -> Result<(ConfigView, String), Problem> {
    let state = service.state(key).await?;
    let view = view(&service.host.config().read_for(key, &state).0);
    let etag = etag(&view);
    Ok((view, etag))
}

async fn respond(service: &Shared, key: &AssistantId) -> Result<Response, Problem> {
    let (view, etag) = read(service, key).await?;
    let mut response = Json(&view).into_response();
    let etag = HeaderValue::from_str(&etag).map_err(|error| Problem::internal(&error))?;
    response.headers_mut().insert(header::ETAG, etag);
    Ok(response)
}

fn view(config: &Config) -> ConfigView {
    let settings = settings()
        .iter()
        .map(|setting| setting_view(config, setting));
    ConfigView {
        settings: settings.collect(),
    }
}

fn setting_view(config: &Config, setting: &Setting) -> SettingView {
    let given = config.given(setting);
    let value = given.map(|given| &given.value);
    let is_hidden = value.is_some_and(|value| !setting.can_be_shown(&inline(value)));
    let value = value.or(setting.default.as_ref());
    SettingView {
        name: setting.name.clone(),
        value: value.filter(|_| !is_hidden).cloned(),
        from: match given.map(|given| &given.origin) {
            None => "default",
            Some(ValueOrigin::File { .. }) => "file",
            Some(ValueOrigin::Variable(_)) => "variable",
            Some(ValueOrigin::Changed { .. }) => "event",
            Some(ValueOrigin::Flag(_)) => "flag",
            Some(ValueOrigin::Log) => "log",
        },
        default: setting.default.clone(),
        about: setting.sentence.clone(),
        expects: setting.expects(),
        is_changeable: setting.applies == Applies::Waking,
        is_hidden,
    }
}

/// Names a state of the settings.
fn etag(view: &ConfigView) -> String {
    let mut hash = Sha256::new();
    for setting in &view.settings {
        let value = setting.value.as_ref().map(inline);
        for part in [&setting.name, setting.from, value.as_deref().unwrap_or("-")] {
            hash.update(part);
            hash.update([0]);
        }
    }
    let digits = hash.finalize();
    let digits = digits.iter().take(16).map(|byte| format!("{byte:02x}"));
    format!("\"{}\"", digits.collect::<String>())
}
