//! `dormouse log salvage`: copies the readable part of a damaged log, and makes the memories again from the copy.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dormouse_contracts::AssistantId;
use dormouse_engine::check_log;
use dormouse_host::{DataFolder, SystemClock};
use dormouse_memory::Memory;
use dormouse_store::{LogOpenError, LogView, RedbLog, SalvageError, write_ahead_file};

use crate::{
    command::{CommandError, CommandFailure, block_on, make_memory_again, rebuild_command, say},
    data::quoted,
    exit::{Exit, file_exit},
};

/// How many damaged logs are kept next to the one in use.
const KEPT_ASIDE: u32 = 64;

/// The new log could not take the place of the damaged one.
#[derive(Debug, thiserror::Error)]
#[error("{} could not replace {}; both are unchanged", new.display(), log.display())]
struct ReplaceError {
    log: PathBuf,
    new: PathBuf,
    source: io::Error,
}

impl CommandFailure for ReplaceError {
    fn exit(&self) -> Exit {
        Exit::Failure
    }
}

/// The former memory, or what belongs to the damaged log, could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("{} could not be renamed, and is unchanged", path.display())]
struct KeepError {
    path: PathBuf,
    source: io::Error,
}

impl CommandFailure for KeepError {
    fn exit(&self) -> Exit {
        Exit::Failure
    }
}

impl CommandFailure for SalvageError {
    fn exit(&self) -> Exit {
        match self {
            Self::Exists { .. } => Exit::Usage,
            Self::Read { source, .. } => file_exit(source),
            _ => Exit::Failure,
        }
    }
}

/// A file that the command line names and that is missing.
#[derive(Debug, thiserror::Error)]
enum NamedFileError {
    #[error("there is no log at {}", .0.display())]
    NoLog(PathBuf),
    #[error("there is no folder {}; name a new file in a folder that exists", .0.display())]
    NoFolder(PathBuf),
}

impl CommandFailure for NamedFileError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// What to do with the new log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewLog {
    /// It stays where it was created; the next steps are printed.
    Stays,
    /// It replaces the data folder's log.
    Replaces,
}

/// Copies the readable part of the log at `from` into a new one at `into`.
pub(super) fn run(
    data: &DataFolder,
    from: &Path,
    into: &Path,
    new_log: NewLog,
) -> Result<Exit, CommandError> {
    if from != data.log() && !from.exists() {
        return Err(NamedFileError::NoLog(from.to_owned()).into());
    }
    refuse_if_in_use(from)?;
    let folder = into
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(NamedFileError::NoFolder(folder.to_owned()).into());
    }
    let report = dormouse_store::salvage(from, into)?;
    for readable in &report.assistants {
        say(&format!("saved {readable}"))?;
    }
    let keys = report.assistants.into_iter().map(|log| log.assistant);
    match new_log {
        NewLog::Replaces => replace(data, into, keys)?,
        NewLog::Stays => {
            say(&format!(
                "the new log is {}; {} was only read",
                into.display(),
                from.display()
            ))?;
            say_next_steps(data, from, into, keys)?;
        }
    }
    Ok(Exit::Success)
}

/// Replaces the damaged log by the new one, and rebuilds the memories that are newer than it.
fn replace(
    data: &DataFolder,
    into: &Path,
    keys: impl Iterator<Item = AssistantId>,
) -> Result<(), CommandError> {
    let path = data.log();
    let aside = swap(&path, into).map_err(|source| ReplaceError {
        log: path.clone(),
        new: into.to_owned(),
        source,
    })?;
    keep_write_ahead_file(&path, &aside)?;
    say(&format!(
        "{} is the new log; the damaged one is kept as {}",
        path.display(),
        aside.display()
    ))?;
    let log = RedbLog::open_existing(&path)?;
    for key in keys.filter(|key| data.memory(key).exists()) {
        if let Some(text) = block_on(follow(data, &log, &key))?? {
            say(&text)?;
        }
    }
    Ok(())
}

/// Gives `new` the name `log`, and returns where the old file is kept. If the file system has hard links, the name
/// always belongs to one of the two files. So a program that starts in between does not create a new log.
fn swap(log: &Path, new: &Path) -> io::Result<PathBuf> {
    let aside = free_name(log, "damaged")?;
    let has_two_names = fs::hard_link(log, &aside).is_ok();
    if !has_two_names {
        fs::rename(log, &aside)?;
    }
    match (fs::rename(new, log), has_two_names) {
        (Ok(()), _) => Ok(aside),
        // Restores the folder.
        (Err(error), true) => fs::remove_file(&aside).and(Err(error)),
        (Err(error), false) => fs::rename(&aside, log).and(Err(error)),
    }
}

