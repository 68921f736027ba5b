//! The commit point of forgetting, and putting the new files in place after it.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use dormouse_contracts::AssistantId;
use dormouse_host::DataFolder;
use dormouse_memory::Memory;
use dormouse_store::{RedbLog, write_ahead_file};
use serde::{Deserialize, Serialize};

use crate::{
    command::{CommandError, CommandFailure, block_on, make_memory_again, remark},
    exit::Exit,
};

/// The suffix of a new file until it replaces the old one.
pub(super) const NEW: &str = ".forgetting";
/// The name of the journal.
const JOURNAL: &str = "forget.json";

/// What is left to do. It contains names of files of the data folder, and no words of people.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Journal {
    /// Files whose new version is complete, and lies next to them.
    pub(super) replace: Vec<PathBuf>,
    /// Files that are removed: what is derived from the log, and old copies.
    pub(super) remove: Vec<PathBuf>,
    /// The assistants whose memory is rebuilt from the log.
    pub(super) memories: Vec<AssistantId>,
}

/// A file could not be put in place.
#[derive(Debug, thiserror::Error)]
#[error("{} could not be written; {}", file.display(), match is_done {
    true => "not all files are rewritten yet: the next command continues",
    false => "nothing was forgotten, and nothing else was changed",
})]
pub(super) struct FileError {
    pub(super) file: PathBuf,
    /// Whether it is past the commit point.
    pub(super) is_done: bool,
    #[source]
    pub(super) source: io::Error,
}

impl CommandFailure for FileError {
    fn exit(&self) -> Exit {
        Exit::Failure
    }
}

/// The name of the new version of a file.
pub(super) fn new_form(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(NEW);
    PathBuf::from(name)
}

impl Journal {
    /// Writes the journal to the disk. This is the commit point: after a crash the next start completes the forgetting.
    pub(super) fn commit(&self, data: &DataFolder) -> Result<(), CommandError> {
        let journal = data.path().join(JOURNAL);
        let written = serde_json::to_vec(self).map_err(io::Error::from);
        let written = written.and_then(|bytes| write_whole(&journal, &bytes));
        written.map_err(|source| {
            remove_new_files(data.path());
            let is_done = false;
            FileError {
                file: journal,
                is_done,
                source,
            }
            .into()
        })
    }
}

/// Writes a file under another name, and gives it its name when it is on disk.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = new_form(path);
    let mut file = File::create(&new)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if let Err(error) = written.and_then(|()| fs::rename(&new, path)) {
        // The incomplete file is useless.
        drop(fs::remove_file(&new));
        return Err(error);
    }
    sync_folder(path)
}

/// Syncs the folder: only then the new name of a file is on disk.
fn sync_folder(file: &Path) -> io::Result<()> {
    match file.parent() {
        Some(folder) if cfg!(unix) => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

/// Completes an interrupted forgetting, if there is one. Every command does this first.
pub(crate) fn finish_pending(data: &DataFolder) -> Result<(), CommandError> {
    if data.path().join(JOURNAL).exists() {
        // The program that has the log open owns the folder, and finishes it.
        finish(data, RedbLog::open_existing(&data.log())?)?;
        remark(
            "an interrupted forgetting is complete now: the files were rewritten, and the memory was rebuilt",
        );
        return Ok(());
    }
    // New files without a journal come from a forgetting that was interrupted before its commit point. But while
    // another process has the log open, a forgetting may still be under way.
    if has_new_files(data.path()) && RedbLog::open_existing(&data.log()).is_ok() {
        remove_new_files(data.path());
        remark(
            "a forgetting was interrupted before its commit point: nothing was forgotten; run it again",
        );
    }
    Ok(())
}

/// Puts the new files in place. Each step may have been done before. `old` locks out other processes until the new log
/// is in place.
pub(super) fn finish(data: &DataFolder, old: RedbLog) -> Result<(), CommandError> {
    let path = data.path().join(JOURNAL);
    let failed = |file: &Path| {
        let file = file.to_owned();
        move |source| FileError {
            file,
            is_done: true,
            source,
        }
    };
    let bytes = match fs::read(&path) {
        // Another process has finished it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        bytes => bytes.map_err(failed(&path))?,
    };
    let journal: Journal = serde_json::from_slice(&bytes)?;
    for file in &journal.replace {
        let file = data.path().join(file);
        match fs::rename(new_form(&file), &file) {
            // This step was done before.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            renamed => renamed.map_err(failed(&file))?,
        }
    }
    for file in &journal.remove {
        remove(&data.path().join(file)).map_err(failed(file))?;
    }
    // The old log has taken it over, and only warns if it cannot remove it.
    let ahead = write_ahead_file(&data.log());
    remove(&ahead).map_err(failed(&ahead))?;
    sync_folder(&path).map_err(failed(data.path()))?;
    drop(old);
    let log = RedbLog::open_existing(&data.log())?;
    for key in &journal.memories {
        // The old memory is removed first, so that no memory is older than the new log.
        for file in Memory::files(&data.memory(key)) {
            remove(&file).map_err(failed(&file))?;
        }
        block_on(make_memory_again(data, &log, key))??;
    }
    remove(&path).map_err(failed(&path))?;
    sync_folder(&path).map_err(failed(data.path()))?;
    drop(log);
    Ok(())
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn new_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let names = entries.flatten().map(|entry| entry.path());
    names
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // The second pattern is for a database that was being created.
            name.ends_with(NEW) || (name.starts_with('.') && name.contains(&format!("{NEW}.")))
        })
        .collect()
}

fn has_new_files(folder: &Path) -> bool {
    !new_files(folder).is_empty()
}

/// Removes incomplete new files.
pub(super) fn remove_new_files(folder: &Path) {
    for file in new_files(folder) {
        if let Err(error) = remove(&file) {
            tracing::warn!(%error, file = %file.display(), "a new file is left behind");
        }
    }
}
