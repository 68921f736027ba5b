//! Creates and opens the file.

use std::{
    io,
    path::{Path, PathBuf},
};

use dormouse_contracts::{BoxError, IdError, Timestamp};
use dormouse_database::{DatabaseHandle, FileKind};
use redb::WriteTransaction;

use crate::records::{
    ACTS, BORN_KEY, CHARACTERS, EFFECT_ORDER, EFFECTS, FEEDS, FORMAT, HEARD, META, META_NAME,
    REVISION_KEY,
};

#[cfg(test)]
mod tests;

/// The kind of a world file. Worlds are small, so the cache is small, and every page is checked.
pub(crate) const KIND: FileKind = FileKind {
    what: "a sandbox world",
    name: META_NAME,
    format: FORMAT,
    cache_bytes: 4 << 20,
    check_up_to_bytes: u64::MAX,
};

/// Why a world cannot be opened. The file is unchanged, except for [`SandboxOpenError::Repaired`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxOpenError {
    /// The file exists and is empty. A world never leaves an empty file: restore it, or move it away to start a new
    /// world.
    #[error("{} is empty: restore it, or move it away to begin a new world", path.display())]
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
    /// The file contains something else.
    #[error("{} is not a sandbox world", path.display())]
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
    /// An earlier version wrote the file. It was not changed.
    #[error(
        "{} has format {found}, and this version reads only {FORMAT}: nothing was changed. Move it away together with the log of its assistant to begin a new world, or use the version that wrote it",
        path.display()
    )]
    OlderFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
    /// The file is truncated or corrupt. It was not changed.
    #[error("{} is damaged: restore it from a copy", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: BoxError,
    },
    /// The file was damaged and has been reset to its last intact state. Opening it again succeeds.
    #[error("{} was damaged and has been set back to its last intact state: open it again to go on", path.display())]
    Repaired {
        /// The file.
        path: PathBuf,
    },
    /// The file system returned an error.
    #[error("{} cannot be opened", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// No thread could be started for the world.
    #[error("no thread could be started for the world")]
    Thread(#[source] io::Error),
    /// A name in the world's own data is not a valid identifier, which is a bug of this crate.
    #[error("the world's own data is wrong")]
    BuiltIn(#[from] IdError),
}

impl From<dormouse_database::DatabaseOpenError> for SandboxOpenError {
    fn from(error: dormouse_database::DatabaseOpenError) -> Self {
        use dormouse_database::DatabaseOpenError as Found;

        match error {
            // The file existed or was created, and was removed since.
            Found::Absent { path, .. } => Self::Io {
                path,
                source: io::ErrorKind::NotFound.into(),
            },
            Found::Empty { path, .. } => Self::Empty { path },
            Found::InUse { path } => Self::InUse { path },
            Found::Foreign { path, .. } => Self::Foreign { path },
            Found::NewerFormat { path, found, .. } => Self::NewerFormat { path, found },
            Found::OlderFormat { path, found, .. } => Self::OlderFormat { path, found },
            Found::Truncated {
                path,
                found,
                expected,
                ..
            } => Self::Damaged {
                path,
                source: format!("it has {found} bytes and needs at least {expected}").into(),
            },
            Found::Damaged { path, source, .. } => Self::Damaged { path, source },
            Found::Repaired { path } => Self::Repaired { path },
            Found::Io { path, source, .. } => Self::Io { path, source },
        }
    }
}

/// Opens the file at `path`, or creates it with the creation time `now`.
pub(crate) fn open(path: &Path, now: Timestamp) -> Result<DatabaseHandle, SandboxOpenError> {
    Ok(DatabaseHandle::open(path, &KIND, |writing| {
        write_tables(writing, now)
    })?)
}

/// Creates all tables, empty.
pub(crate) fn write_tables(writing: &WriteTransaction, now: Timestamp) -> Result<(), redb::Error> {
    let mut meta = writing.open_table(META)?;
    meta.insert(REVISION_KEY, 0)?;
    meta.insert(BORN_KEY, u64::try_from(now.as_micros()).unwrap_or_default())?;
    writing.open_table(CHARACTERS)?;
    writing.open_table(FEEDS)?;
    writing.open_table(HEARD)?;
    writing.open_table(ACTS)?;
    writing.open_table(EFFECTS)?;
    writing.open_table(EFFECT_ORDER)?;
    Ok(())
}
