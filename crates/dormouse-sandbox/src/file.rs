//! Creating and opening the file.

use std::{
    io,
    path::{Path, PathBuf},
};

use dormouse_contracts::{BoxError, IdError, Timestamp};
use dormouse_database::{Database, FileKind};
use redb::WriteTransaction;

use crate::records::{
    BORN_KEY, CHARACTERS, EFFECT_ORDER, EFFECTS, FEEDS, FORMAT, META, META_NAME, REVISION_KEY,
};

#[cfg(test)]
mod tests;

/// The file of a world. A world is small, so little of it is kept in memory, and all of it is checked.
pub(crate) const KIND: FileKind = FileKind {
    what: "a sandbox world",
    name: META_NAME,
    format: FORMAT,
    cache_bytes: 4 << 20,
    check_up_to_bytes: u64::MAX,
};

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

impl From<dormouse_database::OpenError> for OpenError {
    fn from(error: dormouse_database::OpenError) -> Self {
        use dormouse_database::OpenError as Found;

        match error {
            // It was there or was made, and has been taken away since.
            Found::Absent { path, .. } => Self::Io {
                path,
                source: io::ErrorKind::NotFound.into(),
            },
            Found::Empty { path, .. } => Self::Empty { path },
            Found::InUse { path } => Self::InUse { path },
            Found::Foreign { path, .. } => Self::Foreign { path },
            Found::NewerFormat { path, found, .. } => Self::NewerFormat { path, found },
            Found::Damaged { path, source, .. } => Self::Damaged { path, source },
            Found::Repaired { path } => Self::Repaired { path },
            Found::Io { path, source, .. } => Self::Io { path, source },
        }
    }
}

/// Opens the file at `path`, or creates it as a world made at `now`.
pub(crate) fn open(path: &Path, now: Timestamp) -> Result<Database, OpenError> {
    Ok(dormouse_database::open(path, &KIND, |writing| {
        write_tables(writing, now)
    })?)
}

/// Lays down all tables, empty.
pub(crate) fn write_tables(writing: &WriteTransaction, now: Timestamp) -> Result<(), redb::Error> {
    let mut meta = writing.open_table(META)?;
    meta.insert(REVISION_KEY, 0)?;
    meta.insert(BORN_KEY, u64::try_from(now.as_micros()).unwrap_or_default())?;
    writing.open_table(CHARACTERS)?;
    writing.open_table(FEEDS)?;
    writing.open_table(EFFECTS)?;
    writing.open_table(EFFECT_ORDER)?;
    Ok(())
}
