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
    settings: Vec<SettingView>,
}

/// A setting.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SettingView {
    /// Its name.
    name: String,
    /// Its value; absent if it has none, or one that is never shown.
    #[schema(value_type = Option<Value>)]
    value: Option<Value>,
    /// Where the value comes from: `default`, `file`, `variable`, `event`, `flag` or `log`.
    from: &'static str,
    /// Its default.
    #[schema(value_type = Option<Value>)]
    default: Option<Value>,
    /// What it is.
    about: String,
    /// The values that it accepts.
    expects: String,
    /// Whether it can be changed for one assistant. A change applies when the assistant wakes next.
    is_changeable: bool,
    /// Whether it has a value that is not shown, because it may hold a key.
    is_hidden: bool,
}

/// Changes of settings.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigPatch {
    /// New values by the names of the settings; `null` takes an earlier change back.
    settings: BTreeMap<String, Value>,
}

/// Show the settings of an assistant. The etag identifies this state of the settings.
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

/// Change settings, all or none. The change applies when the assistant wakes next. The log names the holder of the
/// token.
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

/// Changes these settings if they still have this etag. The events say who did it.
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
                // The file describes only one assistant. For any other one, the log has the former value.
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

async fn respond(service: &Shared, key: &AssistantId) -> Result<Response, Problem> {
    let state = service.state(key).await?;
    let view = view(&service.host.config().read_for(key, &state).0);
    let mut response = Json(&view).into_response();
    let etag = HeaderValue::from_str(&etag(&view)).map_err(|error| Problem::internal(&error))?;
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

/// Identifies a state of the settings.
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
