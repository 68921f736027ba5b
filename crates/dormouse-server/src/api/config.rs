//! The settings of an assistant.

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use dormouse_contracts::{AssistantId, Seq};
use dormouse_host::config::{
    Applies, AskedSettings, Config, Setting, SettingChangeError, ValueOrigin, inline, settings,
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
    /// The values that it accepts.
    pub(crate) expects: String,
    /// Whether it can be changed for one assistant. A change applies from the assistant's next tick on.
    pub(crate) is_changeable: bool,
    /// Whether it has a value that is not shown, because it may hold a key.
    pub(crate) is_hidden: bool,
}

/// Changes of settings.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigPatch {
    /// New values by the names of the settings; `null` takes an earlier change back.
    pub(crate) settings: BTreeMap<String, Value>,
}

/// Show the settings of an assistant.
///
/// The etag identifies this state of the settings.
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

/// Change settings, all or none.
///
/// The change applies from the assistant's next tick on. The log names the holder of the token.
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
    let why = "send if-match with the etag of `GET …/config/`";
    let missing = || ProblemCode::EtagMissing.because(why);
    let etag = if_match(&headers)?.ok_or_else(missing)?;
    let values = patch.settings.into_iter();
    let asked: AskedSettings = values.map(|(name, value)| (name, text_of(value))).collect();
    set(&service, &caller, &key, Some(etag), |_| Ok(asked.clone())).await?;
    respond(&service, &key).await
}

/// Changes settings, all or none, as events that say who did it. `ask` chooses the changes from the current
/// configuration; `if_match` is the etag that this configuration must have.
pub(super) async fn set(
    service: &Shared,
    caller: &Caller,
    key: &AssistantId,
    if_match: Option<&str>,
    ask: impl Fn(&Config) -> Result<AskedSettings, Problem>,
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
            let change = config.change_of((key, state), &ask(&effective)?, &caller.token.name)?;
            Ok(change.events().collect())
        })
        .await
}

/// One setting with this value.
pub(super) fn one(name: &str, value: impl Into<String>) -> AskedSettings {
    AskedSettings::from([(name.to_owned(), Some(value.into()))])
}

/// The etag that a change is for, if the request names one.
pub(super) fn if_match(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(etag) = headers.get(header::IF_MATCH) else {
        return Ok(None);
    };
    let etag = etag.to_str().map_err(|_not_text| {
        ProblemCode::InvalidRequest.because("if-match is not an etag of the settings")
    })?;
    Ok(Some(etag))
}

/// A value as somebody would write it at a command line.
fn text_of(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        value => Some(inline(&value)),
    }
}

impl From<SettingChangeError> for Problem {
    fn from(error: SettingChangeError) -> Self {
        ProblemCode::InvalidValue.because(error.to_string())
    }
}

/// A view of the settings with the etag of this state of them.
pub(super) fn with_etag(config: &Config, view: impl Serialize) -> Result<Response, Problem> {
    tagged(&read(config).1, view)
}

/// The settings, and the etag that names this state of them.
pub(crate) fn read(config: &Config) -> (ConfigView, String) {
    let view = view(config);
    let etag = etag(&view);
    (view, etag)
}

async fn respond(service: &Shared, key: &AssistantId) -> Result<Response, Problem> {
    let (view, etag) = read(&service.config(key).await?.0);
    tagged(&etag, view)
}

fn tagged(etag: &str, view: impl Serialize) -> Result<Response, Problem> {
    let etag = HeaderValue::from_str(etag).map_err(|error| Problem::internal(&error))?;
    Ok(([(header::ETAG, etag)], Json(view)).into_response())
}

fn view(config: &Config) -> ConfigView {
    let settings = settings()
        .iter()
        .map(|setting| SettingView::of(config, setting));
    ConfigView {
        settings: settings.collect(),
    }
}

impl SettingView {
    /// A setting with its value.
    pub(super) fn of(config: &Config, setting: &Setting) -> Self {
        let given = config.given(setting);
        let value = given.map(|given| &given.value);
        let is_hidden = value.is_some_and(|value| !setting.can_be_shown(&inline(value)));
        let value = value.or(setting.default.as_ref());
        Self {
            name: setting.name.clone(),
            value: value.filter(|_| !is_hidden).cloned(),
            from: match given.map(|given| &given.origin) {
                None => "default",
                Some(ValueOrigin::File { .. }) => "file",
                Some(ValueOrigin::Variable(_)) => "variable",
                Some(ValueOrigin::Changed { .. } | ValueOrigin::Asked) => "event",
                Some(ValueOrigin::Flag(_)) => "flag",
                Some(ValueOrigin::Log) => "log",
            },
            default: setting.default.clone(),
            about: setting.sentence.clone(),
            expects: setting.expects(),
            is_changeable: setting.applies == Applies::NextTick,
            is_hidden,
        }
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
