//! What an installation of the program has besides the program: completions for shells, and pages of the manual. Both are made
//! from the command line's definition, so they cannot differ from it.

use std::{fs, io, path::PathBuf};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{
    args::CommandLine,
    command::{CommandError, CommandFailure, callers_path, say, stdout},
    exit::{Exit, file_exit},
    grammar::counted,
};

/// For which shell.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Where the pages go.
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// The folder; it is created if it is missing. Pages of the same names are replaced
    #[arg(value_name = "FOLDER")]
    into: PathBuf,
}

/// Prints the completions.
pub(crate) fn complete(completions: &Completions) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    let mut command = CommandLine::command();
    clap_complete::generate(completions.shell, &mut command, "dormouse", &mut script);
    io::Write::write_all(&mut stdout(), &script)?;
    Ok(Exit::Success)
}

/// A page of the manual could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the pages of the manual could not be written to {}", folder.display())]
struct UnwrittenManual {
    folder: PathBuf,
    source: io::Error,
}

impl CommandFailure for UnwrittenManual {
    fn exit(&self) -> Exit {
        file_exit(&self.source)
    }
}

/// Writes a page for each command.
pub(crate) fn write_manual(manual: &Manual) -> Result<Exit, CommandError> {
    let folder = callers_path(&manual.into);
    let written = fs::create_dir_all(&folder)
        .and_then(|()| clap_mangen::generate_to(CommandLine::command(), &folder))
        .and_then(|()| Ok(fs::read_dir(&folder)?.count() as u64));
    let pages = written.map_err(|source| UnwrittenManual { folder, source })?;
    say(&format!(
        "{} in the folder",
        counted(pages, "page", "pages")
    ))?;
    Ok(Exit::Success)
}
