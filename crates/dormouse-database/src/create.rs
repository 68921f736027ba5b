//! Creates a file under a temporary name, and gives it its final name when it is complete.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use dormouse_contracts::Timestamp;
use redb::{DatabaseError, WriteTransaction};

use crate::{
    database::Database,
    error::{DatabaseOpenError, FileSubject},
    leftover,
    measured::StorageMeter,
};

/// How many temporary names are tried. A name fails if it belongs to an abandoned file that could not be removed, or to
/// a file that another process removed before it was locked.
const ATTEMPTS: u32 = 64;

/// Which file has the final name now.
#[derive(Debug)]
pub(crate) enum Created {
    /// The file created here, still open.
    Ours(Database),
    /// Another process created the file first.
    Theirs,
}

/// Creates a file. The file is locked from before the first write until it is closed, so no process takes it for a
/// leftover.
pub(crate) fn create(
    subject: FileSubject<'_>,
    meter: &StorageMeter,
    initialise: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
) -> Result<Created, DatabaseOpenError> {
    leftover::sweep_leftovers(subject.path);
    let (temporary, database) = reserve(subject, meter)?;
    let named = database
        .commit_first(subject.kind, created_at(&temporary), initialise)
        .map_err(|error| subject.unmade(error))
        .and_then(|()| publish(&temporary, subject.path).map_err(|error| subject.io(error)));
    // After a success this removes only the second name of the file. Otherwise it removes the file.
    remove(&temporary);
    if !named? {
        return Ok(Created::Theirs);
    }
    sync_folder(subject.path).map_err(|error| subject.io(error))?;
    Ok(Created::Ours(database))
}

/// A locked, empty database in the folder of the file to be created.
fn reserve(
    subject: FileSubject<'_>,
    meter: &StorageMeter,
) -> Result<(PathBuf, Database), DatabaseOpenError> {
    for attempt in 0..ATTEMPTS {
        let temporary = leftover::temporary_name(subject.path, std::process::id(), attempt)
            .ok_or_else(|| subject.io(io::ErrorKind::InvalidInput.into()))?;
        let file = match for_the_owner(OpenOptions::new().read(true).write(true).create_new(true))
            .open(&temporary)
        {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(subject.io(error)),
        };
        let identity = FileIdentity::of(&file);
        match Database::in_file(&temporary, file, subject.kind, meter) {
            Ok(database) if identity.is_at(&temporary) => return Ok((temporary, database)),
            // Another process removed the file as a leftover before it was locked.
            Ok(_) | Err(DatabaseError::DatabaseAlreadyOpen) => {}
            Err(error) => {
                remove(&temporary);
                return Err(subject.unmade(error.into()));
            }
        }
    }
    Err(subject.io(io::ErrorKind::AlreadyExists.into()))
}

/// When a file was created, by the clock of its file system: this crate has no other clock.
fn created_at(path: &Path) -> Timestamp {
    let since_epoch = fs::metadata(path)
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
    since_epoch.map_or(Timestamp::EPOCH, |since| Timestamp::EPOCH.plus(since))
}

/// Distinguishes a file from another file that later gets the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity(Option<(u64, u64)>);

impl FileIdentity {
    /// The identity of an open file.
    #[must_use]
    pub fn of(file: &File) -> Self {
        Self(file.metadata().ok().and_then(|found| inode(&found)))
    }

    /// Whether this path still names the file.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| inode(&found) == self.0)
    }
}

#[cfg(unix)]
fn inode(found: &fs::Metadata) -> Option<(u64, u64)> {
    Some(leftover::inode(found))
}

/// On other systems an open file keeps its name.
#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// Gives the complete file its final name and replaces nothing; `false` if another file has that name already.
fn publish(temporary: &Path, path: &Path) -> io::Result<bool> {
    match fs::hard_link(temporary, path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // Some file systems have no hard links. The fallback is a rename, which would replace a file created at this
        // moment.
        Err(_) => match fs::symlink_metadata(path) {
            Ok(_) => Ok(false),
            Err(_) => fs::rename(temporary, path).map(|()| true),
        },
    }
}

fn remove(temporary: &Path) {
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, file = %temporary.display(), "a temporary file is left behind until the next opening");
        }
        Ok(()) | Err(_) => {}
    }
}

/// Creates a file for reading and writing that only its owner may access (mode 0600 on Unix). Its entry in the folder is on
/// disk when this function returns.
///
/// # Errors
///
/// Any error of the operating system; [`io::ErrorKind::AlreadyExists`] if something has this name.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    let file =
        for_the_owner(OpenOptions::new().read(true).write(true).create_new(true)).open(path)?;
    sync_folder(path)?;
    Ok(file)
}

/// Syncs the folder. Without this a power failure may lose the whole new file.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(leftover::folder(path))?.sync_all()
}

/// Other systems cannot open a folder as a file, so nothing is synced here.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Only the owner may read and write the file: it may contain private messages.
fn for_the_owner(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
