//! Changing a setting of one assistant: an event in its log.

use dormouse_engine::SettingChanged;
use dormouse_host::config::{AskedSettings, Config, Setting, SettingChangeError, inline};
use dormouse_sandbox::landmarks;
use serde::Serialize;
use serde_json::Value;

use crate::{
    command::{AssistantLog, CommandError, CommandFailure, Printing, remark},
    exit::Exit,
};

/// A setting cannot be changed in this way.
#[derive(Debug, thiserror::Error)]
enum ChangeError {
    #[error("VALUE: {0}")]
    Value(String),
    #[error("{0}")]
    Refused(String),
    #[error("somebody else changed {0} at the same moment; look at it and try again")]
    Moved(String),
}

impl From<SettingChangeError> for ChangeError {
    fn from(error: SettingChangeError) -> Self {
        match error {
            SettingChangeError::Value { problem, .. } => Self::Value(problem.to_string()),
            SettingChangeError::Secret { .. } => Self::Value(
                "it seems to contain a key or a password, which must not be in a setting; nothing was changed"
                    .to_owned(),
            ),
            SettingChangeError::Refused { problem, .. } => Self::Refused(problem.to_string()),
            error => Self::Refused(error.to_string()),
        }
    }
}

impl CommandFailure for ChangeError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// A change, as JSON.
#[derive(Serialize)]
struct ChangedLine<'a> {
    r#type: &'static str,
    assistant: &'a str,
    setting: &'a str,
    /// `null` if nothing was written.
    event: Option<u64>,
    old: Option<&'a Value>,
    new: Option<&'a Value>,
}

/// Gives the setting this value, unless it has it already; `None` takes the change back, if there is one.
pub(super) fn change(
    log: &AssistantLog,
    config: &Config,
    (setting, text): (&Setting, Option<String>),
    by: &str,
    printing: Printing,
) -> Result<(), CommandError> {
    let is_set = text.is_some();
    let asked = AskedSettings::from([(setting.name.clone(), text)]);
    let change = config.change_of((&log.key, &log.state), &asked, by);
    let change = change.map_err(ChangeError::from)?;
    if is_set {
        let before = config.read_for(&log.key, &log.state).0;
        let before = before.warnings(&landmarks());
        let warnings = change.config.warnings(&landmarks()).into_iter();
        for warning in warnings.filter(|warning| !before.contains(warning)) {
            remark(&warning);
        }
    }
    let settings = change.settings.clone();
    let events: Vec<_> = change.events().collect();
    let name = &setting.name;
    let seen = log.state.changed_settings.get(name);
    let decided =
        log.append_decided(|state| match state.changed_settings.get(name) == seen {
            true => Ok(events.clone()),
            false => Err(ChangeError::Moved(name.clone())),
        })??;
    let event = decided.last().map(|seq| seq.0);
    settings
        .iter()
        .try_for_each(|changed| report(log, event, changed, printing))
}

fn report(
    log: &AssistantLog,
    event: Option<u64>,
    changed: &SettingChanged,
    printing: Printing,
) -> Result<(), CommandError> {
    let (key, name) = (&log.key, changed.setting.as_str());
    let (old, new) = (changed.old.as_ref(), changed.new.as_ref());
    let line = ChangedLine {
        r#type: "setting_changed",
        assistant: key.as_str(),
        setting: name,
        event,
        old,
        new,
    };
    let written = |value: Option<&Value>| value.map_or_else(|| "as configured".to_owned(), inline);
    printing.print(&line, || match (event, new) {
        (Some(event), _) => format!(
            "event {event}: {name} of {key} is {} (it was {}); this applies from the next tick of {key} on",
            written(new),
            written(old),
        ),
        (None, Some(value)) => format!(
            "{name} of {key} is {} already; nothing was changed",
            inline(value)
        ),
        (None, None) => format!("{name} of {key} was not changed; there is nothing to take back"),
    })
}
