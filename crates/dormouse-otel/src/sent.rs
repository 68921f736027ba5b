//! How far each log was sent to a collector, in a file.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::export::Sent;

/// The version of the file's form.
const FORMAT: u32 = 1;

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SentFileError {
    /// It cannot be read or written.
    #[error("{} says how far the logs were exported, and cannot be read or written", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not what this program writes.
    #[error(
        "{} does not say how far the logs were exported; remove it to go on with what happens from now on, and export what is missing with `dormouse otel export --since TIME`",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// A newer program wrote it.
    #[error("{} was written in form {found} by a newer program; this one knows form {FORMAT}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its form.
        found: u32,
    },
}

#[derive(Serialize, Deserialize)]
struct Form<S> {
    format: u32,
    sent: S,
}

/// Reads the file; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<Sent>, SentFileError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            let path = path.to_owned();
            return Err(SentFileError::File { path, source });
        }
    };
    let damaged = |source| SentFileError::Damaged {
        path: path.to_owned(),
        source,
    };
    let form: Form<serde_json::Value> = serde_json::from_slice(&bytes).map_err(damaged)?;
    if form.format != FORMAT {
        let path = path.to_owned();
        let found = form.format;
        return Err(SentFileError::Newer { path, found });
    }
    serde_json::from_value(form.sent).map(Some).map_err(damaged)
}

/// Replaces the file. After a power failure it is the old one or the new one.
pub(crate) fn write(path: &Path, sent: &Sent) -> Result<(), SentFileError> {
    let format = FORMAT;
    let written = serde_json::to_vec(&Form { format, sent })
        .map_err(io::Error::from)
        .and_then(|bytes| {
            let new = path.with_extension("new");
            let mut file = fs::File::create(&new)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(new, path)
        });
    written.map_err(|source| SentFileError::File {
        path: path.to_owned(),
        source,
    })
}
