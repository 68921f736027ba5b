//! A read-only snapshot of a file, for readers that must not write to the file, or while another process has it open.
//!
//! redb repairs and marks every file that it opens, so it needs writable storage. This storage keeps the writes in
//! memory.
//!
//! Another process may keep writing the file. redb survives a crash at any moment because it never changes a page of
//! its newest commit before it publishes the next commit by writing the header. So a page that was read while the
//! header was unchanged belongs to the commit that the header names. Every page is checked this way, and a page that
//! fails is never returned.

use std::{
    fs::File,
    io,
    ops::Bound,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use dormouse_contracts::invariant;
use redb::{StorageBackend, backends::FileBackend};

mod layers;
mod source;

use layers::Layers;
use source::{FrozenSource, busy};

/// A file in use is copied into memory if it is not longer than this, so that later commits do not affect the snapshot.
/// A longer file is read page by page, and reading fails at the next commit.
const COPY_UP_TO_BYTES: u64 = 1 << 30;
/// The header is checked after each piece of this length, so that a failed copy ends early.
const PIECE_BYTES: u64 = 1 << 20;
/// How many commits may interrupt the copy before it is given up. Each new attempt starts directly after a commit, when
/// there is most time until the next one.
const ATTEMPTS: u32 = 2_000;

/// Storage that shows a file as it was when it was opened. It never writes to the file and takes no lock.
#[derive(Debug)]
pub(crate) struct FrozenFile {
    state: Mutex<FrozenState>,
    is_in_use: bool,
}

#[derive(Debug)]
struct FrozenState {
    source: FrozenSource,
    layers: Layers,
}

impl FrozenFile {
    /// Opens the file at `path`. If another process has the file open, and the file is not too long, its newest commit
    /// is copied into memory.
    ///
    /// # Errors
    ///
    /// Any error of the operating system; [`io::ErrorKind::ResourceBusy`] if commits follow each other too fast.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::open_with(path, || Ok(()))?.0)
    }

    /// Like [`Self::open`]. Also calls `other`, which reads what belongs to the newest commit and is not in the file: no
    /// further commit is published until `other` has returned.
    pub(crate) fn open_with<T>(
        path: &Path,
        mut other: impl FnMut() -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        let is_in_use = is_in_use(path)?;
        for _ in 0..ATTEMPTS {
            let (source, header) = FrozenSource::open(path)?;
            let length = source.length()?;
            let mut state = FrozenState {
                source,
                layers: Layers::new(header, length),
            };
            if is_in_use && length <= COPY_UP_TO_BYTES && state.copy(length)? == Copied::Overtaken {
                continue;
            }
            let other = other()?;
            if state.source.is_current()? {
                let state = Mutex::new(state);
                return Ok((Self { state, is_in_use }, other));
            }
        }
        Err(busy(path))
    }

    /// Whether another process had the file open when this snapshot was taken.
    pub(crate) fn is_in_use(&self) -> bool {
        self.is_in_use
    }

    fn state(&self) -> MutexGuard<'_, FrozenState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether another process has the file open for writing. Checks without locking, because a lock could keep a program
/// from starting.
pub(crate) fn is_in_use(path: &Path) -> io::Result<bool> {
    let backend = FileBackend::new(File::open(path)?).map_err(io::Error::other)?;
    let first_byte = (Bound::Included(0), Bound::Included(0));
    // A file system without locks cannot answer. Then the file is not copied, and its pages are checked while they are
    // read.
    Ok(backend
        .query_lock_range(first_byte.0, first_byte.1)
        .unwrap_or(false))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copied {
    All,
    /// A commit interrupted the copy.
    Overtaken,
}

impl FrozenState {
    fn copy(&mut self, length: u64) -> io::Result<Copied> {
        self.layers.reserve(length.min(COPY_UP_TO_BYTES))?;
        let mut at = 0;
        while at < length {
            let piece = PIECE_BYTES.min(length - at);
            let mut bytes = vec![0; invariant!(usize::try_from(piece), "a piece fits into memory")];
            if !self.source.read(at, &mut bytes)? {
                return Ok(Copied::Overtaken);
            }
            self.layers.show(&bytes);
            at += piece;
        }
        Ok(Copied::All)
    }
}

impl StorageBackend for FrozenFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state().layers.length())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.state();
        let FrozenState { source, layers } = &mut *state;
        layers.read(source, offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.state().layers.set_len(len);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        let FrozenState { source, layers } = &mut *state;
        layers.write(source, offset, data)
    }
}

#[cfg(test)]
mod tests;
