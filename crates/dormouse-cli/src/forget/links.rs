//! Symbolic links in the folder: replacing a link would leave the words in the file that it points to.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dormouse_host::DataFolder;

use super::other_files::is_of_program;
use crate::{
    command::{CommandError, CommandFailure},
    exit::Exit,
};

/// A file of the program is a link.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} is a symbolic link to {}: replacing the link would leave the words in that file; nothing was forgotten. Put the file itself in the folder, or name its folder with --data DIR",
    link.display(), file.display()
)]
struct LinkError {
    link: PathBuf,
    file: PathBuf,
}

impl CommandFailure for LinkError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// Refuses a folder in which a file of the program is a link. The folder itself may be one.
pub(super) fn refuse(data: &DataFolder) -> Result<(), CommandError> {
    for entry in entries(data.path())? {
        let link = entry?.path();
        let name = link.file_name().unwrap_or_default().to_string_lossy();
        if is_of_program(&name) && fs::symlink_metadata(&link)?.is_symlink() {
            let file = fs::read_link(&link)?;
            return Err(LinkError { link, file }.into());
        }
    }
    Ok(())
}

/// What is in the folder; nothing if it is missing, which the log reports.
fn entries(folder: &Path) -> io::Result<impl Iterator<Item = io::Result<fs::DirEntry>>> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(Some(entries)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
    .map(|entries| entries.into_iter().flatten())
}
