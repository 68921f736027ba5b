use std::{
    io,
    path::{Path, PathBuf},
};

use crate::kind::FileSignature;
use dormouse_contracts::BoxError;

/// Why a file cannot be opened. The file is unchanged, except for [`DatabaseOpenError::Repaired`].
///
/// The text names the file, the problem and the remedy. The enum is exhaustive, so that a caller decides about each
/// variant.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseOpenError {
    /// The file does not exist, and the caller did not ask to create it.
    #[error("there is no file {}, where {what} was expected: check the path", path.display())]
    Absent {
        /// The file.
        path: PathBuf,
        /// The expected content.
        what: &'static str,
    },
    /// The file exists and is empty. This crate never leaves an empty file.
    #[error("{} is empty, and is no longer {what}: restore it from a copy, or move it away to begin anew", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// The expected content.
        what: &'static str,
    },
    /// Another process, or this one, has the file open.
    #[error("{} is in use by another process: nothing is wrong with it. Stop that process, then try again", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file contains something else. It was not changed.
    #[error("{} is not {what}, and was left alone: choose another file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The expected content.
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
        /// The content.
        what: &'static str,
        /// The file's format.
        found: u64,
        /// The newest format that this version reads.
        newest: u64,
    },
    /// An earlier version wrote the file, in a format that this version does not read. It was not changed.
    #[error(
        "{} is {what} of format {found}, and this version reads only {known}: nothing was changed. Move it away to begin a new one, or use the version that wrote it",
        path.display()
    )]
    OlderFormat {
        /// The file.
        path: PathBuf,
        /// The content.
        what: &'static str,
        /// The file's format.
        found: u64,
        /// The format that this version reads.
        known: u64,
    },
    /// The file is shorter than its own header says. It was not changed.
    #[error(
        "{}, {what}, was truncated: it has {found} bytes and needs at least {expected}. Restore it from a copy",
        path.display()
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The expected content.
        what: &'static str,
        /// Its length in bytes.
        found: u64,
        /// The smallest length in bytes that fits its header.
        expected: u64,
    },
    /// The file is corrupt. It was not changed.
    #[error("{} is damaged, or is not {what} at all: restore it from a copy", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The expected content.
        what: &'static str,
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
    #[error("{} cannot be opened as {what}: check its folder, the permissions and the free space", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The expected content.
        what: &'static str,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl DatabaseOpenError {
    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Absent { path, .. }
            | Self::Empty { path, .. }
            | Self::InUse { path }
            | Self::Foreign { path, .. }
            | Self::NewerFormat { path, .. }
            | Self::OlderFormat { path, .. }
            | Self::Truncated { path, .. }
            | Self::Damaged { path, .. }
            | Self::Repaired { path }
            | Self::Io { path, .. } => path,
        }
    }
}

/// A file and its expected content; every error names both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileSubject<'a> {
    pub(crate) path: &'a Path,
    pub(crate) kind: &'a dyn FileSignature,
}

impl FileSubject<'_> {
    pub(crate) fn absent(self) -> DatabaseOpenError {
        let (path, what) = self.parts();
        DatabaseOpenError::Absent { path, what }
    }

    pub(crate) fn empty(self) -> DatabaseOpenError {
        let (path, what) = self.parts();
        DatabaseOpenError::Empty { path, what }
    }

    pub(crate) fn foreign(self) -> DatabaseOpenError {
        let (path, what) = self.parts();
        DatabaseOpenError::Foreign { path, what }
    }

    pub(crate) fn newer(self, found: u64) -> DatabaseOpenError {
        let (path, what) = self.parts();
        DatabaseOpenError::NewerFormat {
            path,
            what,
            found,
            newest: self.kind.newest_format(),
        }
    }

    pub(crate) fn older(self, found: u64) -> DatabaseOpenError {
        let (path, what) = self.parts();
        DatabaseOpenError::OlderFormat {
            path,
            what,
            found,
            known: self.kind.newest_format(),
        }
    }

    pub(crate) fn in_use(self) -> DatabaseOpenError {
        let path = self.path.into();
        DatabaseOpenError::InUse { path }
    }

    pub(crate) fn truncated(self, found: u64, expected: u64) -> DatabaseOpenError {
        let (path, what) = self.parts();
        DatabaseOpenError::Truncated {
            path,
            what,
            found,
            expected,
        }
    }

    pub(crate) fn repaired(self) -> DatabaseOpenError {
        let path = self.path.into();
        DatabaseOpenError::Repaired { path }
    }

    pub(crate) fn damaged(self, source: impl Into<BoxError>) -> DatabaseOpenError {
        let (path, what) = self.parts();
        let source = source.into();
        DatabaseOpenError::Damaged { path, what, source }
    }

    pub(crate) fn io(self, source: io::Error) -> DatabaseOpenError {
        let (path, what) = self.parts();
        DatabaseOpenError::Io { path, what, source }
    }

    /// Classifies redb's error on opening: an error of the file system, or of the file's content.
    pub(crate) fn unopened(self, error: impl Into<redb::Error>) -> DatabaseOpenError {
        match error.into() {
            redb::Error::DatabaseAlreadyOpen => self.in_use(),
            redb::Error::Io(source) if is_disk(&source) => self.io(source),
            error @ redb::Error::PreviousIo => self.io(io::Error::other(error)),
            error => self.damaged(error),
        }
    }

    /// Classifies redb's error on creating a file: only the disk can cause one.
    pub(crate) fn unmade(self, error: redb::Error) -> DatabaseOpenError {
        match error {
            redb::Error::Io(source) => self.io(source),
            error => self.io(io::Error::other(error)),
        }
    }

    fn parts(self) -> (std::path::PathBuf, &'static str) {
        (self.path.into(), self.kind.what())
    }
}

/// Whether the file system itself failed. If not, the requested bytes are missing or invalid.
pub(crate) fn is_disk(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
    )
}
