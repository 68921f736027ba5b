use std::{
    io,
    path::{Path, PathBuf},
};

use dormouse_contracts::BoxError;
use redb::{DatabaseError, StorageError};

use crate::{fault::is_disk, kind::FileKind};

/// Why a file cannot be opened. It is as it was, except where [`OpenError::Repaired`] says otherwise.
///
/// The text says which file, what is wrong with it, and what to do. The list is complete: who wraps it says what becomes
/// of each.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no file, and none was to be made.
    #[error("there is no file {}, where {what} was expected: check the path", path.display())]
    Absent {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
    },
    /// The file is there and has no bytes. Nothing here ever leaves one like that.
    #[error("{} is empty, and is no longer {what}: restore it from a copy, or remove it to begin anew", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
    },
    /// Another process, or this one, has the file open.
    #[error("{} is in use by another process: nothing is wrong with it. Stop that one, then try again", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file holds something else, and was left alone.
    #[error("{} is not {what}, and was left alone: name another file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
    },
    /// A newer version wrote the file.
    #[error(
        "{} is {what} of format {found}, and this version reads up to {newest}: nothing is wrong with it. Use the newer version",
        path.display()
    )]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// What it holds.
        what: &'static str,
        /// Its format.
        found: u64,
        /// The newest format that is read.
        newest: u64,
    },
    /// The file is truncated or corrupt, and was left as it is.
    #[error("{} is damaged, or is not {what} at all: restore it from a copy", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
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
    #[error("{} cannot be opened as {what}: check its folder, the permissions and the room on the disk", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl OpenError {
    /// The file it is about.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Absent { path, .. }
            | Self::Empty { path, .. }
            | Self::InUse { path }
            | Self::Foreign { path, .. }
            | Self::NewerFormat { path, .. }
            | Self::Damaged { path, .. }
            | Self::Repaired { path }
            | Self::Io { path, .. } => path,
        }
    }
}

/// A file and what it should hold: what every error names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) path: &'a Path,
    pub(crate) kind: &'a FileKind,
}

impl Subject<'_> {
    pub(crate) fn absent(self) -> OpenError {
        let (path, what) = self.parts();
        OpenError::Absent { path, what }
    }

    pub(crate) fn empty(self) -> OpenError {
        let (path, what) = self.parts();
        OpenError::Empty { path, what }
    }

    pub(crate) fn foreign(self) -> OpenError {
        let (path, what) = self.parts();
        OpenError::Foreign { path, what }
    }

    pub(crate) fn newer(self, found: u64) -> OpenError {
        let (path, what) = self.parts();
        OpenError::NewerFormat {
            path,
            what,
            found,
            newest: self.kind.format,
        }
    }

    pub(crate) fn repaired(self) -> OpenError {
        let path = self.path.into();
        OpenError::Repaired { path }
    }

    pub(crate) fn damaged(self, source: impl Into<BoxError>) -> OpenError {
        let (path, what) = self.parts();
        let source = source.into();
        OpenError::Damaged { path, what, source }
    }

    pub(crate) fn io(self, source: io::Error) -> OpenError {
        let (path, what) = self.parts();
        OpenError::Io { path, what, source }
    }

    /// What the library says when it opens a file: the file system's fault, or that of the file's own bytes.
    pub(crate) fn unopened(self, error: DatabaseError) -> OpenError {
        match error {
            DatabaseError::DatabaseAlreadyOpen => OpenError::InUse {
                path: self.path.into(),
            },
            DatabaseError::Storage(StorageError::Io(source)) if is_disk(&source) => self.io(source),
            error => self.damaged(error),
        }
    }

    /// What the library says about a file that is being made, which only the disk can spoil.
    pub(crate) fn unmade(self, error: redb::Error) -> OpenError {
        match error {
            redb::Error::Io(source) => self.io(source),
            error => self.io(io::Error::other(error)),
        }
    }

    fn parts(self) -> (std::path::PathBuf, &'static str) {
        (self.path.into(), self.kind.what)
    }
}
