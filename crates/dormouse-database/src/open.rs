use std::{fs, io, path::Path};

use redb::{StorageBackend, WriteTransaction};

use crate::{
    create::{self, Created},
    database::Database,
    deferred::DeferredStorage,
    error::{DatabaseOpenError, FileSubject},
    fault::{DatabaseFault, catch_panic, contained},
    frozen::{self, FrozenFile},
    header::{self, Ending, Header, Prepared},
    kind::{FileSignature, SignatureFound},
    leftover,
    measured::{MeasuredStorage, StorageMeter},
    pending::{self, PendingError, PendingTarget},
    storage::FileStorage,
};

/// Opens the file at `path`, or creates it.
///
/// `initialise` creates the tables of a new file in its first commit, before the file gets its final name. So a file
/// with this name is complete, or it does not exist. If two processes create the file at the same time, the first one
/// wins. Only the owner may access a new file (mode 0600 on Unix), and its entry in the folder is on disk when this
/// function returns.
///
/// If the file does not exist, removes temporary files that killed processes left in the folder while they created it. Blocks
/// while the check of [`FileKind::check_up_to_bytes`] runs.
///
/// # Errors
///
/// [`DatabaseOpenError`], except [`DatabaseOpenError::Absent`]. Existing files are never replaced.
///
/// [`FileKind::check_up_to_bytes`]: crate::FileKind::check_up_to_bytes
pub fn open(
    path: &Path,
    kind: &dyn FileSignature,
    initialise: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
) -> Result<Database, DatabaseOpenError> {
    let meter = StorageMeter::default();
    open_or_create(FileSubject { path, kind }, &meter, initialise)
}

pub(crate) fn open_or_create(
    subject: FileSubject<'_>,
    meter: &StorageMeter,
    initialise: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
) -> Result<Database, DatabaseOpenError> {
    match fs::metadata(subject.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match create::create(subject, meter, initialise)? {
                Created::Ours(database) => Ok(database),
                Created::Theirs => open_file(subject, meter),
            }
        }
        // Opening the file reports every other problem.
        Ok(_) | Err(_) => open_file(subject, meter),
    }
}

/// Opens the existing file at `path`.
///
/// Removes the temporary name of the file if the process that created the file was killed before it did that. Blocks while
/// the check of [`FileKind::check_up_to_bytes`] runs.
///
/// # Errors
///
/// [`DatabaseOpenError`]; [`DatabaseOpenError::Absent`] if the file does not exist.
///
/// [`FileKind::check_up_to_bytes`]: crate::FileKind::check_up_to_bytes
pub fn open_existing(path: &Path, kind: &dyn FileSignature) -> Result<Database, DatabaseOpenError> {
    open_file(FileSubject { path, kind }, &StorageMeter::default())
}

pub(crate) fn open_file(
    subject: FileSubject<'_>,
    meter: &StorageMeter,
) -> Result<Database, DatabaseOpenError> {
    check_file(subject)?;
    leftover::remove_second_name(subject.path);
    if subject.kind.pending_commits(subject.path).is_some() {
        rehearse(subject)?;
    }
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(subject.path)
        .and_then(|file| FileStorage::new(subject.path, file))
        .map_err(|error| subject.io(error))?;
    let database = open_storage(subject, Box::new(file), meter)?;
    let Some(pending) = subject.kind.pending_commits(subject.path) else {
        return Ok(database);
    };
    // The file is locked by now, so nobody changes what is pending.
    let read = pending.read().map_err(|error| subject.io(error))?;
    pending::bring_in(
        subject,
        database,
        &*pending,
        read.as_deref(),
        PendingTarget::File,
    )
}

/// Rejects a file of another format, and pending commits that do not fit, before anything is written: these are applied as soon
/// as the file is open. Every other problem is ignored here, because opening the file reports it.
fn rehearse(subject: FileSubject<'_>) -> Result<(), DatabaseOpenError> {
    let refused = rehearse_once(subject);
    // Nothing is locked here: another process may have applied what is pending between the reading of the two.
    match refused {
        Err(DatabaseOpenError::Damaged { .. }) => rehearse_once(subject),
        other => other,
    }
}

