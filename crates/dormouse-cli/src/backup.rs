//! `dormouse backup`: a copy of the data folder, also while assistants live in it.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use dormouse_contracts::Clock;
use dormouse_host::{BackupError, SystemClock, WorldFile, back_up};

use crate::{
    command::{
        CommandError, CommandFailure, Places, block_on, callers_path, callers_world,
        open_log_to_write, say,
    },
    data::quoted,
    exit::{Exit, file_exit},
    grammar::counted,
};

/// Where the copy goes.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The folder to create, which you can use as a data folder. Keep it as safe as the original: it contains everything that was said
    #[arg(value_name = "FOLDER")]
    into: PathBuf,
}

/// Makes the copy, and says how to use it.
pub(crate) fn run(places: &Places, backup: &Backup) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let into = callers_path(&backup.into);
    let log = open_log_to_write(&data)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let worlds = WorldFile::all(&data, callers_world().as_ref(), &clock)?;
    let report = block_on(back_up(&data, &log, &worlds, &into))??;
    let assistants = counted(report.assistants as u64, "assistant", "assistants");
    let events = counted(report.events, "event", "events");
    let place = quoted(&into.display().to_string());
    say(&format!(
        "backed up {assistants} with {events} ({} KiB) to {place}. To use the copy: dormouse --data {place} run",
        report.bytes.div_ceil(1024)
    ))?;
    Ok(Exit::Success)
}

impl CommandFailure for BackupError {
    fn exit(&self) -> Exit {
        match self {
            Self::Exists { .. } | Self::Folder(_) => Exit::Usage,
            Self::File { source, .. } => file_exit(source),
            Self::Read(_) | Self::Copy(_) | Self::Damaged => Exit::Damaged,
            _ => Exit::Failure,
        }
    }
}
