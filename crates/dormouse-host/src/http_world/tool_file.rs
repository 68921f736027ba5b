//! The file with the tools that a world offers, so that assistants have them when they wake before their world.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use dormouse_contracts::ToolSpec;

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ToolFileError {
    /// It could not be read or written.
    #[error("the tools of the world, {}, could not be read or written", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It does not hold tools.
    #[error("{} does not hold the tools of a world; remove it, and let the world declare its tools again", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// The tools in this file; none if it is missing.
pub(super) fn read(file: &Path) -> Result<Vec<ToolSpec>, ToolFileError> {
    let text = match fs::read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            let file = file.to_owned();
            return Err(ToolFileError::File { file, source });
        }
    };
    serde_json::from_slice(&text).map_err(|source| ToolFileError::Damaged {
        file: file.to_owned(),
        source,
    })
}

/// Replaces the file completely or not at all.
pub(super) fn write(file: &Path, tools: &[ToolSpec]) -> Result<(), ToolFileError> {
    let text = serde_json::to_vec_pretty(tools).map_err(|source| ToolFileError::Damaged {
        file: file.to_owned(),
        source,
    })?;
    let new = file.with_extension("json.new");
    let replace = || {
        let mut written = fs::File::create(&new)?;
        written.write_all(&text)?;
        written.sync_all()?;
        fs::rename(&new, file)
    };
    replace().map_err(|source| ToolFileError::File {
        file: file.to_owned(),
        source,
    })
}
