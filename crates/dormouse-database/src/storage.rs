//! A file whose errors name the path, the operation and its size in bytes.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use redb::{StorageBackend, backends::FileBackend};

use crate::forward::forward_locks;

/// A database file on disk. Its errors name the file and the number of bytes.
#[derive(Debug)]
pub struct FileStorage {
    path: PathBuf,
    backend: FileBackend,
}

impl FileStorage {
    /// Storage in `file`. Errors contain `path` as the name of the file.
    ///
    /// # Errors
    ///
    /// Any error of the operating system.
    pub fn new(path: &Path, file: File) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            backend: FileBackend::new(file).map_err(io::Error::other)?,
        })
    }

    fn named(&self, operation: FileOperation, source: io::Error) -> io::Error {
        // The error keeps its kind, because callers use it to distinguish a full disk from damage.
        io::Error::new(
            source.kind(),
            FileError {
                path: self.path.clone(),
                operation,
                source,
            },
        )
    }
}

/// A failed operation on a file.
///
/// redb's errors have no source, so the text contains the cause.
#[derive(Debug, thiserror::Error)]
#[error("{} {operation}: {source}", path.display())]
struct FileError {
    path: PathBuf,
    operation: FileOperation,
    source: io::Error,
}

/// The operation that failed.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum FileOperation {
    #[error("has no readable length")]
    Measure,
    #[error("cannot be read: {bytes} bytes at byte {offset}")]
    Read { offset: u64, bytes: usize },
    #[error("cannot be written: {bytes} bytes at byte {offset}")]
    Write { offset: u64, bytes: usize },
    #[error("cannot be resized to {bytes} bytes")]
    Resize { bytes: u64 },
    #[error("cannot be synced to the disk")]
    Sync,
}

impl StorageBackend for FileStorage {
    fn len(&self) -> io::Result<u64> {
        let length = self.backend.len();
        length.map_err(|error| self.named(FileOperation::Measure, error))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = out.len();
        let read = self.backend.read(offset, out);
        read.map_err(|error| self.named(FileOperation::Read { offset, bytes }, error))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let resized = self.backend.set_len(len);
        resized.map_err(|error| self.named(FileOperation::Resize { bytes: len }, error))
    }

    fn sync_data(&self) -> io::Result<()> {
        let synced = self.backend.sync_data();
        synced.map_err(|error| self.named(FileOperation::Sync, error))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let bytes = data.len();
        let written = self.backend.write(offset, data);
        written.map_err(|error| self.named(FileOperation::Write { offset, bytes }, error))
    }

    forward_locks!(backend);
}
