//! The folder of the workspace, and the result type of all commands.

use std::path::Path;

/// The error of a command, in words for a terminal.
type Failure = Box<dyn std::error::Error + Send + Sync>;

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
