//! Where values come from: the file, the environment, and changes by operators.

use std::{ffi::OsString, fmt, path::Path};

use dormouse_contracts::{Seq, Timestamp};
use dormouse_engine::{ChangedSetting, ChangedSettings};
use serde_json::Value;

use super::{
    Config, ConfigFileError,
    checks::Conflict,
    position,
    section::Section,
    table::{Applies, PREFIX, Setting, find, nearest, settings},
    values::{inline, of_text},
};

/// A value that is not a default, and where it was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The value.
    pub value: Value,
    /// Where it was given.
    pub origin: ValueOrigin,
}

/// Where a value was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// In the file.
    File {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The column of the value in characters, counted from 1.
        column: usize,
    },
    /// By an environment variable.
    Variable(String),
    /// By an operator, while the program ran.
    Changed {
        /// The event.
        seq: Seq,
        /// Who.
        by: String,
        /// When.
        at: Timestamp,
    },
    /// By a flag of the command line.
    Flag(&'static str),
    /// By a change that is only being checked.
    Asked,
    /// The assistant's own log says who it is.
    Log,
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line, .. } => write!(f, "{file}:{line}"),
            Self::Variable(name) => f.write_str(name),
            Self::Changed { seq, by, at } => write!(f, "event {seq} by {by} at {at}"),
            Self::Flag(flag) => f.write_str(flag),
            Self::Asked => f.write_str("this change"),
            Self::Log => f.write_str("the assistant's log"),
        }
    }
}

impl ValueOrigin {
    /// The place for a message about the value: with the column, if it is in a file.
    pub(super) fn place(&self) -> String {
        match self {
            Self::File { column, .. } => format!("{self}:{column}"),
            _ => self.to_string(),
        }
    }
}

/// A value that a setting cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidValue(String);

impl From<Conflict> for InvalidValue {
    fn from(conflict: Conflict) -> Self {
        Self(conflict.problem().to_owned())
    }
}

impl Setting {
    /// Reads the value from a command line or the environment. It is TOML, but a string needs no quotes.
    ///
    /// # Errors
    ///
    /// [`InvalidValue`], which says what was expected.
    pub fn read(&self, text: &str) -> Result<Value, InvalidValue> {
        let value = of_text(text, self.is_text());
        self.alone(&value)?;
        Ok(value)
    }

    /// Checks that an operator can change this setting for an assistant.
    ///
    /// # Errors
    ///
    /// [`InvalidValue`] if it is read when the program starts.
    pub fn may_be_changed(&self) -> Result<(), InvalidValue> {
        match self.applies {
            Applies::NextTick => Ok(()),
            Applies::Start => Err(InvalidValue(format!(
                "{} is read when the program starts, so it is not changed while it runs; set it in the file, or with {}",
                self.name,
                self.variable()
            ))),
        }
    }

    /// A configuration with this value alone.
    pub(super) fn alone(&self, value: &Value) -> Result<Config, InvalidValue> {
        let (section, name) = self.place();
        let text = match section {
            "" => format!("{name} = {}\n", inline(value)),
            _ => format!("[{section}]\n{name} = {}\n", inline(value)),
        };
        super::parse(None, &text).map_err(|mistake| InvalidValue(mistake.problem().to_owned()))
    }
}

impl Config {
    /// The value that somebody gave for a setting, and where; `None` if it has its default.
    #[must_use]
    pub fn given(&self, setting: &Setting) -> Option<&Given> {
        self.given.get(&setting.name)
    }

    /// Notes which values the file gives, and in which lines.
    pub(super) fn note_file(&mut self, file: &Path, text: &str) {
        let Ok(values) = toml::from_str::<toml::Table>(text) else {
            return;
        };
        let Ok(places) = toml::de::DeTable::parse(text) else {
            return;
        };
        for setting in settings() {
            let (section, name) = setting.place();
            let (value, line) = match section {
                "" => (values.get(name), places.get_ref().get_key_value(name)),
                _ => (
                    values.get(section).and_then(|section| section.get(name)),
                    places
                        .get_ref()
                        .get(section)
                        .and_then(|section| section.get_ref().as_table()?.get_key_value(name)),
                ),
            };
            let (Some(value), Some((_, place))) = (value, line) else {
                continue;
            };
            let (line, column) = position::of(text, place.span().start);
            let file = file.display().to_string();
            let origin = ValueOrigin::File { file, line, column };
            if let Ok(value) = serde_json::to_value(value) {
                self.given
                    .insert(setting.name.clone(), Given { value, origin });
            }
        }
    }

