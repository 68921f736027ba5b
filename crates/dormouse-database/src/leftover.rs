//! Files that a killed creation left behind.
//!
//! A creation locks its temporary file before it writes into it, and holds the lock until it ends. So what can be locked
//! is nobody's; and whoever loses a file in the moment before it was locked notices, and takes another.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    ops::Bound,
    path::{Path, PathBuf},
};

use redb::{StorageBackend, backends::FileBackend};

/// The name of a temporary file for the file at `path`; none if `path` names no file.
pub(crate) fn name(path: &Path, process: u32, attempt: u32) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(path.file_name()?);
    name.push(format!(".{process}.{attempt}.new"));
    Some(path.with_file_name(name))
}

/// Whether `name` is that of a temporary file for a file named `of`.
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

/// Removes what killed creations of the file at `path` left behind. What cannot be removed stays: it does no harm.
pub(crate) fn sweep(path: &Path) {
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
                tracing::info!(file = %leftover.display(), "what an unfinished creation left was removed");
            }
            Ok(false) => {}
            Err(error) => {
                tracing::debug!(%error, file = %leftover.display(), "what an unfinished creation left stays");
            }
        }
    }
}

fn remove_if_abandoned(leftover: &Path, path: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(leftover)?;
    if !found.is_file() {
        return Ok(false);
    }
    if is_second_name(&found, path) {
        // Locking it would lock the file itself, for whoever opens it in this moment.
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
        // In use, or on a file system that cannot tell.
        Ok(false) | Err(_) => Ok(false),
    };
    backend.close()?;
    removed
}

/// Whether a creation was killed after the file had its name and before it lost the other.
#[cfg(unix)]
fn is_second_name(found: &fs::Metadata, path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| inode(&file) == inode(found))
}

#[cfg(not(unix))]
fn is_second_name(_: &fs::Metadata, _: &Path) -> bool {
    false
}

/// What tells one file from any other on this machine.
#[cfg(unix)]
pub(crate) fn inode(found: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;

    (found.dev(), found.ino())
}
