//! Changing settings of one assistant: what operators ask for, checked as a whole, as events.

use std::collections::BTreeMap;

use dormouse_contracts::AssistantId;
use dormouse_engine::{Event, SettingChanged, State};
use serde_json::Value;

use super::{
    Config, Given, InvalidValue, ValueOrigin,
    table::{Setting, UnknownSetting, find},
};

/// New values of settings by their names, as somebody writes them at a command line; `None` takes a change back.
pub type AskedSettings = BTreeMap<String, Option<String>>;

/// Settings cannot be changed so. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingChangeError {
    /// There is no such setting.
    #[error(transparent)]
    Unknown(#[from] UnknownSetting),
    /// The setting cannot have this value.
    #[error("{setting}: {problem}")]
    Value {
        /// The name of the setting.
        setting: String,
        /// What was expected.
        problem: InvalidValue,
    },
    /// The setting cannot be changed while the program runs, or contradicts another one.
    #[error("{setting}: {problem}")]
    Refused {
        /// The name of the setting.
        setting: String,
        /// Why.
        problem: InvalidValue,
    },
    /// The value looks like a secret.
    #[error("{setting}: it seems to contain a key or a password, which must not be in a setting")]
    Secret {
        /// The name of the setting.
        setting: String,
    },
}

/// A change of settings that is possible.
#[derive(Clone, Debug)]
pub struct SettingsChange {
    /// The configuration with the change.
    pub config: Config,
    /// The value of each setting before and after, also if it stays the same.
    pub settings: Vec<SettingChanged>,
}

impl SettingsChange {
    /// The events; none if all settings already have these values.
    pub fn events(self) -> impl Iterator<Item = Event> {
        let settings = self.settings.into_iter();
        let changed = settings.filter(|setting| setting.old != setting.new);
        changed.map(Event::SettingChanged)
    }
}

impl Config {
    /// The change of settings of an assistant in this state. Either all of it is possible or nothing: settings that depend on each
    /// other are checked once all have their new values.
    ///
    /// # Errors
    ///
    /// [`SettingChangeError`].
    pub fn change_of(
        &self,
        (key, state): (&AssistantId, &State),
        asked: &AskedSettings,
        by: &str,
    ) -> Result<SettingsChange, SettingChangeError> {
        let mut config = self.read_for(key, state).0;
        let mut settings = Vec::new();
        let mut given = None;
        for (name, text) in asked {
            let setting = find(name)?;
            let refused = |problem| SettingChangeError::Refused {
                setting: setting.name.clone(),
                problem,
            };
            // Checked first: the error that a setting cannot be changed at all says more than one about its value.
            setting.may_be_changed().map_err(refused)?;
            let (old, new) = match text {
                Some(text) => {
                    let value = setting.value_of(text)?;
                    let old = config.in_force(setting);
                    let alone = setting.alone(&value).map_err(refused)?;
                    config.take(setting, alone);
                    let asked = Given {
                        value: value.clone(),
                        origin: ValueOrigin::Asked,
                    };
                    config.given.insert(setting.name.clone(), asked);
                    given = given.or(Some(setting));
                    (old, Some(value))
                }
                None => {
                    let changed = state.changed_settings.get(&setting.name);
                    // The file describes only the configured assistant. For another one, its log has the value before
                    // the change.
                    let is_of_its_log =
                        setting.name.starts_with("assistant.") && self.assistant.key() != *key;
                    let before = changed.filter(|_| is_of_its_log);
                    let before = before.and_then(|changed| changed.before.clone());
                    if changed.is_some() && !is_of_its_log {
                        config.take(setting, self.clone());
                        match self.given(setting) {
                            Some(given) => config.given.insert(setting.name.clone(), given.clone()),
                            None => config.given.remove(&setting.name),
                        };
                    }
                    (changed.map(|changed| changed.value.clone()), before)
                }
            };
            settings.push(SettingChanged {
                setting: setting.name.clone(),
                old,
                new,
                by: by.to_owned(),
            });
        }
        // Something may be taken back that another change needs: that one is then ignored with a warning.
        if let Some(setting) = given {
            let agree = config.agree();
            agree.map_err(|problem| SettingChangeError::Refused {
                setting: setting.name.clone(),
                problem: problem.into(),
            })?;
        }
        Ok(SettingsChange { config, settings })
    }

    /// The value of a setting that is in force.
    pub(super) fn in_force(&self, setting: &Setting) -> Option<Value> {
        let given = self.given(setting).map(|given| given.value.clone());
        given.or_else(|| setting.default.clone())
    }
}

impl Setting {
    /// The value that this text gives, unless it looks like a secret.
    fn value_of(&self, text: &str) -> Result<Value, SettingChangeError> {
        let setting = || self.name.clone();
        let value = self
            .read(text)
            .map_err(|problem| SettingChangeError::Value {
                setting: setting(),
                problem,
            })?;
        match self.can_be_shown(text) {
            true => Ok(value),
            false => Err(SettingChangeError::Secret { setting: setting() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked<const N: usize>(values: [(&str, Option<&str>); N]) -> AskedSettings {
        let owned = |(name, text): (&str, Option<&str>)| (name.to_owned(), text.map(str::to_owned));
        values.map(owned).into()
    }

    fn change(config: &Config, values: &AskedSettings) -> Result<usize, String> {
        let (key, state) = (config.assistant.key(), State::default());
        let change = config.change_of((&key, &state), values, "Ann");
        let change = change.map_err(|error| error.to_string())?;
        Ok(change.events().count())
    }

    #[test]
    fn settings_that_depend_on_each_other_change_together_or_not_at_all() {
        let config = Config::default();
        let gruff = ("prompt.template", Some("gruff"));
        let kept = ("prompt.templates", Some("{ gruff = \"You are gruff.\" }"));
        assert_eq!(change(&config, &asked([gruff, kept])), Ok(2));
        assert!(change(&config, &asked([gruff])).is_err());
        let wrong = ("limits.max_history", Some("-1"));
        assert!(change(&config, &asked([gruff, kept, wrong])).is_err());
        assert_eq!(
            change(&config, &asked([("limits.max_history", None)])),
            Ok(0)
        );
        let secret = (
            "prompt.native",
            Some("sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB"),
        );
        assert!(change(&config, &asked([secret])).is_err());
    }
}
