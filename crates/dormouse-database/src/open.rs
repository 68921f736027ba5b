use std::{
    fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use redb::{StorageError, TableError, WriteTransaction};

use crate::{
    create::{self, Created},
    database::Database,
    error::{OpenError, Subject},
    kind::{FORMAT_KEY, FileKind},
    leftover,
};

/// Opens the file at `path`, and creates it if there is none.
///
/// `initialise` lays down the tables of a new file in its first commit, before the file gets its name: a file with this
/// name is whole, or it is not there. If somebody else makes one at the same time, the first stays. The
/// new file is its owner's alone (on Unix, mode 0600) and its entry in the folder is on disk when this returns.
///
/// What a creation that was killed left in the folder is removed. Blocks for as long as the check of
/// [`FileKind::check_up_to_bytes`] takes.
///
/// # Errors
///
/// [`OpenError`], any but [`OpenError::Absent`]; nothing that is already there is ever replaced.
pub fn open(
    path: &Path,
    kind: &FileKind,
    initialise: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
) -> Result<Database, OpenError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let subject = Subject { path, kind };
            match create::create(subject, initialise)? {
                Created::Ours(database) => Ok(database),
                Created::Theirs => open_existing(path, kind),
            }
        }
        // What else can be wrong is found again below.
        Ok(_) | Err(_) => open_existing(path, kind),
    }
}

/// Opens the file at `path`, which must be there.
///
/// What a creation that was killed left in the folder is removed. Blocks for as long as the check of
/// [`FileKind::check_up_to_bytes`] takes.
///
/// # Errors
///
/// [`OpenError`]; [`OpenError::Absent`] if there is no file.
pub fn open_existing(path: &Path, kind: &FileKind) -> Result<Database, OpenError> {
    let subject = Subject { path, kind };
    let found = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => subject.absent(),
        _ => subject.io(error),
    })?;
    if found.is_dir() {
        return Err(subject.io(io::ErrorKind::IsADirectory.into()));
    }
    if !found.is_file() {
        return Err(subject.foreign());
    }
    if found.len() == 0 {
        return Err(subject.empty());
    }
    leftover::sweep(path);
    // A damaged file can make the database library panic; whoever opens it must get an error instead.
    catch_unwind(AssertUnwindSafe(|| open_whole(subject)))
        .unwrap_or_else(|_| Err(subject.damaged("its pages refer to what is not there")))
}

fn open_whole(subject: Subject<'_>) -> Result<Database, OpenError> {
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(subject.path)
        .map_err(|error| subject.io(error))?;
    let mut database =
        Database::in_file(file, subject.kind).map_err(|error| subject.unopened(error))?;
    // First of all: what is read from pages that were never checked can be anything.
    match database.check() {
        Ok(true) => {}
        Ok(false) => return Err(subject.repaired()),
        Err(error) => return Err(subject.unopened(error)),
    }
    check_kind(subject, &database)?;
    Ok(database)
}

fn check_kind(subject: Subject<'_>, database: &Database) -> Result<(), OpenError> {
    let reading = database
        .begin_read()
        .map_err(|error| subject.damaged(error))?;
    let table = match reading.open_table(subject.kind.table()) {
        Ok(table) => table,
        Err(TableError::Storage(error)) => return Err(unread(subject, error)),
        Err(_) => return Err(subject.foreign()),
    };
    let format = table
        .get(FORMAT_KEY)
        .map_err(|error| unread(subject, error))?;
    match format.map(|format| format.value()) {
        Some(found) if found == subject.kind.format => Ok(()),
        Some(found) if found > subject.kind.format => Err(subject.newer(found)),
        Some(_) | None => Err(subject.foreign()),
    }
}

fn unread(subject: Subject<'_>, error: StorageError) -> OpenError {
    subject.unopened(error.into())
}
