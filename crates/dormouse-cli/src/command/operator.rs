//! Who runs the program, for the log and the memory.

use std::env;

use dormouse_contracts::Author;

use super::{caller, error::CommandFailure};
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
    user_name().unwrap_or_else(|| "somebody at the command line".to_owned())
}

/// The user's name. The client of the control socket gives it, or the environment, or, if both lack it (as in a
/// container), the system.
pub(crate) fn user_name() -> Option<String> {
    if let Some(user) = caller::user() {
        return user;
    }
    let set = ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.trim().is_empty()));
    set.or_else(user_of_process)
}

#[cfg(unix)]
fn user_of_process() -> Option<String> {
    let uid = nix::unistd::Uid::current();
    let known = nix::unistd::User::from_uid(uid).ok().flatten();
    Some(known.map_or_else(|| format!("user {uid}"), |user| user.name))
}

/// On other systems the environment has the name.
#[cfg(not(unix))]
fn user_of_process() -> Option<String> {
    None
}
