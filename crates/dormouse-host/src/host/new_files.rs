//! Files that a failed start removes again.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Files that did not exist before. They are removed unless they are kept: a failed start leaves the folder as it was.
#[derive(Debug, Default)]
pub(super) struct NewFiles(Vec<PathBuf>);

impl NewFiles {
    pub(super) fn add(&mut self, file: PathBuf, is_new: bool) {
        if is_new {
            self.0.push(file);
        }
    }

    pub(super) fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for NewFiles {
    fn drop(&mut self) {
        for file in &self.0 {
            // A file that was not created yet need not be removed.
            if let Err(error) = fs::remove_file(file)
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(%error, file = %file.display(), "a new file is left behind");
            }
        }
    }
}

pub(super) fn is_missing(file: &Path) -> bool {
    // A dangling link counts as present.
    fs::symlink_metadata(file).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
