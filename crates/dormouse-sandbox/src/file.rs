//! Creating and opening the file.

use std::{
    fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use dormouse_contracts::{BoxError, IdError, Timestamp};
use redb::{Database, DatabaseError, ReadableDatabase, StorageError, TableError, WriteTransaction};

use crate::records::{
    BORN_KEY, CHARACTERS, EFFECT_ORDER, EFFECTS, FEEDS, FORMAT, FORMAT_KEY, META, REVISION_KEY,
    StoreError,
};

#[cfg(test)]
mod tests;

/// How much of the file is kept in memory, in bytes. A world of this size needs little.
const CACHE_BYTES: usize = 4 << 20;

/// Why a world cannot be opened. The file is as it was, except where [`OpenError::Repaired`] says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file is there and has no bytes. A world never leaves such a file: restore it, or remove it to begin anew.
    #[error("{} is empty: restore it, or remove it to begin a new world", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Another process, or this one, has the world open.
    #[error("{} is in use by another process", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file holds something else.
    #[error("{} is no sandbox world", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A newer version wrote the file.
    #[error("{} has format {found}; this version reads up to {FORMAT}: use a newer one", path.display())]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
    /// The file is truncated or corrupt, and was left as it is.
    #[error("{} is damaged: restore it from a copy", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        #[source]
        source: BoxError,
    },
    /// The file was damaged and has been set back to what of it is intact. Opening it again goes on from there.
    #[error("{} was damaged and has been set back to its last intact state: open it again to go on", path.display())]
    Repaired {
        /// The file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("{} cannot be opened", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// No thread could be started for the world.
    #[error("no thread could be started for the world")]
    Thread(#[source] io::Error),
    /// A name in the world's own data is no identifier: a defect of this crate.
    #[error("the world's own data is wrong")]
    BuiltIn(#[from] IdError),
}

/// Opens the file at `path`, or creates it as a world made at `now`.
pub(crate) fn open(path: &Path, now: Timestamp) -> Result<Database, OpenError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(path, now)?,
        Err(source) => return Err(io_error(path, source)),
        Ok(found) if found.is_file() && found.len() == 0 => {
            return Err(OpenError::Empty { path: path.into() });
        }
        Ok(_) => {}
    }
    open_existing(path)
}

fn open_existing(path: &Path) -> Result<Database, OpenError> {
    // A damaged file can make the database library panic; whoever opens it must get an error instead.
    let opened = catch_unwind(AssertUnwindSafe(|| {
        let mut database = Database::builder()
            .set_cache_size(CACHE_BYTES)
            .open(path)
            .map_err(|error| database_error(path, error))?;
        // First of all: what is read from pages that were never checked can be anything.
        match database.check_integrity() {
            Ok(true) => {}
            Ok(false) => return Err(OpenError::Repaired { path: path.into() }),
            Err(error) => return Err(database_error(path, error)),
        }
        check_format(path, &database)?;
        Ok(database)
    }));
    opened.unwrap_or_else(|_| {
        Err(OpenError::Damaged {
            path: path.into(),
            source: "its pages refer to what is not there".into(),
        })
    })
}

fn check_format(path: &Path, database: &Database) -> Result<(), OpenError> {
    let damaged = |error: StoreError| OpenError::Damaged {
        path: path.into(),
        source: error.into(),
    };
    let reading = database.begin_read().map_err(|e| damaged(e.into()))?;
    let table = match reading.open_table(META) {
        Ok(table) => table,
        Err(TableError::Storage(error)) => return Err(damaged(error.into())),
        Err(_) => return Err(OpenError::Foreign { path: path.into() }),
    };
    match table
        .get(FORMAT_KEY)
        .map_err(|e| damaged(e.into()))?
        .map(|found| found.value())
    {
        Some(FORMAT) => Ok(()),
        Some(found) if found > FORMAT => Err(OpenError::NewerFormat {
            path: path.into(),
            found,
        }),
        Some(_) | None => Err(OpenError::Foreign { path: path.into() }),
    }
}

fn database_error(path: &Path, error: DatabaseError) -> OpenError {
    let path = path.to_owned();
    match error {
        DatabaseError::DatabaseAlreadyOpen => OpenError::InUse { path },
        // What the file's own bytes are to blame for; the rest is the file system's.
        DatabaseError::Storage(StorageError::Io(source))
            if !matches!(
                source.kind(),
                io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
            ) =>
        {
            OpenError::Io { path, source }
        }
        error => OpenError::Damaged {
            path,
            source: error.into(),
        },
    }
}

fn io_error(path: &Path, source: io::Error) -> OpenError {
    OpenError::Io {
        path: path.into(),
        source,
    }
}

/// Makes a new world under another name and gives it its own once it is whole on disk, so that a file under
/// this name is never half made. If somebody else was faster, theirs stays.
fn create(path: &Path, now: Timestamp) -> Result<(), OpenError> {
    let failed = |source| io_error(path, source);
    let (temporary, file) = temporary(path).map_err(failed)?;
    let made = initialise(path, file, now).and_then(|()| {
        match fs::hard_link(&temporary, path) {
            Ok(()) => {}
            Err(_) if path.exists() => {}
            // Not every file system has links; there a rename has to do.
            Err(_) => fs::rename(&temporary, path).map_err(failed)?,
        }
        sync_folder(path).map_err(failed)
    });
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => made.and(Err(failed(error))),
        Ok(()) | Err(_) => made,
    }
}

fn temporary(path: &Path) -> io::Result<(PathBuf, fs::File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut attempt = 0_u32;
    loop {
        let temporary =
            path.with_file_name(format!(".{name}.{}.{attempt}.new", std::process::id()));
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create_new(true);
        // Whose world it is reads it, and nobody else: its feeds hold what was whispered.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let opened = options.open(&temporary);
        match opened {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 64 => {
                attempt += 1
            }
            Err(error) => return Err(error),
        }
    }
}

fn initialise(path: &Path, file: fs::File, now: Timestamp) -> Result<(), OpenError> {
    let database = Database::builder()
        .set_cache_size(CACHE_BYTES)
        .create_file(file)
        .map_err(|error| database_error(path, error))?;
    write_tables(&database, now).map_err(|error| match error {
        StoreError::File(error) => match *error {
            redb::Error::Io(source) => io_error(path, source),
            error => io_error(path, io::Error::other(error)),
        },
        error @ StoreError::Record(_) => io_error(path, io::Error::other(error)),
    })
}

/// A transaction whose commit reaches the disk in two phases: a damaged newest commit is then an error at the next
/// opening, and never taken for one that a crash left unfinished.
pub(crate) fn begin_write(database: &Database) -> Result<WriteTransaction, StoreError> {
    let mut writing = database.begin_write()?;
    writing.set_two_phase_commit(true);
    Ok(writing)
}

/// Lays down all tables, empty. A durable commit.
pub(crate) fn write_tables(database: &Database, now: Timestamp) -> Result<(), StoreError> {
    let writing = begin_write(database)?;
    {
        let mut meta = writing.open_table(META)?;
        meta.insert(FORMAT_KEY, FORMAT)?;
        meta.insert(REVISION_KEY, 0)?;
        meta.insert(BORN_KEY, u64::try_from(now.as_micros()).unwrap_or_default())?;
        writing.open_table(CHARACTERS)?;
        writing.open_table(FEEDS)?;
        writing.open_table(EFFECTS)?;
        writing.open_table(EFFECT_ORDER)?;
    }
    Ok(writing.commit()?)
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    fs::File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file; the file system keeps its own order.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
