//! `dormouse config`: the settings, where their values come from, and changing them; and `dormouse init`.

mod change;
mod line;

use std::{fs, io, path::PathBuf};

use clap::Subcommand;
use dormouse_contracts::AssistantId;
use dormouse_engine::State;
use dormouse_host::{
    DataFolder,
    config::{
        Config, ConfigFileError, ConfigSource, UnknownSetting, example, find, schema, settings,
    },
    provider::{ModelSelection, select},
};
use dormouse_sandbox::landmarks;
use dormouse_store::LogOpenError;
use serde::Serialize;

use crate::{
    command::{
        AssistantLog, CommandError, CommandFailure, JsonFlag, Places, Printing, Whose, operator,
        remark, say, stdout, view_state,
    },
    exit::{Exit, Report, file_exit},
    provider::{ProviderFlags, environment},
};
pub(crate) use line::SettingLine;

/// Managing settings.
#[derive(Debug, Subcommand)]
pub(crate) enum Settings {
    /// Print every setting with its value and where that comes from
    List {
        #[command(flatten)]
        of: Whose,
        #[command(flatten)]
        provider: ProviderFlags,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Print everything about one setting
    Show {
        /// Its name, as in limits.tick_rate, or its documented name, as in llm_temperature
        name: String,
        #[command(flatten)]
        of: Whose,
        #[command(flatten)]
        provider: ProviderFlags,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Check a configuration file, the environment and the changes of operators
    Check {
        /// The file [default: the one that the other commands read]
        file: Option<PathBuf>,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Change a setting of one assistant; this applies from its next tick on, and the log says who did it
    Set {
        /// Its name
        name: String,
        /// The value, as in the file; a text needs no quotes
        #[arg(allow_negative_numbers = true)]
        value: String,
        #[command(flatten)]
        of: Whose,
        /// Who changes it, for the log [default: your user name]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Take a change back, so that the value of the configuration applies again
    Unset {
        /// Its name
        name: String,
        #[command(flatten)]
        of: Whose,
        /// Who takes it back, for the log [default: your user name]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Print the JSON Schema of the configuration file
    Schema,
}

impl CommandFailure for UnknownSetting {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// Prints, checks or changes settings.
pub(crate) fn run(places: &Places, command: Settings) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    match command {
        Settings::List { of, provider, json } => {
            let printing = json.printing();
            let view = View::open(places, &data, &of, &provider, printing)?;
            for setting in settings() {
                let line = SettingLine::of(setting, &view.config);
                printing.print(&line, || line.in_short())?;
            }
            view.warn();
        }
        Settings::Show {
            name,
            of,
            provider,
            json,
        } => {
            let (printing, setting) = (json.printing(), find(&name)?);
            let view = View::open(places, &data, &of, &provider, printing)?;
            let line = SettingLine::of(setting, &view.config);
            printing.print(&line, || line.in_full())?;
            view.warn();
        }
        Settings::Check { file, json } => check(places, &data, file, json.printing())?,
        Settings::Set {
            name,
            value,
            of,
            by,
            json,
        } => {
            let (setting, by) = (find(&name)?, operator(by)?);
            let (config, _) = places.configuration(&data)?;
            let log = AssistantLog::open(places, &data, of.assistant)?;
            let asked = (setting, Some(value));
            change::change(&log, &config, asked, &by, json.printing())?;
        }
        Settings::Unset { name, of, by, json } => {
            let (setting, by) = (find(&name)?, operator(by)?);
            let (config, _) = places.configuration(&data)?;
            let log = AssistantLog::open(places, &data, of.assistant)?;
            change::change(&log, &config, (setting, None), &by, json.printing())?;
        }
        Settings::Schema => {
            // The text is the program's own, and keeps its lines.
            let schema = serde_json::to_string_pretty(&schema())?;
            io::Write::write_all(&mut stdout(), format!("{schema}\n").as_bytes())?;
        }
    }
    Ok(Exit::Success)
}

/// The present settings of one assistant.
struct View {
    key: AssistantId,
    config: Config,
    warnings: Vec<String>,
}

/// The selected assistant, its configuration with what its log says, and its state.
pub(crate) fn effective(
    places: &Places,
    data: &DataFolder,
    of: &Whose,
    printing: Printing,
) -> Result<(AssistantId, Config, State), CommandError> {
    let (config, _) = places.configuration(data)?;
    let (key, state) = state_of(places, data, of, &config, printing)?;
    let (config, _) = config.read_for(&key, &state);
    Ok((key, config, state))
}

/// The selected assistant and its state. Without a log, the configured assistant with an empty state.
fn state_of(
    places: &Places,
    data: &DataFolder,
    of: &Whose,
    config: &Config,
    printing: Printing,
) -> Result<(AssistantId, State), CommandError> {
    match view_state(places, data, of.assistant.clone(), printing) {
        Err(CommandError::LogOpen(LogOpenError::Absent { .. })) if of.assistant.is_none() => {
            Ok((config.assistant.key(), State::default()))
        }
        other => other,
    }
}

impl View {
    /// The configuration, with the values of the selected assistant's log and of the flags. Without a log it is that of
    /// the configured assistant.
    fn open(
        places: &Places,
        data: &DataFolder,
        of: &Whose,
        flags: &ProviderFlags,
        printing: Printing,
    ) -> Result<Self, CommandError> {
        let (config, _) = places.configuration(data)?;
        let (key, state) = state_of(places, data, of, &config, printing)?;
        let (mut config, warnings) = config.read_for(&key, &state);
        for (name, value, flag) in flags.settings() {
            config.take_flag(find(name)?, value.into(), flag);
        }
        Ok(Self {
            key,
            config,
            warnings,
        })
    }

    fn warn(&self) {
        for warning in &self.warnings {
            remark(&format!("{}: {warning}", self.key));
        }
    }
}

/// What was checked, as JSON.
#[derive(Serialize)]
struct CheckedLine {
    r#type: &'static str,
    /// `null` if there is no file.
    file: Option<String>,
    warnings: Vec<String>,
}

/// Checks the file, or the configured one with the environment and the changes of every assistant.
fn check(
    places: &Places,
    data: &DataFolder,
    file: Option<PathBuf>,
    printing: Printing,
) -> Result<(), CommandError> {
    let places = Places {
        config: file.or_else(|| places.config.clone()),
        ..places.clone()
    };
    let (config, source) = places.configuration(data)?;
    let of_all = config.warnings(&landmarks());
    let mut warnings = of_all.clone();
    // A provider or a model of a list may lack its key.
    let chosen = select(&ModelSelection::default(), &config.provider, &environment());
    let usable = chosen.and_then(|chosen| chosen.lists(&config.provider));
    warnings.extend(usable.err().map(|error| Report(&error).to_string()));
    match crate::command::view_states(data, printing) {
        Ok(states) => {
            for (key, state) in states {
                let (of_it, ignored) = config.read_for(&key, &state);
                let of_it = of_it.warnings(&landmarks()).into_iter();
                let own = of_it.filter(|warning| !of_all.contains(warning));
                let own = own
                    .chain(ignored)
                    .map(|warning| format!("{key}: {warning}"));
                warnings.extend(own);
            }
        }
        Err(CommandError::LogOpen(LogOpenError::Absent { .. })) => {}
        Err(error) => return Err(error),
    }
    let file = match source {
        ConfigSource::File(path) => Some(path.display().to_string()),
        ConfigSource::Defaults => None,
    };
    let line = CheckedLine {
        r#type: "checked",
        file,
        warnings,
    };
    printing.print(&line, || {
        let checked = match &line.file {
            Some(file) => format!("the configuration {file} is valid"),
            None => "there is no configuration file; the defaults apply".to_owned(),
        };
        let warnings = line.warnings.iter().cloned();
        std::iter::once(checked).chain(warnings).collect::<Vec<_>>()
    })
}

/// A configuration file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{} could not be written; an existing file is never overwritten", path.display())]
struct InitError {
    path: PathBuf,
    source: io::Error,
}

impl CommandFailure for InitError {
    fn exit(&self) -> Exit {
        file_exit(&self.source)
    }
}

/// Writes a configuration file with every setting commented out.
pub(crate) fn init(places: &Places) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let path = match &places.config {
        Some(path) => path.clone(),
        None => {
            data.create()?;
            data.config()
        }
    };
    let failed = |source| InitError {
        path: path.clone(),
        source,
    };
    let mut file = fs::File::create_new(&path).map_err(failed)?;
    io::Write::write_all(&mut file, example().as_bytes()).map_err(failed)?;
    say(&format!(
        "{} is written; every setting in it is commented out and has its default",
        path.display()
    ))?;
    Ok(Exit::Success)
}

impl Places {
    /// The configuration: the file, and the environment for settings that are not in the file.
    pub(crate) fn configuration(
        &self,
        data: &DataFolder,
    ) -> Result<(Config, ConfigSource), ConfigFileError> {
        let config = self.config.as_deref();
        let (config, source) = Config::load(config, &data.config(), std::env::vars_os())?;
        config.fits_into(&landmarks())?;
        Ok((config, source))
    }
}
