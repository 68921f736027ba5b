//! The collections of a folder, each a folder of its own.

use std::{
    collections::BTreeMap,
    fs::{self, File, TryLockError},
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use dormouse_contracts::{CollectionName, VectorErrorKind};

use super::{
    error::EdgeError,
    shard::{EdgeFailure, Shard},
};
use crate::direction::check_dimensions;

/// The prefix of folders that are being made or removed. No collection's folder starts with it.
const TEMPORARY: &str = "~";
/// The prefix of a collection's folder, so that no folder is named `.` or like the lock.
const COLLECTION: &str = "c_";

/// The collections of a folder, and the lock that keeps other indexes out.
pub(super) struct OpenShards {
    folder: PathBuf,
    open: BTreeMap<CollectionName, Shard>,
    _lock: File,
}

impl OpenShards {
    pub(super) fn open(folder: &Path) -> Result<Self, EdgeError> {
        let failed = |source| EdgeError::Io {
            folder: folder.to_owned(),
            source,
        };
        fs::create_dir_all(folder).map_err(failed)?;
        let lock = File::create(folder.join("lock")).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(EdgeError::InUse {
                    folder: folder.to_owned(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        sweep(folder).map_err(failed)?;
        Ok(Self {
            folder: folder.to_owned(),
            open: BTreeMap::new(),
            _lock: lock,
        })
    }

    /// Makes a collection if there is none.
    pub(super) fn prepare(
        &mut self,
        name: &CollectionName,
        dimensions: usize,
    ) -> Result<(), EdgeFailure> {
        check_dimensions(dimensions)?;
        let place = self.place(name);
        if !place.exists() {
            let aside = self.temporary(name);
            remove(&aside)?;
            fs::create_dir_all(&aside).map_err(disk)?;
            Shard::make(&aside, dimensions)?;
            fs::rename(&aside, &place).map_err(disk)?;
            File::open(&self.folder)
                .and_then(|folder| folder.sync_all())
                .map_err(disk)?;
        }
        self.with(name, |shard| {
            let expected = shard.dimensions();
            if expected == dimensions {
                Ok(())
            } else {
                Err(EdgeFailure::from(VectorErrorKind::Dimension {
                    expected,
                    actual: dimensions,
                }))
            }
        })
    }

    /// Runs work on a collection, and opens the collection first if it is not open.
    pub(super) fn with<T>(
        &mut self,
        name: &CollectionName,
        work: impl FnOnce(&Shard) -> Result<T, EdgeFailure>,
    ) -> Result<T, EdgeFailure> {
        if !self.open.contains_key(name) {
            let place = self.place(name);
            if !place.exists() {
                return Err(VectorErrorKind::Missing.into());
            }
            let shard = Shard::load(&place)?;
            self.open.insert(name.clone(), shard);
        }
        match self.open.get(name) {
            Some(shard) => work(shard),
            None => Err(VectorErrorKind::Missing.into()),
        }
    }

    /// Removes a collection, even one that cannot be opened.
    pub(super) fn discard(&mut self, name: &CollectionName) -> Result<(), EdgeFailure> {
        drop(self.open.remove(name));
        let (place, aside) = (self.place(name), self.temporary(name));
        remove(&aside)?;
        match fs::rename(&place, &aside) {
            Ok(()) => remove(&aside),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(disk(error)),
        }
    }

    /// Closes all collections; they are opened again when they are needed.
    pub(super) fn close(&mut self) {
        for (_, shard) in std::mem::take(&mut self.open) {
            // An engine that panicked once may panic again.
            drop(catch_unwind(AssertUnwindSafe(|| drop(shard))));
        }
    }

    fn place(&self, name: &CollectionName) -> PathBuf {
        self.folder.join(format!("{COLLECTION}{name}"))
    }

    fn temporary(&self, name: &CollectionName) -> PathBuf {
        self.folder.join(format!("{TEMPORARY}{name}"))
    }
}

/// Removes folders that a crash left partly made or partly removed.
fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && entry.file_name().to_string_lossy().starts_with(TEMPORARY)
        {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<(), EdgeFailure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(disk(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn disk(error: io::Error) -> EdgeFailure {
    EdgeFailure::because(VectorErrorKind::Unavailable, error)
}
