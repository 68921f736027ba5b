//! Changing a setting of one assistant: an event in its log.

use dormouse_contracts::Seq;
use dormouse_engine::{Event, SettingChanged};
use dormouse_host::config::{Config, InvalidValue, Setting, inline, unmatched};
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
    Value(InvalidValue),
    #[error("{0}")]
    Refused(InvalidValue),
    #[error("somebody else changed {0} at the same moment; look at it and try again")]
    Moved(String),
    #[error(
        "VALUE: it seems to hold a key or a password, which is never a setting; nothing was changed"
    )]
    Secret,
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

/// Sets the value, unless the setting already has it.
pub(super) fn set(
    log: &AssistantLog,
    config: &Config,
    setting: &Setting,
    text: &str,
    by: &str,
    printing: Printing,
) -> Result<(), CommandError> {
    let effective = config.read_for(&log.key, &log.state).0;
    // First check whether it can be changed at all, then the value.
    setting.may_be_changed().map_err(ChangeError::Refused)?;
    let value = setting.read(text).map_err(ChangeError::Value)?;
    if !setting.can_be_shown(text) {
        return Err(ChangeError::Secret.into());
    }
    let changed = effective.changed(&setting.name, &value);
    let changed = changed.map_err(ChangeError::Refused)?;
    for warning in unmatched(&changed.classify, &changed.memory, &landmarks()) {
        remark(&warning);
    }
    let old = current(&effective, setting);
    change(log, setting, old.as_ref(), Some(&value), by, printing)
}

/// Takes the change of the setting back, if there is one.
pub(super) fn unset(
    log: &AssistantLog,
    config: &Config,
    setting: &Setting,
    by: &str,
    printing: Printing,
) -> Result<(), CommandError> {
    let changed = log.state.changed_settings.get(&setting.name);
    // The file describes only one assistant. For any other one, the log has the former value.
    let is_of_its_log = setting.name.starts_with("assistant.") && config.assistant.key() != log.key;
    let new = changed
        .filter(|_| is_of_its_log)
        .and_then(|changed| changed.before.as_ref());
    match changed {
        Some(changed) => change(log, setting, Some(&changed.value), new, by, printing),
        None => report(log, setting, None, None, None, printing),
    }
}

/// Writes the change, unless nothing changes.
fn change(
    log: &AssistantLog,
    setting: &Setting,
    old: Option<&Value>,
    new: Option<&Value>,
    by: &str,
    printing: Printing,
) -> Result<(), CommandError> {
    if old == new {
        return report(log, setting, None, old, new, printing);
    }
    let changed = Event::SettingChanged(SettingChanged {
        setting: setting.name.clone(),
        old: old.cloned(),
        new: new.cloned(),
        by: by.to_owned(),
    });
    let name = &setting.name;
    let seen = log.state.changed_settings.get(name);
    let decided =
        log.append_decided(|state| match state.changed_settings.get(name) == seen {
            true => Ok(vec![changed.clone()]),
            false => Err(ChangeError::Moved(name.clone())),
        })??;
    report(log, setting, Some(decided.through), old, new, printing)
}

fn report(
    log: &AssistantLog,
    setting: &Setting,
    event: Option<Seq>,
    old: Option<&Value>,
    new: Option<&Value>,
    printing: Printing,
) -> Result<(), CommandError> {
    let (key, name) = (&log.key, setting.name.as_str());
    let line = ChangedLine {
        r#type: "setting_changed",
        assistant: key.as_str(),
        setting: name,
        event: event.map(|event| event.0),
        old,
        new,
    };
    let written = |value: Option<&Value>| value.map_or_else(|| "as configured".to_owned(), inline);
    printing.print(&line, || match (event, new) {
        (Some(event), _) => format!(
            "event {event}: {name} of {key} is {} (it was {}); this applies when {key} wakes next",
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

/// The value that is in force.
fn current(config: &Config, setting: &Setting) -> Option<Value> {
    let given = config.given(setting).map(|given| given.value.clone());
    given.or_else(|| setting.default.clone())
}
