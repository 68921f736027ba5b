use std::{
    fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use redb::{StorageError, TableError, WriteTransaction};

use crate::{
    create::{self, Created},
    database::Database,
    error::{DatabaseOpenError, FileSubject},
    frozen::FrozenFile,
    kind::{FORMAT_KEY, FileKind},
    leftover,
};

/// Opens the file at `path`, or creates it.
///
/// `initialise` creates the tables of a new file in its first commit, before the file gets its final name. So a file
/// with this name is complete, or it does not exist. If two processes create the file at the same time, the first one
/// wins. Only the owner may access a new file (mode 0600 on Unix), and its entry in the folder is on disk when this
/// function returns.
///
/// Removes the leftovers of killed creations from the folder. Blocks while the check of [`FileKind::check_up_to_bytes`]
/// runs.
///
/// # Errors
///
/// [`DatabaseOpenError`], except [`DatabaseOpenError::Absent`]. Existing files are never replaced.
pub fn open(
    path: &Path,
    kind: &FileKind,
    initialise: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
) -> Result<Database, DatabaseOpenError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let subject = FileSubject { path, kind };
            match create::create(subject, initialise)? {
                Created::Ours(database) => Ok(database),
                Created::Theirs => open_existing(path, kind),
            }
        }
        // The code below finds every other problem again.
        Ok(_) | Err(_) => open_existing(path, kind),
    }
}

/// Opens the existing file at `path`.
///
/// Removes the leftovers of killed creations from the folder. Blocks while the check of [`FileKind::check_up_to_bytes`]
/// runs.
///
/// # Errors
///
/// [`DatabaseOpenError`]; [`DatabaseOpenError::Absent`] if the file does not exist.
pub fn open_existing(path: &Path, kind: &FileKind) -> Result<Database, DatabaseOpenError> {
    let subject = FileSubject { path, kind };
    check_file(subject)?;
    leftover::sweep_leftovers(path);
    contain(subject, || open_whole(subject))
}

/// A snapshot of a database.
#[derive(Debug)]
pub struct DatabaseView {
    /// The database. Writes to it stay in memory and are lost when it is dropped.
    pub database: Database,
    /// Whether another process had the file open, so that newer commits may exist by now.
    pub is_in_use: bool,
}

/// Opens the newest commit of the file at `path` for reading. It writes and locks neither the file nor its folder, so
/// it works in a read-only folder and while another process has the file open.
///
/// A file in use is copied into memory, up to 1 GiB; reading from a longer one fails at the next commit. Blocks while
/// the check of [`FileKind::check_up_to_bytes`] runs.
///
/// # Errors
///
/// [`DatabaseOpenError`], except [`DatabaseOpenError::InUse`] and [`DatabaseOpenError::Repaired`]. Also
/// [`DatabaseOpenError::Io`] if the other process commits faster than the file can be copied.
pub fn open_view(path: &Path, kind: &FileKind) -> Result<DatabaseView, DatabaseOpenError> {
    let subject = FileSubject { path, kind };
    check_file(subject)?;
    let mut looks = 1;
    loop {
        let file = FrozenFile::open(path).map_err(|error| subject.io(error))?;
        let is_in_use = file.is_in_use();
        let view = view_of(subject, file);
        // A commit may be published before all its pages are written; in that case another look succeeds.
        if view.is_ok() || !is_in_use || looks == LOOKS {
            return view;
        }
        looks += 1;
    }
}

/// How often a file in use is examined before a problem in it is reported.
const LOOKS: u32 = 3;

fn view_of(subject: FileSubject<'_>, file: FrozenFile) -> Result<DatabaseView, DatabaseOpenError> {
    let (kind, is_in_use) = (subject.kind, file.is_in_use());
    contain(subject, || {
        let opened = Database::lay(file, kind).map_err(|error| subject.unopened(error))?;
        let database = match checked(subject, opened) {
            // Only the copy in memory was repaired.
            Err(DatabaseOpenError::Repaired { .. }) => {
                return Err(subject.damaged("its pages do not match their checksums"));
            }
            checked => checked?,
        };
        Ok(DatabaseView {
            database,
            is_in_use,
        })
    })
}

/// Rejects a path that is not a file, and an empty file.
fn check_file(subject: FileSubject<'_>) -> Result<(), DatabaseOpenError> {
    let found = fs::metadata(subject.path).map_err(|error| match error.kind() {
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
    Ok(())
}

/// A damaged file can make redb panic; the caller must get an error instead.
fn contain<T>(
    subject: FileSubject<'_>,
    open: impl FnOnce() -> Result<T, DatabaseOpenError>,
) -> Result<T, DatabaseOpenError> {
    catch_unwind(AssertUnwindSafe(open))
        .unwrap_or_else(|_| Err(subject.damaged("its pages refer to what is not there")))
}

fn open_whole(subject: FileSubject<'_>) -> Result<Database, DatabaseOpenError> {
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(subject.path)
        .map_err(|error| subject.io(error))?;
    let database = Database::in_file(subject.path, file, subject.kind);
    checked(subject, database.map_err(|error| subject.unopened(error))?)
}

fn checked(
    subject: FileSubject<'_>,
    mut database: Database,
) -> Result<Database, DatabaseOpenError> {
    // This check comes first: the content of unchecked pages can be anything.
    match database.check() {
        Ok(true) => {}
        Ok(false) => return Err(subject.repaired()),
        Err(error) => return Err(subject.unopened(error)),
    }
    check_kind(subject, &database)?;
    Ok(database)
}

fn check_kind(subject: FileSubject<'_>, database: &Database) -> Result<(), DatabaseOpenError> {
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

fn unread(subject: FileSubject<'_>, error: StorageError) -> DatabaseOpenError {
    subject.unopened(error.into())
}