    /// Applies environment variables such as `DORMOUSE_LIMITS__TICK_RATE`. The file has priority.
    pub(super) fn take_variables(
        &mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(), ConfigFileError> {
        let mut variables: Vec<_> = variables
            .into_iter()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| {
                let rest = name.strip_prefix(PREFIX);
                // Other variables of the program, such as DORMOUSE_API_KEY, have no section.
                let has_section = rest.is_some_and(|rest| rest.contains("__"));
                has_section || settings().iter().any(|setting| setting.variable() == *name)
            })
            .collect();
        // The environment has no fixed order. Sorting makes the reported error independent of it.
        variables.sort();
        for (variable, value) in variables {
            let failed = |problem: String| ConfigFileError::Variable {
                variable: variable.clone(),
                problem,
            };
            let Some(setting) = settings()
                .iter()
                .find(|setting| setting.variable() == variable)
            else {
                let name = variable
                    .trim_start_matches(PREFIX)
                    .replace("__", ".")
                    .to_lowercase();
                let near: Vec<_> = nearest(&name)
                    .iter()
                    .filter_map(|name| find(name).ok())
                    .map(Setting::variable)
                    .collect();
                return Err(failed(match near.is_empty() {
                    true => {
                        "it is not the name of a setting; `dormouse config list` prints all of them"
                            .to_owned()
                    }
                    false => format!(
                        "it is not the name of a setting; did you mean {}?",
                        near.join(" or ")
                    ),
                }));
            };
            let text = value.into_string();
            let text = text.map_err(|_lossy| failed("its value is not UTF-8 text".to_owned()))?;
            let value = of_text(&text, setting.is_text());
            let alone = setting.alone(&value);
            let mut alone = alone.map_err(|error| failed(error.to_string()))?;
            if self.given.contains_key(&setting.name) {
                continue;
            }
            alone.locate(&format!("the environment variable {variable}"));
            let origin = ValueOrigin::Variable(variable);
            self.take(setting, alone);
            let name = setting.name.clone();
            self.given.insert(name, Given { value, origin });
        }
        Ok(self.agree()?)
    }

    /// The same configuration with what operators changed for one assistant, and a warning for each change that cannot be
    /// used any more.
    #[must_use]
    pub(crate) fn with_changes(&self, changes: &ChangedSettings) -> (Self, Vec<String>) {
        // Changes that were made together may be valid only together.
        if let Ok(config) = self.with_all_changes(changes) {
            return (config, Vec::new());
        }
        let mut config = self.clone();
        let mut left: Vec<_> = changes.iter().collect();
        left.sort_by_key(|(_, changed)| changed.seq);
        // A change may depend on another one that comes later in the list. So refused changes are tried again after the
        // others.
        loop {
            let before = left.len();
            left.retain(|(name, changed)| config.take_change(name, changed).is_err());
            if left.len() == before {
                break;
            }
        }
        let ignored = left.into_iter().filter_map(|(name, changed)| {
            let problem = config.take_change(name, changed).err()?;
            let (seq, by) = (changed.seq, &changed.by);
            Some(format!(
                "the change of {name} in event {seq} by {by} is ignored: {problem}"
            ))
        });
        let warnings = ignored.collect();
        (config, warnings)
    }

    fn with_all_changes(&self, changes: &ChangedSettings) -> Result<Self, InvalidValue> {
        let mut config = self.clone();
        for (name, changed) in changes.iter() {
            config.take_value(name, &changed.value)?;
            config.note_change(name, changed);
        }
        config.agree().map_err(InvalidValue::from)?;
        Ok(config)
    }

    fn take_change(&mut self, name: &str, changed: &ChangedSetting) -> Result<(), InvalidValue> {
        let mut config = self.clone();
        config.take_value(name, &changed.value)?;
        config.agree().map_err(InvalidValue::from)?;
        *self = config;
        self.note_change(name, changed);
        Ok(())
    }

