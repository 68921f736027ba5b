//! Who runs the program, for the log and the memory.

use std::env;

use dormouse_contracts::Author;

use super::error::CommandFailure;
use crate::exit::Exit;

/// `--by` without a name.
#[derive(Debug, thiserror::Error)]
#[error("--by is blank; give the name to write into the log, or leave it out for your user name")]
pub(crate) struct BlankName;

impl CommandFailure for BlankName {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// The name that goes into the log: the one that `--by` gives, or the user's.
pub(crate) fn operator(by: Option<String>) -> Result<String, BlankName> {
    match by {
        Some(by) if by.trim().is_empty() => Err(BlankName),
        Some(by) => Ok(by),
        None => Ok(user_or_somebody()),
    }
}

/// The reason that is recorded with a change made at the command line.
pub(crate) fn reason(what: &str) -> String {
    format!("{what} at the command line")
}

/// The user as the author of a change.
pub(crate) fn author() -> Author {
    Author::Operator(user_or_somebody())
}

/// The user as the author of an import.
pub(crate) fn importer() -> Author {
    Author::Import(user_or_somebody())
}

fn user_or_somebody() -> String {
    user().unwrap_or_else(|| "somebody at the command line".to_owned())
}

/// The user's name, if the environment has it.
fn user() -> Option<String> {
    ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.trim().is_empty()))
}