/// Moves the write-ahead file of the damaged log along with it. If the program is killed before this move, the new log
/// refuses the write-ahead file, unless the log has all events of the file.
fn keep_write_ahead_file(log: &Path, aside: &Path) -> Result<(), KeepError> {
    let path = write_ahead_file(log);
    match fs::rename(&path, write_ahead_file(aside)) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(KeepError { path, source }),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// An unused name in the folder of a file.
fn free_name(file: &Path, suffix: &str) -> io::Result<PathBuf> {
    let names = (1..=KEPT_ASIDE).map(|number| {
        let mut name = file.as_os_str().to_owned();
        name.push(match number {
            1 => format!(".{suffix}"),
            _ => format!(".{suffix}-{number}"),
        });
        PathBuf::from(name)
    });
    let mut free = names.filter(|name| fs::symlink_metadata(name).is_err());
    free.next().ok_or(io::ErrorKind::AlreadyExists.into())
}

async fn follow(
    data: &DataFolder,
    log: &RedbLog,
    key: &AssistantId,
) -> Result<Option<String>, CommandError> {
    {
        let memory = Memory::builder(key.clone(), SystemClock);
        let memory = memory.open_existing(data.memory(key)).await?;
        match check_log(log, key, &memory).await {
            Err(error) if error.is_mismatch() => {}
            followed => return Ok(followed.map(|()| None)?),
        }
    }
    let path = data.memory(key);
    // The memory may contain records of events that are not in the new log.
    let former = free_name(&path, "former").and_then(|former| {
        fs::rename(&path, &former)?;
        Ok(former)
    });
    let former = former.map_err(|source| KeepError { path, source })?;
    make_memory_again(data, log, key).await?;
    Ok(Some(format!(
        "the memory of {key} is rebuilt from the new log; the former one is kept as {}",
        former.display()
    )))
}

/// Says how to go on with the new log.
fn say_next_steps(
    data: &DataFolder,
    from: &Path,
    into: &Path,
    keys: impl Iterator<Item = AssistantId>,
) -> Result<(), CommandError> {
    if from != data.log() {
        return Ok(());
    }
    let (old, new) = (
        quoted(&from.display().to_string()),
        quoted(&into.display().to_string()),
    );
    let ahead = write_ahead_file(from);
    let ahead = match ahead.exists() {
        true => format!(
            " && mv {} {old}.damaged.wal",
            quoted(&ahead.display().to_string())
        ),
        false => String::new(),
    };
    say(&format!(
        "to go on with it: mv {old} {old}.damaged{ahead} && mv {new} {old}"
    ))?;
    let log = LogView::open(into)?;
    for key in keys.filter(|key| data.memory(key).exists()) {
        if block_on(is_ahead(data, &log, &key))?? {
            say(&format!(
                "the memory of {key} is newer than the log; then run: {}",
                rebuild_command(data)
            ))?;
        }
    }
    say("`dormouse log salvage --replace --into FILE` does all of this at once")?;
    Ok(())
}

async fn is_ahead(
    data: &DataFolder,
    log: &LogView,
    key: &AssistantId,
) -> Result<bool, CommandError> {
    let memory = Memory::builder(key.clone(), SystemClock);
    let memory = memory.open_view(data.memory(key)).await?;
    match check_log(log, key, &memory).await {
        Err(error) if error.is_mismatch() => Ok(true),
        checked => Ok(checked.map(|()| false)?),
    }
}

/// A copy of a log that is being written would mix old and new pages.
fn refuse_if_in_use(from: &Path) -> Result<(), CommandError> {
    match LogView::open(from) {
        Ok(view) if view.is_in_use() => Err(LogOpenError::InUse { path: from.into() }.into()),
        Err(error @ LogOpenError::Absent { .. }) => Err(error.into()),
        // Any other error is the reason to salvage the log.
        Ok(_) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn whenever_the_program_is_killed_there_is_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let [log, new] = ["log.redb", "new.redb"].map(|name| folder.path().join(name));
        fs::write(&log, "old").unwrap();
        let swapping = (log.clone(), new.clone());
        let swaps = thread::spawn(move || {
            let (log, new) = swapping;
            for _ in 0..500 {
                fs::write(&new, "new").unwrap();
                let aside = swap(&log, &new).unwrap();
                assert!(!new.exists() && aside.exists());
                fs::remove_file(aside).unwrap();
            }
        });
        while !swaps.is_finished() {
            assert!(log.exists());
        }
        swaps.join().unwrap();
        swap(&log, &new).unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "as it was");
    }
}
