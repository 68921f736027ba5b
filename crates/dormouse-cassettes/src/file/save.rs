//! Puts a cassette on disk, whole or not at all.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    cassette::Cassette,
    check::{AcceptedFindings, Finding},
};

/// Why a cassette was not saved. What was at its place before is there still.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// There is something in it that looks as if it did not belong there.
    #[error("the cassette still holds {} suspicious passages: look at them, and accept them or scrub it again with further secrets", .0.len())]
    Suspicious(Vec<Finding>),
    /// The path names no file.
    #[error("the path names no file")]
    NoFile,
    /// The file could not be written.
    #[error("the cassette could not be written")]
    Io(#[source] io::Error),
}

/// How many names for the new file are tried: others may be saving to the same place.
const NAMES: u32 = 64;

impl Cassette {
    /// Checks the cassette and writes it to `path`, in place of what is there. Only its owner may read it (on Unix).
    ///
    /// The file is written beside `path`, brought to disk and then renamed, so that there is a whole one at any time.
    ///
    /// # Errors
    ///
    /// - [`SaveError::Suspicious`]: [`Cassette::check_except`] found something. Nothing was written.
    /// - [`SaveError::NoFile`]: the path ends with `..` or is a root.
    /// - [`SaveError::Io`]: the folder is missing, the disk is full, or the like. What was begun is removed again.
    pub fn save(&self, path: &Path, accepted: &AcceptedFindings) -> Result<(), SaveError> {
        let findings = self.check_except(accepted);
        if !findings.is_empty() {
            return Err(SaveError::Suspicious(findings));
        }
        let name = path.file_name().ok_or(SaveError::NoFile)?;
        let (file, beside) = created_beside(path, name).map_err(SaveError::Io)?;
        let saved = self.fill(file).and_then(|()| fs::rename(&beside, path));
        saved.map_err(|error| {
            // The first error is the one to tell; a leftover is found by its name.
            drop(fs::remove_file(&beside));
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

/// A new file in the same folder, which nobody else has opened.
fn created_beside(path: &Path, name: &std::ffi::OsStr) -> io::Result<(File, PathBuf)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut number = 0;
    loop {
        let mut beside = std::ffi::OsString::from(".");
        beside.push(name);
        beside.push(format!(".{}-{number}.part", std::process::id()));
        let beside = path.with_file_name(beside);
        match options.open(&beside) {
            Ok(file) => return Ok((file, beside)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES => {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Brings the new name to disk as well.
fn settle(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}
