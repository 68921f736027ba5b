//! The moment from which something is forgotten, and putting the new files in place from then on.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use dormouse_contracts::AssistantId;
use dormouse_host::DataFolder;
use dormouse_memory::Memory;
use dormouse_store::RedbLog;
use serde::{Deserialize, Serialize};

use crate::{
    command::{CommandError, CommandFailure, block_on, make_memory_again, remark},
    exit::Exit,
};

/// What is appended to the name of a new file until it takes the place of the old one.
pub(super) const NEW: &str = ".forgetting";
/// The name of the journal.
const JOURNAL: &str = "forget.json";

/// What is left to do. It holds names of files of the data folder, and no words of anybody.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Journal {
    /// Files whose new form is complete, and lies next to them.
    pub(super) replace: Vec<PathBuf>,
    /// Files that are removed: what is derived from the log, and old copies.
    pub(super) remove: Vec<PathBuf>,
    /// Whose memory is made again from the log.
    pub(super) memories: Vec<AssistantId>,
}

/// A file could not be put in place.
#[derive(Debug, thiserror::Error)]
#[error("{} could not be written; {}", file.display(), match is_done {
    true => "what is to be forgotten is not gone everywhere yet: the next command goes on",
    false => "nothing was forgotten, and nothing else was changed",
})]
pub(super) struct FileError {
    pub(super) file: PathBuf,
    /// Whether it is past the moment from which it is done.
    pub(super) is_done: bool,
    #[source]
    pub(super) source: io::Error,
}

impl CommandFailure for FileError {
    fn exit(&self) -> Exit {
        Exit::Failure
    }
}

/// The name of the new form of a file.
pub(super) fn new_form(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(NEW);
    PathBuf::from(name)
}

impl Journal {
    /// Writes the journal to the disk. Then the forgetting is done: after a crash the next start finishes it.
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
        // What was written of it is of no use.
        drop(fs::remove_file(&new));
        return Err(error);
    }
    sync_folder(path)
}

/// A name in a folder is on disk when the folder is.
fn sync_folder(file: &Path) -> io::Result<()> {
    match file.parent() {
        Some(folder) if cfg!(unix) => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

/// Goes on with a forgetting that was interrupted, if there is one. Every command does this first.
pub(crate) fn finish_pending(data: &DataFolder) -> Result<(), CommandError> {
    if data.path().join(JOURNAL).exists() {
        // The program that has the log open owns the folder, and finishes it.
        finish(data, RedbLog::open_existing(&data.log())?)?;
        remark(
            "a forgetting that was interrupted is finished: the files were written again, and the memory was made again",
        );
        return Ok(());
    }
    // New files without a journal are of a forgetting that was interrupted before the moment from which it is done. While
    // somebody has the log open, they may be of one that goes on.
    if has_new_files(data.path()) && RedbLog::open_existing(&data.log()).is_ok() {
        remove_new_files(data.path());
        remark(
            "a forgetting was interrupted before it was done: nothing was forgotten; run it again",
        );
    }
    Ok(())
}

/// Puts the new files in place. Each step may have been done before. `old` keeps others out until the new log is there.
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
            // Done before.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            renamed => renamed.map_err(failed(&file))?,
        }
    }
    for file in &journal.remove {
        remove(&data.path().join(file)).map_err(failed(file))?;
    }
    sync_folder(&path).map_err(failed(data.path()))?;
    drop(old);
    let log = RedbLog::open_existing(&data.log())?;
    for key in &journal.memories {
        // The old memory goes first: what is made again from the log is never older than the log.
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
            // The second form is a database that was being created.
            name.ends_with(NEW) || (name.starts_with('.') && name.contains(&format!("{NEW}.")))
        })
        .collect()
}

fn has_new_files(folder: &Path) -> bool {
    !new_files(folder).is_empty()
}

/// Removes what was written of new files.
pub(super) fn remove_new_files(folder: &Path) {
    for file in new_files(folder) {
        if let Err(error) = remove(&file) {
            tracing::warn!(%error, file = %file.display(), "a new file is left behind");
        }
    }
}
