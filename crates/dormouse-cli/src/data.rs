//! The data folder and what is in it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dormouse_contracts::AssistantId;

use crate::exit::Exit;

/// The folder that holds everything the program keeps.
#[derive(Clone, Debug)]
pub(crate) struct DataFolder(PathBuf);

/// The data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataError {
    /// The operating system has no data folder for this user.
    #[error("this user has no data folder; name one with --data DIR")]
    NoDefault,
    /// The path is not a folder.
    #[error("{} is not a folder; name another with --data DIR", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// It could not be created.
    #[error("the data folder {} could not be created", path.display())]
    Create {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl DataError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::NoDefault | Self::NotAFolder { .. } => Exit::Usage,
            Self::Create { .. } => Exit::Failure,
        }
    }
}

impl DataFolder {
    /// The requested folder, or the one in the user's data folder. It may be missing, but a file is refused.
    pub(crate) fn locate(asked: Option<&Path>) -> Result<Self, DataError> {
        let path = match asked {
            Some(path) => path.to_owned(),
            None => dirs::data_dir()
                .map(|dir| dir.join("dormouse"))
                .ok_or(DataError::NoDefault)?,
        };
        match fs::metadata(&path) {
            Ok(found) if !found.is_dir() => Err(DataError::NotAFolder { path }),
            Ok(_) | Err(_) => Ok(Self(path)),
        }
    }

    /// Creates the folder if it is missing, readable only by its owner.
    pub(crate) fn create(&self) -> Result<(), DataError> {
        let path = || self.0.clone();
        match fs::metadata(&self.0) {
            Ok(found) if found.is_dir() => return Ok(()),
            Ok(_) => return Err(DataError::NotAFolder { path: path() }),
            Err(_) => {}
        }
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        builder.create(&self.0).map_err(|source| DataError::Create {
            path: path(),
            source,
        })
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The flag that names this folder, as a shell reads it.
    pub(crate) fn flag(&self) -> String {
        format!("--data {}", quoted(&self.0.display().to_string()))
    }

    /// The event log.
    pub(crate) fn log(&self) -> PathBuf {
        self.0.join("log.redb")
    }

    /// The memory of this assistant, rebuilt from the log if it is missing. The assistants of a folder share its log and its
    /// world; each has its own memory.
    pub(crate) fn memory(&self, key: &AssistantId) -> PathBuf {
        self.0.join(format!("memory-{key}.redb"))
    }

    /// The world.
    pub(crate) fn world(&self) -> PathBuf {
        self.0.join("world.redb")
    }

    /// What was learnt about models.
    pub(crate) fn dialects(&self) -> PathBuf {
        self.0.join("dialects.json")
    }

    /// The history of typed lines.
    pub(crate) fn history(&self) -> PathBuf {
        self.0.join("history.txt")
    }

    /// The configuration, unless another one is named.
    pub(crate) fn config(&self) -> PathBuf {
        self.0.join("dormouse.toml")
    }
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
        let flag = |path: &str| DataFolder(path.into()).flag();
        assert_eq!(flag("/srv/tea house"), "--data '/srv/tea house'");
        assert_eq!(flag("/srv/bob's"), r"--data '/srv/bob'\''s'");
        assert_eq!(flag("tea"), "--data tea");
    }
}
