//! `dormouse doctor`: checks whether everything is present, undamaged and usable.

use std::{
    error::Error,
    fs,
    io::{self, Write},
    sync::Arc,
};

use dormouse_contracts::broken_invariants;
use dormouse_host::{DataFolder, SystemClock};
use dormouse_sandbox::{Sandbox, landmarks};
use dormouse_store::{LogOpenError, RedbLog};

use crate::{
    args::Doctor,
    command::{Places, callers_host, callers_world, log_open_exit, world_exit},
    config::{Config, ConfigSource, privacy},
    data::LocateError,
    exit::{Exit, Report},
    finding::{self, Finding},
    grammar::counted,
};

mod files;
mod life;
mod memory;
mod models;
mod secrets;
mod services;
mod vectors;

/// How many bytes are written to test the folder: as many as a file needs.
const TRIAL_BYTES: usize = 1 << 20;

/// Nothing could be checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DoctorError {
    #[error(transparent)]
    Data(#[from] LocateError),
    #[error("output could not be written")]
    Output(#[from] io::Error),
}

impl DoctorError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Data(error) => error.exit(),
            Self::Output(_) => Exit::Failure,
        }
    }
}

/// Checks everything and prints a line for each check. The exit code is that of the first error; warnings do not change
/// it.
pub(crate) fn run(places: &Places, doctor: &Doctor) -> Result<Exit, DoctorError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let (configuration, config) = configuration(places, &data);
    let mut findings = vec![folder(&data)];
    findings.extend(files::findings(&data, config.as_ref()));
    let (finding, log) = log(&data);
    findings.push(finding);
    let (finding, world) = world(&data);
    findings.push(finding);
    findings.push(configuration);
    if let Some(config) = &config {
        let landmarks = landmarks();
        let warnings = config.warnings(&landmarks).into_iter();
        findings.extend(warnings.map(Finding::Doubtful));
        findings.push(Finding::Fine(privacy(&config.memory, &landmarks)));
        findings.push(memory::finding(&data, log.as_ref(), config));
        findings.extend(memory::of_others(&data, log.as_ref(), config));
        findings.extend(memory::leftover(&data, config));
        findings.extend(vectors::finding(&data, config));
    }
    if let Some(log) = log {
        findings.extend(life::findings(&data, &log, world.as_ref(), config.as_ref()));
        findings.extend(secrets::finding(&data, &log));
    }
    if let Some(config) = config {
        findings.extend(models::findings(&data, &config, doctor));
    }
    findings.extend(services::findings());
    findings.extend(defects());
    finding::print(&findings)?;
    Ok(finding::exit(&findings))
}

/// Reports if one of the program's own invariants failed during the checks.
fn defects() -> Option<Finding> {
    let broken = broken_invariants();
    let text = format!(
        "the program broke {} of its own; please report this with the lines of its log",
        counted(broken, "assumption", "assumptions")
    );
    (broken > 0).then_some(Finding::Wrong(text, Exit::Failure))
}

fn folder(data: &DataFolder) -> Finding {
    let path = data.path().display();
    match fs::metadata(data.path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Finding::Doubtful(format!(
            "the data folder {path} does not exist yet; play makes it"
        )),
        Err(error) => Finding::Wrong(
            format!("the data folder {path} cannot be reached: {error}"),
            Exit::Failure,
        ),
        Ok(_) => match try_writing(data) {
            Ok(()) => Finding::Fine(format!("the data folder {path} can be written")),
            Err(error) => Finding::Wrong(
                format!("the data folder {path} cannot be written: {error}"),
                Exit::Failure,
            ),
        },
    }
}

/// Writes and removes a file as large as a short visit needs. Checking permissions, or writing a few bytes, would not
/// show whether the disk has room.
fn try_writing(data: &DataFolder) -> io::Result<()> {
    let path = data.path().join(format!(".doctor.{}", std::process::id()));
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)?;
    let written = file
        .write_all(&vec![b'o'; TRIAL_BYTES])
        .and_then(|()| file.sync_all());
    fs::remove_file(&path)?;
    written
}

/// The finding about the log, and the log itself if it is intact.
fn log(data: &DataFolder) -> (Finding, Option<RedbLog>) {
    let opened = match callers_host() {
        Some(host) => Ok(host.log().clone()),
        None => RedbLog::open_existing(&data.log()),
    };
    let log = match opened {
        Err(LogOpenError::Absent { .. }) => {
            return (Finding::Doubtful(no_log(data).to_owned()), None);
        }
        Err(error) => return (wrong(&error, log_open_exit(&error)), None),
        Ok(log) => log,
    };
    match log.verify() {
        Err(error) => (wrong(&error, Exit::Damaged), None),
        Ok(report) if !report.is_intact() => {
            let text = format!("the log is damaged: {report}");
            (Finding::Wrong(text, Exit::Damaged), None)
        }
        Ok(report) if report.assistants.is_empty() => {
            let text = "the log is intact, and empty".to_owned();
            (Finding::Fine(text), Some(log))
        }
        Ok(report) => {
            let text = format!("the log is intact: {report}");
            (Finding::Fine(text), Some(log))
        }
    }
}

fn no_log(data: &DataFolder) -> &'static str {
    match data.world().exists() {
        true => {
            "there is no log, though there is a world: if it was lost, restore it from a backup; play makes a new one"
        }
        false => "there is no log yet; play makes one",
    }
}

fn world(data: &DataFolder) -> (Finding, Option<Sandbox>) {
    if callers_host().is_some() {
        let text = "the world is in use by the assistants that live in it".to_owned();
        let sandbox = callers_world().and_then(|world| world.sandbox().ok().cloned());
        return (Finding::Fine(text), sandbox);
    }
    if data.http_world().exists() && !data.world().exists() {
        let text = "the assistants live in a world outside of the folder".to_owned();
        return (Finding::Fine(text), None);
    }
    if data.game().exists() && !data.world().exists() {
        let text = "the assistants live in a game".to_owned();
        return (Finding::Fine(text), None);
    }
    if !data.world().exists() {
        let text = "there is no world yet; play makes one".to_owned();
        return (Finding::Doubtful(text), None);
    }
    match Sandbox::open(&data.world(), Arc::new(SystemClock)) {
        Ok(world) => (Finding::Fine("the world is intact".to_owned()), Some(world)),
        Err(error) => (wrong(&error, world_exit(&error)), None),
    }
}

fn wrong(error: &dyn Error, exit: Exit) -> Finding {
    Finding::Wrong(Report(error).to_string(), exit)
}

fn configuration(places: &Places, data: &DataFolder) -> (Finding, Option<Config>) {
    match places.configuration(data) {
        Ok((config, ConfigSource::File(path))) => (
            Finding::Fine(format!("the configuration {} is valid", path.display())),
            Some(config),
        ),
        Ok((config, ConfigSource::Defaults)) => (
            Finding::Fine("there is no configuration file; the defaults apply".to_owned()),
            Some(config),
        ),
        Err(error) => (
            Finding::Wrong(Report(&error).to_string(), Exit::Usage),
            None,
        ),
    }
}
