use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use dormouse_contracts::BoxError;

use crate::{scan::Readable, wal::write_ahead_file};

/// Why a log could not be opened. Nothing was created, replaced or reset, except for [`LogOpenError::Repaired`].
///
/// The text says what is wrong with which file, what of it is intact, and what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum LogOpenError {
    /// Another process, or another handle in this one, has the log open.
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file does not exist, and the caller did not ask to create it.
    Absent {
        /// The file.
        path: PathBuf,
    },
    /// The file has no bytes. The log never leaves an empty file, so something else has emptied it.
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a log. It was not changed.
    NotALog {
        /// The file.
        path: PathBuf,
    },
    /// The file is shorter than it was.
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its length in bytes.
        found: u64,
        /// The smallest length in bytes that fits its header.
        expected: u64,
        /// What can still be read.
        readable: Vec<Readable>,
    },
    /// The file is damaged.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What can still be read.
        readable: Vec<Readable>,
        /// How the damage was noticed.
        source: BoxError,
    },
    /// The log was not closed, and the file with its newest events ([`write_ahead_file`](crate::write_ahead_file)) is missing
    /// or damaged, or belongs to another log or another moment.
    WriteAhead {
        /// The file of the log.
        path: PathBuf,
        /// What can still be read of both files.
        readable: Vec<Readable>,
        /// What is wrong.
        source: BoxError,
    },
    /// A newer version of the program wrote the file.
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The newest format this program knows.
        known: u64,
    },
    /// The file was damaged and has been set back to its last intact state. Opening it again succeeds.
    Repaired {
        /// The file.
        path: PathBuf,
    },
    /// The operating system does not let this user read and write the file or its folder.
    Denied {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The disk or the file system failed, or the folder is not there.
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl LogOpenError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.into();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Denied { path, source }
            }
            _ => Self::Io { path, source },
        }
    }

    /// The file that the error is about.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::InUse { path }
            | Self::Absent { path }
            | Self::Empty { path }
            | Self::NotALog { path }
            | Self::Truncated { path, .. }
            | Self::Corrupt { path, .. }
            | Self::WriteAhead { path, .. }
            | Self::Newer { path, .. }
            | Self::Repaired { path }
            | Self::Denied { path, .. }
            | Self::Io { path, .. } => path,
        }
    }

    /// What of a damaged file can still be read; empty if the file is not damaged, or nothing can be read.
    #[must_use]
    pub fn readable(&self) -> &[Readable] {
        match self {
            Self::Truncated { readable, .. }
            | Self::Corrupt { readable, .. }
            | Self::WriteAhead { readable, .. } => readable,
            Self::InUse { .. }
            | Self::Absent { .. }
            | Self::Empty { .. }
            | Self::NotALog { .. }
            | Self::Newer { .. }
            | Self::Repaired { .. }
            | Self::Denied { .. }
            | Self::Io { .. } => &[],
        }
    }
}

impl fmt::Display for LogOpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path().display();
        match self {
            Self::InUse { .. } => write!(
                f,
                "the log {path} is in use by another process; nothing is wrong with it. Wait until that program has ended, or stop it; if it is `dormouse run` that just starts, try again in a moment"
            ),
            Self::Absent { .. } => write!(f, "there is no log at {path}; check the folder"),
            Self::Empty { .. } => write!(
                f,
                "the log {path} is an empty file, which no version of this program leaves behind. Nothing can be read from it. Restore it from a backup, or move it away to begin a new life"
            ),
            Self::NotALog { .. } => write!(
                f,
                "{path} is not an event log and was left alone. Choose another folder, or move it away"
            ),
            Self::Truncated {
                found,
                expected,
                readable,
                ..
            } => {
                write!(
                    f,
                    "the log {path} was cut short: it has {found} bytes and should have at least {expected}. "
                )?;
                remedy(f, self.path(), readable)
            }
            Self::Corrupt { readable, .. } => {
                write!(f, "the log {path} is damaged. ")?;
                remedy(f, self.path(), readable)
            }
            Self::WriteAhead { readable, .. } => {
                write!(
                    f,
                    "the log {path} was not closed and cannot be used without the right {}; both were left as they are. Bring back the two files of one moment. ",
                    write_ahead_file(self.path()).display()
                )?;
                remedy(f, self.path(), readable)
            }
            Self::Newer { found, known, .. } => write!(
                f,
                "the log {path} has format {found}, and this version reads up to {known}. Nothing is wrong with it; use the newer version of the program"
            ),
            Self::Repaired { .. } => write!(
                f,
                "the log {path} was damaged and has been set back to its last intact state. Start again to go on with it, and compare it with a backup"
            ),
            Self::Denied { .. } => write!(
                f,
                "the log {path} may not be read and written by this user; nothing was changed. Check the owner and mode of the file and its folder"
            ),
            Self::Io { .. } => write!(
                f,
                "the log {path} could not be reached; nothing was changed. Check the disk and the folder"
            ),
        }
    }
}

/// How many assistants are named in a message. More would hide the advice at its end.
const NAMED: usize = 8;

fn remedy(f: &mut fmt::Formatter<'_>, path: &Path, readable: &[Readable]) -> fmt::Result {
    if readable.iter().all(|log| log.events == 0) {
        return f.write_str("No event can be read from it. Restore it from a backup");
    }
    f.write_str("Still readable: ")?;
    for (index, log) in readable.iter().take(NAMED).enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{log}")?;
    }
    if readable.len() > NAMED {
        write!(f, " and {} more assistants", readable.len() - NAMED)?;
    }
    write!(
        f,
        ". Keep the file, and restore it from a backup, or copy what is readable into a new one with `dormouse log salvage --into NEW-FILE {}`",
        path.display()
    )
}

impl std::error::Error for LogOpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Corrupt { source, .. } | Self::WriteAhead { source, .. } => Some(source.as_ref()),
            Self::Denied { source, .. } | Self::Io { source, .. } => Some(source),
            Self::InUse { .. }
            | Self::Absent { .. }
            | Self::Empty { .. }
            | Self::NotALog { .. }
            | Self::Truncated { .. }
            | Self::Newer { .. }
            | Self::Repaired { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_by_the_operating_system_are_distinguished_from_failures() {
        let path = Path::new("/life/log.redb");
        let denied = LogOpenError::io(path, io::ErrorKind::PermissionDenied.into());
        assert!(matches!(denied, LogOpenError::Denied { .. }));
        assert_eq!(
            denied.to_string(),
            "the log /life/log.redb may not be read and written by this user; nothing was changed. Check the owner and mode of the file and its folder"
        );
        let failed = LogOpenError::io(path, io::ErrorKind::StorageFull.into());
        assert!(matches!(failed, LogOpenError::Io { .. }));
    }

    #[test]
    fn a_damaged_log_names_what_is_readable_and_the_way_to_save_it() {
        let readable = |name: &str, events, stop| Readable {
            assistant: dormouse_contracts::AssistantId::try_new(name).unwrap(),
            events,
            stop,
        };
        let error = LogOpenError::Truncated {
            path: "log.redb".into(),
            found: 4096,
            expected: 8192,
            readable: vec![
                readable("alice", 12, crate::Stop::End),
                readable("bob", 3, crate::Stop::Gap),
            ],
        };
        assert_eq!(
            error.to_string(),
            "the log log.redb was cut short: it has 4096 bytes and should have at least 8192. Still readable: \
             alice: 12 events, bob: 3 events (then one is lost). Keep the file, and restore it from a backup, or copy what \
             is readable into a new one with `dormouse log salvage --into NEW-FILE log.redb`"
        );
    }
}
