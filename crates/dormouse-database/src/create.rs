//! Making a file under another name, and giving it its own once it is whole.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use redb::{DatabaseError, WriteTransaction};

use crate::{
    database::Database,
    error::{OpenError, Subject},
    leftover,
};

/// How many names are tried before giving up: those of abandoned files that could not be removed, and
/// those that were taken away before they were locked.
const ATTEMPTS: u32 = 64;

/// Whose file has the name now.
#[derive(Debug)]
pub(crate) enum Created {
    /// The one made here, open.
    Ours(Database),
    /// Somebody else was faster.
    Theirs,
}

/// Makes a new file. It is locked from before it holds anything until it is closed, so nobody takes it for a leftover.
pub(crate) fn create(
    subject: Subject<'_>,
    initialise: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
) -> Result<Created, OpenError> {
    leftover::sweep(subject.path);
    let (temporary, database) = reserve(subject)?;
    let named = database
        .found(subject.kind, initialise)
        .map_err(|error| subject.unmade(error))
        .and_then(|()| publish(&temporary, subject.path).map_err(|error| subject.io(error)));
    // After a success this is only the second name of the file; after a failure, rubbish.
    remove(&temporary);
    if !named? {
        return Ok(Created::Theirs);
    }
    sync_folder(subject.path).map_err(|error| subject.io(error))?;
    Ok(Created::Ours(database))
}

/// An empty database beside the file that is to be made, locked.
fn reserve(subject: Subject<'_>) -> Result<(PathBuf, Database), OpenError> {
    for attempt in 0..ATTEMPTS {
        let temporary = leftover::name(subject.path, std::process::id(), attempt)
            .ok_or_else(|| subject.io(io::ErrorKind::InvalidInput.into()))?;
        let file = match for_the_owner(OpenOptions::new().read(true).write(true).create_new(true))
            .open(&temporary)
        {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(subject.io(error)),
        };
        let identity = Identity::of(&file);
        match Database::in_file(file, subject.kind) {
            Ok(database) if identity.is_at(&temporary) => return Ok((temporary, database)),
            // Before it was locked, somebody took it for a leftover.
            Ok(_) | Err(DatabaseError::DatabaseAlreadyOpen) => {}
            Err(error) => {
                remove(&temporary);
                return Err(subject.unmade(error.into()));
            }
        }
    }
    Err(subject.io(io::ErrorKind::AlreadyExists.into()))
}

/// What tells one file from another that has since got its name.
#[cfg(unix)]
struct Identity(Option<(u64, u64)>);

#[cfg(unix)]
impl Identity {
    fn of(file: &File) -> Self {
        Self(file.metadata().ok().map(|found| leftover::inode(&found)))
    }

    fn is_at(&self, path: &Path) -> bool {
        let there = fs::symlink_metadata(path).ok();
        there.is_some() && there.map(|found| leftover::inode(&found)) == self.0
    }
}

/// Elsewhere a file that is open keeps its name.
#[cfg(not(unix))]
struct Identity;

#[cfg(not(unix))]
impl Identity {
    fn of(_: &File) -> Self {
        Self
    }

    fn is_at(&self, path: &Path) -> bool {
        path.exists()
    }
}

/// Gives the whole file its name, without replacing anything; `false` if there is one by now.
fn publish(temporary: &Path, path: &Path) -> io::Result<bool> {
    match fs::hard_link(temporary, path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // Not every file system has links. There a rename has to do, which would replace a file made in this moment.
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

/// Brings the folder's entry to the disk: without it a power failure may lose the whole new file.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(leftover::folder(path))?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file; the file system keeps its own order.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Whose file it is reads and writes it, and nobody else: it may hold what was whispered.
fn for_the_owner(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
