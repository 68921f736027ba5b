//! Making a new log, so that a file with its name is either complete or not there.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::UNIX_EPOCH,
};

use dormouse_contracts::Timestamp;
use dormouse_database::temporary_name;

use crate::{
    fault::{Fault, contained},
    medium::{Counters, FileMedium, Medium},
    meta,
    tables::{EVENTS, HEADS, SNAPSHOTS},
    vault::{close, open_database},
};

/// How many abandoned files of earlier attempts are stepped over before giving up.
const NAMES: u32 = 64;

/// Makes an empty log at `path`. If somebody else makes one there at the same time, theirs stays.
pub(crate) fn create(path: &Path) -> io::Result<()> {
    let mut created = create_once(path);
    for _ in 1..NAMES {
        match &created {
            // While it was not locked, somebody took the temporary file for a leftover.
            Err(error) if error.kind() == io::ErrorKind::NotFound => created = create_once(path),
            Ok(()) | Err(_) => break,
        }
    }
    created
}

fn create_once(path: &Path) -> io::Result<()> {
    let temporary = reserve(path)?;
    let result = fill(&temporary).and_then(|()| publish(&temporary, path));
    // After a success this is only the second name of the file; after a failure, rubbish.
    let removed = fs::remove_file(&temporary);
    result?;
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, file = %temporary.display(), "a temporary file is left behind");
        }
        Ok(()) | Err(_) => {}
    }
    sync_folder(path)
}

/// An empty file beside the one to be made.
fn reserve(path: &Path) -> io::Result<PathBuf> {
    for attempt in 0..NAMES {
        let temporary =
            temporary_name(path, std::process::id(), attempt).ok_or(io::ErrorKind::InvalidInput)?;
        match for_the_owner(OpenOptions::new().write(true).create_new(true)).open(&temporary) {
            Ok(_) => return Ok(temporary),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn fill(temporary: &Path) -> io::Result<()> {
    let medium = FileMedium {
        path: temporary.into(),
    };
    initialise(&medium, made_at(temporary)).map_err(|fault| match fault {
        Fault::Io(error) => error,
        other => io::Error::other(other),
    })?;
    File::open(temporary)?.sync_all()
}

/// Makes the tables of an empty log on empty storage, and closes it.
pub(crate) fn initialise(medium: &dyn Medium, created_at: Timestamp) -> Result<(), Fault> {
    let database = open_database(medium, &Arc::new(Counters::default()))?;
    let made = contained(|| {
        let mut transaction = database.begin_write()?;
        transaction.set_two_phase_commit(true);
        transaction.open_table(EVENTS)?;
        transaction.open_table(HEADS)?;
        transaction.open_table(SNAPSHOTS)?;
        meta::write(&transaction, created_at)?;
        Ok(transaction.commit()?)
    });
    close(Some(database));
    made
}

/// When a file was made, by the clock of its file system: there is no other clock here.
fn made_at(path: &Path) -> Timestamp {
    let since_epoch = fs::metadata(path)
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
    since_epoch.map_or(Timestamp::EPOCH, |since| Timestamp::EPOCH.plus(since))
}

/// Gives the complete file its name, without replacing anything.
fn publish(temporary: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // Not every file system knows second names. Renaming would replace a file made in this moment.
        Err(_) if !path.exists() => fs::rename(temporary, path),
        Err(error) => Err(error),
    }
}

/// Brings the folder's entry to the disk: without it a power failure may lose the whole new file.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            Some(_) | None => Path::new("."),
        };
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Whose log it is reads and writes it, and nobody else: it holds whole conversations.
fn for_the_owner(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RedbLog;

    fn names(folder: &Path) -> Vec<std::ffi::OsString> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn what_a_killed_creation_left_is_removed_by_the_next_opening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.redb");
        let medium = |path: &Path| FileMedium { path: path.into() };
        // Killed before anything was in it, and after all of it was.
        reserve(&path).unwrap();
        let filled = reserve(&path).unwrap();
        initialise(&medium(&filled), Timestamp::EPOCH).unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        drop(RedbLog::open(&path).unwrap());
        assert_eq!(names(folder.path()), ["log.redb"]);

        // Killed after it had its name.
        fs::hard_link(&path, reserved_again(&path)).unwrap();
        drop(RedbLog::open(&path).unwrap());
        assert_eq!(names(folder.path()), ["log.redb"]);
    }

    fn reserved_again(path: &Path) -> PathBuf {
        let temporary = reserve(path).unwrap();
        fs::remove_file(&temporary).unwrap();
        temporary
    }
}
