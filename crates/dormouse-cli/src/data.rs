//! Which data folder is used, and how it is named on a command line.

use std::path::Path;

use dormouse_host::{DataError, DataFolder};

use crate::exit::Exit;

/// The data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LocateError {
    /// The operating system has no data folder for this user.
    #[error("this user has no data folder; name one with --data DIR")]
    NoDefault,
    /// The folder cannot be used.
    #[error("{0}; name another one with --data DIR")]
    Folder(#[from] DataError),
}

impl LocateError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::NoDefault => Exit::Usage,
            Self::Folder(error) => data_exit(error),
        }
    }
}

/// The exit code for a data folder that cannot be used.
pub(crate) fn data_exit(error: &DataError) -> Exit {
    match error {
        DataError::NotAFolder { .. } => Exit::Usage,
        _ => Exit::Failure,
    }
}

/// The requested folder, or the one in the user's data folder. It may be missing, but a file is refused.
pub(crate) fn locate(asked: Option<&Path>) -> Result<DataFolder, LocateError> {
    let path = match asked {
        Some(path) => path.to_owned(),
        None => dirs::data_dir()
            .map(|dir| dir.join("dormouse"))
            .ok_or(LocateError::NoDefault)?,
    };
    Ok(DataFolder::at(path)?)
}

/// The flag that names this folder, as a shell reads it.
pub(crate) fn flag(data: &DataFolder) -> String {
    format!("--data {}", quoted(&data.path().display().to_string()))
}

/// A word in the form in which a shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_flag_can_be_typed_unchanged() {
        let flag = |path: &str| flag(&DataFolder::at(path).unwrap());
        assert_eq!(flag("/srv/tea house"), "--data '/srv/tea house'");
        assert_eq!(flag("/srv/bob's"), r"--data '/srv/bob'\''s'");
        assert_eq!(flag("tea"), "--data tea");
    }
}
