//! Saves a cassette atomically.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    cassette::Cassette,
    check::{AcceptedFindings, Finding},
};

/// Why a cassette was not saved. The existing file is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The check has findings.
    #[error("the cassette still has {} suspicious passages: review them, then accept them, or scrub the cassette again with further known secrets", .0.len())]
    Suspicious(Vec<Finding>),
    /// The path has no file name.
    #[error("the path has no file name")]
    NoFile,
    /// The file cannot be written.
    #[error("the cassette could not be written")]
    Io(#[source] io::Error),
}

/// How many temporary names are tried: other processes may save to the same path.
const NAMES: u32 = 64;

impl Cassette {
    /// Checks the cassette and writes it to `path`, replacing an existing file. Only its owner may read it (on Unix).
    ///
    /// The cassette is written to a temporary file next to `path`, synced and renamed, so the file at `path` is always
    /// complete.
    ///
    /// # Errors
    ///
    /// - [`SaveError::Suspicious`]: [`Cassette::check_except`] found something. Nothing was written.
    /// - [`SaveError::NoFile`]: the path ends with `..` or is a root.
    /// - [`SaveError::Io`]: a missing folder, a full disk, and the like. The temporary file is removed.
    pub fn save(&self, path: &Path, accepted: &AcceptedFindings) -> Result<(), SaveError> {
        let findings = self.check_except(accepted);
        if !findings.is_empty() {
            return Err(SaveError::Suspicious(findings));
        }
        let name = path.file_name().ok_or(SaveError::NoFile)?;
        let (file, temporary) = create_temporary(path, name).map_err(SaveError::Io)?;
        let saved = self.fill(file).and_then(|()| fs::rename(&temporary, path));
        saved.map_err(|error| {
            // The first error is reported, even if the temporary file cannot be removed.
            drop(fs::remove_file(&temporary));
            SaveError::Io(error)
        })?;
        settle(path).map_err(SaveError::Io)
    }

    fn fill(&self, file: File) -> io::Result<()> {
        let mut buffered = BufWriter::new(file);
        self.write(&mut buffered)?;
        buffered.flush()?;
        buffered.get_ref().sync_all()
    }
}

/// Creates a new file in the same folder.
fn create_temporary(path: &Path, name: &std::ffi::OsStr) -> io::Result<(File, PathBuf)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut number = 0;
    loop {
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{number}.part", std::process::id()));
        let temporary = path.with_file_name(temporary);
        match options.open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES => {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Syncs the folder, so that the new name is on disk.
fn settle(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}
