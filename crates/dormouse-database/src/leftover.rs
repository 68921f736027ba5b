//! Removes temporary files of processes that were killed while they created a file.
//!
//! A process locks its temporary file before the first write, and keeps the lock until the new file is complete. The
//! operating system releases the lock if the process is killed, so a temporary file that can be locked is abandoned. If
//! another process removes the temporary file before it is locked, its creator detects that and uses another name.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    ops::Bound,
    path::{Path, PathBuf},
};

use redb::{StorageBackend, backends::FileBackend};

/// The name of a temporary file for the file at `path`, in the form that [`sweep_leftovers`] recognises; `None` if
/// `path` has no file name.
#[must_use]
pub fn temporary_name(path: &Path, process: u32, attempt: u32) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(path.file_name()?);
    name.push(format!(".{process}.{attempt}.new"));
    Some(path.with_file_name(name))
}

/// Whether `name` is the name of a temporary file for a file named `of`.
fn is_temporary(name: &OsStr, of: &OsStr) -> bool {
    let numbers = name
        .as_encoded_bytes()
        .strip_prefix(b".")
        .and_then(|rest| rest.strip_prefix(of.as_encoded_bytes()))
        .and_then(|rest| rest.strip_prefix(b"."))
        .and_then(|rest| rest.strip_suffix(b".new"));
    let is_number = |bytes: &[u8]| {
        !bytes.is_empty() && bytes.len() <= 10 && bytes.iter().all(u8::is_ascii_digit)
    };
    let mut numbers = numbers.unwrap_or_default().split(|byte| *byte == b'.');
    let (process, attempt) = (numbers.next(), numbers.next());
    numbers.next().is_none() && process.is_some_and(is_number) && attempt.is_some_and(is_number)
}

/// The folder `path` is in.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

/// Removes the temporary files that killed processes left for the file at `path`. A locked one is in use and stays; one
/// that cannot be removed does no harm.
pub fn sweep_leftovers(path: &Path) {
    let (Some(of), Ok(entries)) = (path.file_name(), fs::read_dir(folder(path))) else {
        return;
    };
    for entry in entries.flatten() {
        if !is_temporary(&entry.file_name(), of) {
            continue;
        }
        let leftover = path.with_file_name(entry.file_name());
        match remove_if_abandoned(&leftover, path) {
            Ok(true) => {
                tracing::info!(file = %leftover.display(), "a temporary file of a killed process was removed");
            }
            Ok(false) => {}
            Err(error) => {
                tracing::debug!(%error, file = %leftover.display(), "a temporary file of a killed process cannot be removed");
            }
        }
    }
}

/// Removes the temporary name of the existing file at `path`, if its creation was killed after the file got its final name and
/// before the temporary name was removed.
///
/// A creation that was killed earlier left no file at `path`, so the next creation removes what it left. The folder is read only
/// if the file has several names: it may hold thousands of files.
pub(crate) fn remove_second_name(path: &Path) {
    if may_have_second_name(path) {
        sweep_leftovers(path);
    }
}

#[cfg(unix)]
fn may_have_second_name(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    fs::metadata(path).is_ok_and(|file| file.nlink() > 1)
}

#[cfg(not(unix))]
fn may_have_second_name(_: &Path) -> bool {
    true
}

fn remove_if_abandoned(leftover: &Path, path: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(leftover)?;
    if !found.is_file() {
        return Ok(false);
    }
    if is_second_name(&found, path) {
        // Locking this name would lock the file itself and reject a process that opens it at this moment.
        return fs::remove_file(leftover).map(|()| true);
    }
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(leftover)?;
    let backend = FileBackend::new(file).map_err(io::Error::other)?;
    let locked = backend.try_lock_range(Bound::Unbounded, Bound::Unbounded);
    let removed = match locked {
        Ok(true) => fs::remove_file(leftover).map(|()| true),
        // The file is in use, or the file system has no locks.
        Ok(false) | Err(_) => Ok(false),
    };
    backend.close()?;
    removed
}

/// Whether a creation was killed after the file got its final name and before its temporary name was removed.
#[cfg(unix)]
fn is_second_name(found: &fs::Metadata, path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| inode(&file) == inode(found))
}

#[cfg(not(unix))]
fn is_second_name(_: &fs::Metadata, _: &Path) -> bool {
    false
}

/// Identifies a file on this machine.
#[cfg(unix)]
pub(crate) fn inode(found: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;

    (found.dev(), found.ino())
}
