//! Where the write-ahead file is.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use dormouse_database::{FileIdentity, FileStorage, create_private_file};
use redb::StorageBackend;

/// The place of a write-ahead file: next to the log, or in tests a disk that fails on request.
pub(crate) trait WalStore: fmt::Debug + Send + Sync {
    /// The whole content; `None` without a file, or if the file is empty.
    fn read(&self) -> io::Result<Option<Vec<u8>>>;

    /// Creates an empty file in place of the old one. Its name is on disk afterwards.
    fn create(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// Removes the file.
    fn remove(&self) -> io::Result<()>;
}

/// The name of the write-ahead file of the log at `log`. It exists while the log is open, and after a crash.
///
/// If a log was not closed, move or copy both files. If the log is a symbolic link, this file is next to the file that the link
/// points to.
#[must_use]
pub fn write_ahead_file(log: &Path) -> PathBuf {
    let real = fs::canonicalize(log);
    let mut name = real.as_deref().unwrap_or(log).as_os_str().to_owned();
    name.push(".wal");
    PathBuf::from(name)
}

/// The write-ahead file next to a log.
#[derive(Debug)]
pub(crate) struct WalFile {
    path: PathBuf,
    /// The file that was created here. Another process may have put a new one in its place since.
    ours: Mutex<Option<FileIdentity>>,
}

impl WalFile {
    /// The file of this log.
    pub(crate) fn of(log: &Path) -> Self {
        Self {
            path: write_ahead_file(log),
            ours: Mutex::new(None),
        }
    }

    fn ours(&self) -> std::sync::MutexGuard<'_, Option<FileIdentity>> {
        self.ours.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WalStore for WalFile {
    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(Some(bytes).filter(|bytes| !bytes.is_empty())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn create(&self) -> io::Result<Box<dyn StorageBackend>> {
        // A new file and not an emptied one: the old one may still be open in another process, which then removes it.
        remove(&self.path)?;
        let file = create_private_file(&self.path)?;
        *self.ours() = Some(FileIdentity::of(&file));
        Ok(Box::new(FileStorage::new(&self.path, file)?))
    }

    fn remove(&self) -> io::Result<()> {
        match self.ours().take() {
            Some(ours) if !ours.is_at(&self.path) => Ok(()),
            Some(_) | None => remove(&self.path),
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