    fn note_change(&mut self, name: &str, changed: &ChangedSetting) {
        let value = changed.value.clone();
        let origin = ValueOrigin::Changed {
            seq: changed.seq,
            by: changed.by.clone(),
            at: changed.at,
        };
        let given = Given { value, origin };
        self.given.insert(name.to_owned(), given);
    }

    /// Takes another value for one setting of an assistant. Whether it agrees with the others is not checked.
    fn take_value(&mut self, name: &str, value: &Value) -> Result<(), InvalidValue> {
        let setting = find(name).map_err(|error| InvalidValue(error.to_string()))?;
        setting.may_be_changed()?;
        let alone = setting.alone(value)?;
        self.take(setting, alone);
        Ok(())
    }

    /// Sets the value that a flag gives, so that it is shown. The reader of the flags has checked it.
    pub fn take_flag(&mut self, setting: &Setting, value: Value, flag: &'static str) {
        let origin = ValueOrigin::Flag(flag);
        self.given
            .insert(setting.name.clone(), Given { value, origin });
    }

    /// Removes the identity of the configured assistant, because this configuration is for another one.
    pub(crate) fn forget_assistant(&mut self) {
        self.assistant = super::AssistantSection::default();
        self.given.retain(|name, _| !name.starts_with("assistant."));
    }

    /// Notes that the values of `[assistant]` come from the assistant's own log.
    pub(crate) fn note_log(&mut self) {
        let section = &self.assistant;
        let texts = [
            ("persona", section.persona.as_ref()),
            ("apology", Some(&section.apology)),
            ("broken_off", Some(&section.broken_off)),
            ("outage_notice", Some(&section.outage_notice)),
            ("stop_notice", Some(&section.stop_notice)),
            ("budget_notice", Some(&section.budget_notice)),
            ("wait_notice", Some(&section.wait_notice)),
            ("name", section.name.as_ref()),
        ];
        let texts = texts
            .into_iter()
            .filter_map(|(name, text)| Some((name, Value::from(text?.clone()))));
        let enabled = ("enabled", Value::from(section.enabled));
        let given: Vec<_> = texts.chain([enabled]).collect();
        for (name, value) in given {
            let origin = ValueOrigin::Log;
            self.given
                .insert(format!("assistant.{name}"), Given { value, origin });
        }
    }

    pub(super) fn take(&mut self, setting: &Setting, from: Self) {
        let (section, name) = setting.place();
        match section {
            "assistant" => self.assistant.take(name, from.assistant),
            "limits" => self.limits.take(name, from.limits),
            "admission" => self.admission.take(name, from.admission),
            "execution" => self.execution.take(name, from.execution),
            "prompt" => self.prompt.take(name, from.prompt),
            "classify" => self.classify.take(name, from.classify),
            "provider" => self.provider.take(name, from.provider),
            "memory" => self.memory.take(name, from.memory),
            "compaction" => self.compaction.take(name, from.compaction),
            "trust" => self.trust.take(name, from.trust),
            "goals" => self.goals.take(name, from.goals),
            "delegation" => self.delegation.take(name, from.delegation),
            "own" => self.own.take(name, from.own),
            "journal" => self.journal.take(name, from.journal),
            "sleep" => self.sleep.take(name, from.sleep),
            "tools" => self.tools.take(name, from.tools),
            "budgets" => self.budgets.take(name, from.budgets),
            "world" => self.world.take(name, from.world),
            "server" => self.server.take(name, from.server),
            "telemetry" => self.telemetry.take(name, from.telemetry),
            "evennia" => self.evennia.take(name, from.evennia),
            "mcp" => self.mcp.take(name, from.mcp),
            _ => {
                // If a section were missing above, its settings would be ignored.
                debug_assert_eq!(setting.name, "prices", "in {section}");
                self.prices = from.prices;
            }
        }
    }

    /// Stores the place where it was given in each value that is checked only when it is used.
    fn locate(&mut self, place: &str) {
        let provider = &mut self.provider;
        if let Some(key_from) = &mut provider.key_from {
            key_from.name_place(place);
        }
        if let Some(certificates) = &mut provider.certificates {
            certificates.name_place(place);
        }
        let others = self.evennia.residents.values_mut();
        let others = others.map(|it| &mut it.password_from);
        let passwords = self.evennia.password_from.iter_mut().chain(others);
        for source in passwords.chain(self.mcp.token_places()) {
            source.name_place(place);
        }
    }
}
