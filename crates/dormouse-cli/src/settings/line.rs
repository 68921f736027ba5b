//! A setting as it is printed.

use dormouse_host::config::{Applies, Config, Setting, ValueOrigin, inline};
use serde::Serialize;
use serde_json::Value;

/// A setting, its value, and where that comes from.
#[derive(Serialize)]
pub(crate) struct SettingLine {
    r#type: &'static str,
    name: String,
    /// Absent if it has no value, or one that is never printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    from: From,
    #[serde(skip)]
    origin: Option<ValueOrigin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
    /// What happens if there is no value and no default.
    #[serde(skip_serializing_if = "Option::is_none")]
    unset: Option<String>,
    about: String,
    expects: String,
    aliases: Vec<String>,
    variable: String,
    applies: Applies,
    /// Whether it has a value that is not printed, because it may hold a key.
    hidden: bool,
}

/// Where a value comes from, as JSON.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum From {
    Default,
    File { file: String, line: usize },
    Variable(String),
    Event { event: u64, by: String, at: String },
    Flag(&'static str),
    Asked,
    Log,
}

fn can_be_shown(setting: &Setting, value: &Value) -> bool {
    setting.can_be_shown(&inline(value))
}

impl SettingLine {
    pub(crate) fn of(setting: &Setting, config: &Config) -> Self {
        let given = config.given(setting);
        let origin = given.map(|given| given.origin.clone());
        let value = given.map(|given| &given.value);
        let hidden = value.is_some_and(|value| !can_be_shown(setting, value));
        let value = value.or(setting.default.as_ref());
        Self {
            r#type: "setting",
            name: setting.name.clone(),
            value: value.filter(|_| !hidden).cloned(),
            from: match origin.clone() {
                None => From::Default,
                Some(ValueOrigin::File { file, line, .. }) => From::File { file, line },
                Some(ValueOrigin::Variable(name)) => From::Variable(name),
                Some(ValueOrigin::Changed { seq, by, at }) => From::Event {
                    event: seq.0,
                    by,
                    at: at.to_string(),
                },
                Some(ValueOrigin::Flag(flag)) => From::Flag(flag),
                Some(ValueOrigin::Asked) => From::Asked,
                Some(ValueOrigin::Log) => From::Log,
            },
            origin,
            default: setting.default.clone(),
            unset: setting.unset.clone(),
            about: setting.sentence.clone(),
            expects: setting.expects(),
            aliases: setting.aliases.clone(),
            variable: setting.variable(),
            applies: setting.applies,
            hidden,
        }
    }

    /// In one line: name, value and origin.
    pub(crate) fn in_short(&self) -> String {
        let aliases = match self.aliases.as_slice() {
            [alias] if !self.name.ends_with(&format!(".{alias}")) => format!(" ({alias})"),
            _ => String::new(),
        };
        let from = match &self.origin {
            Some(from) => format!("  # {from}"),
            None => String::new(),
        };
        format!("{}{aliases} = {}{from}", self.name, self.value())
    }

    /// Everything about it, in several lines.
    pub(super) fn in_full(&self) -> Vec<String> {
        let origin = self.origin.as_ref().map(ToString::to_string);
        let from = origin.unwrap_or_else(|| "the default".to_owned());
        let default = match (&self.default, &self.unset) {
            (Some(default), _) => format!("; default: {}", inline(default)),
            (None, Some(unset)) => format!("; default: {unset}"),
            (None, None) => String::new(),
        };
        let alias = match self.aliases.as_slice() {
            [] => String::new(),
            aliases => format!("; in the documents: {}", aliases.join(", ")),
        };
        let applies = match self.applies {
            Applies::NextTick => {
                "`dormouse config set` changes it; a change applies from the assistant's next tick on"
            }
            Applies::Start => "it is read when the program starts",
        };
        vec![
            format!("{} = {}", self.name, self.value()),
            self.about.clone(),
            format!("from: {from}"),
            format!("expected: {}{default}", self.expects),
            format!("variable: {}{alias}", self.variable),
            applies.to_owned(),
        ]
    }

    fn value(&self) -> String {
        match (&self.value, &self.unset) {
            (Some(value), _) => inline(value),
            (None, _) if self.hidden => "(not shown: it may hold a key)".to_owned(),
            (None, Some(unset)) => format!("({unset})"),
            (None, None) => "(nothing)".to_owned(),
        }
    }
}