fn rehearse_once(subject: FileSubject<'_>) -> Result<(), DatabaseOpenError> {
    if frozen::is_in_use(subject.path).unwrap_or(true) {
        return Ok(());
    }
    let found = catch_panic(|| {
        let database = frozen_database(subject.path, subject.kind)?;
        let reading = database.begin_read().map_err(redb::Error::from)?;
        let found = subject.kind.read(&reading)?;
        let pending = subject.kind.pending_commits(subject.path);
        let applied = match pending.filter(|_| found == SignatureFound::Known) {
            Some(pending) => {
                let read = pending.read().map_err(redb::Error::Io)?;
                pending.apply(read.as_deref(), &database, PendingTarget::Copy)
            }
            None => Ok(()),
        };
        Ok::<_, redb::Error>((found, applied))
    });
    match found {
        Ok(Ok((SignatureFound::Newer(format), _))) => Err(subject.newer(format)),
        Ok(Ok((SignatureFound::Older(format), _))) => Err(subject.older(format)),
        Ok(Ok((_, Err(PendingError::Unusable(cause))))) => Err(subject.damaged(cause)),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Opens storage that has content. Every function that opens an existing database calls this one.
pub(crate) fn open_storage(
    subject: FileSubject<'_>,
    backend: Box<dyn StorageBackend>,
    meter: &StorageMeter,
) -> Result<Database, DatabaseOpenError> {
    // A damaged file can make redb panic; the caller must get an error instead.
    let opened = catch_panic(|| {
        let storage = DeferredStorage::new(MeasuredStorage::new(backend, meter.clone()));
        let ending = match header::prepare(&storage).map_err(|error| subject.io(error))? {
            Prepared::InUse => return Err(subject.in_use()),
            Prepared::Alone(Header::Foreign) => return Err(subject.foreign()),
            Prepared::Alone(Header::Truncated { found, expected }) => {
                return Err(subject.truncated(found, expected));
            }
            Prepared::Alone(Header::Unsettled { .. }) => Ending::Cut,
            Prepared::Alone(Header::Plausible { ending }) => ending,
        };
        let database = Database::deferred(storage, subject.kind, meter);
        let database = database.map_err(|error| subject.unopened(error))?;
        checked(subject, database, ending)
    });
    opened.unwrap_or_else(|panic| Err(subject.damaged(panic)))
}

/// A snapshot of a database.
#[derive(Debug)]
pub struct DatabaseView {
    /// The database. Writes to it stay in memory and are lost when it is dropped.
    pub database: Database,
    /// Whether another process had the file open, so that newer commits may exist by now.
    pub is_in_use: bool,
}

/// Opens the newest commit of the file at `path` for reading. It does not lock or change the file or its folder, so it
/// works in a read-only folder and while another process has the file open.
///
/// A file in use is copied into memory, up to 1 GiB. Reads beyond the copy fail after the other process's next commit.
/// Blocks while the check of [`FileKind::check_up_to_bytes`] runs.
///
/// # Errors
///
/// [`DatabaseOpenError`], except [`DatabaseOpenError::InUse`] and [`DatabaseOpenError::Repaired`]. Also
/// [`DatabaseOpenError::Io`] if the other process commits faster than the file can be copied.
///
/// [`FileKind::check_up_to_bytes`]: crate::FileKind::check_up_to_bytes
pub fn open_view(path: &Path, kind: &dyn FileSignature) -> Result<DatabaseView, DatabaseOpenError> {
    view_file(FileSubject { path, kind })
}

pub(crate) fn view_file(subject: FileSubject<'_>) -> Result<DatabaseView, DatabaseOpenError> {
    check_file(subject)?;
    let mut looks = 1;
    let pending = subject.kind.pending_commits(subject.path);
    loop {
        let read = || pending.as_ref().map_or(Ok(None), |pending| pending.read());
        let opened = FrozenFile::open_with(subject.path, read);
        let (file, read) = opened.map_err(|error| subject.io(error))?;
        let is_in_use = file.is_in_use();
        let view = view_storage(subject, Box::new(file)).and_then(|database| match &pending {
            Some(pending) => {
                let copy = PendingTarget::Copy;
                pending::bring_in(subject, database, &**pending, read.as_deref(), copy)
            }
            None => Ok(database),
        });
        let view = view.map(|database| DatabaseView {
            database,
            is_in_use,
        });
        // A commit may become visible before all its pages are written, and pending commits while they are read. In that
        // case, another attempt succeeds. It also does if another process has just opened the file and applied them.
        let may_change = is_in_use || (looks == 1 && pending.is_some());
        if view.is_ok() || !may_change || looks == LOOKS {
            return view;
        }
        looks += 1;
    }
}

/// How many times a file in use is examined before a problem in it is reported.
const LOOKS: u32 = 8;

/// Opens a snapshot of storage.
pub(crate) fn view_storage(
    subject: FileSubject<'_>,
    snapshot: Box<dyn StorageBackend>,
) -> Result<Database, DatabaseOpenError> {
    match open_storage(subject, snapshot, &StorageMeter::default()) {
        // Only the copy in memory was repaired.
        Err(DatabaseOpenError::Repaired { .. }) => {
            Err(subject.damaged("its pages do not match their checksums"))
        }
        opened => opened,
    }
}

/// Opens a snapshot of a damaged file without any check, to look for what is still intact. Reading it can fail or panic
/// anywhere, so read and drop the database within [`contained`], and trust only data with checksums of their own.
///
/// # Errors
///
/// [`DatabaseFault`] if not even the roots of the tables can be read.
pub fn open_damaged(path: &Path, kind: &dyn FileSignature) -> Result<Database, DatabaseFault> {
    contained(|| frozen_database(path, kind))
}

/// Opens a file as it is now, without writing to it.
fn frozen_database(path: &Path, kind: &dyn FileSignature) -> Result<Database, redb::Error> {
    let file = FrozenFile::open(path).map_err(redb::Error::Io)?;
    header::prepare(&file).map_err(redb::Error::Io)?;
    Ok(Database::with_storage(
        Box::new(file),
        kind,
        &StorageMeter::default(),
    )?)
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

fn checked(
    subject: FileSubject<'_>,
    mut database: Database,
    ending: Ending,
) -> Result<Database, DatabaseOpenError> {
    // The pages are checked before the signature is read, because unchecked pages can contain anything.
    let is_intact = database.check(ending);
    let is_intact = is_intact.map_err(|error| subject.unopened(error))?;
    // What this program does not read it does not repair.
    check_signature(subject, &database)?;
    if is_intact {
        return Ok(database);
    }
    let kept = database.begin_writing();
    kept.map_err(|error| subject.unopened(error))?;
    Err(subject.repaired())
}

fn check_signature(subject: FileSubject<'_>, database: &Database) -> Result<(), DatabaseOpenError> {
    let reading = database
        .begin_read()
        .map_err(|error| subject.unopened(error))?;
    let found = subject.kind.read(&reading);
    match found.map_err(|error| subject.unopened(error))? {
        SignatureFound::Known => Ok(()),
        SignatureFound::Newer(format) => Err(subject.newer(format)),
        SignatureFound::Older(format) => Err(subject.older(format)),
        SignatureFound::Foreign => Err(subject.foreign()),
        SignatureFound::Damaged => Err(subject.damaged("its signature is damaged")),
    }
}
