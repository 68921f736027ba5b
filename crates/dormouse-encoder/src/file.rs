//! A file of a model's folder.

use std::{fs, io, path::PathBuf};

use serde::de::DeserializeOwned;

use crate::error::LocalEncoderError;

/// The content of a file.
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

impl File {
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, LocalEncoderError> {
        serde_json::from_slice(&self.bytes).map_err(|error| LocalEncoderError::Unreadable {
            path: self.path.clone(),
            source: Box::new(error),
        })
    }
}

/// Reads a required file.
pub(crate) fn required(path: PathBuf) -> Result<File, LocalEncoderError> {
    optional(path.clone())?.ok_or(LocalEncoderError::NoFile { path })
}

/// Reads an optional file.
pub(crate) fn optional(path: PathBuf) -> Result<Option<File>, LocalEncoderError> {
    match fs::read(&path) {
        Ok(bytes) => Ok(Some(File { path, bytes })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(LocalEncoderError::Read { path, source }),
    }
}
