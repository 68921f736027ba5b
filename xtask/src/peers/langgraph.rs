//! LangGraph, with which a turn is compared: from the Python package index.

use std::path::Path;

use xshell::Shell;

use super::offline::{self, Installed};
use crate::workspace::{Result, root};

/// Its packages; needed as `PYTHONPATH`.
pub(super) const FOLDER: &str = "langgraph";
const PACKAGE: &str = "langgraph/langgraph/checkpoint/sqlite/__init__.py";
const STAMP: &str = "langgraph/requirements.txt";
const REQUIREMENTS: &str = "tests/peers/langgraph/requirements.txt";

pub(super) fn install(sh: &Shell, home: &Path) -> Result<Installed> {
    let requirements = root().join(REQUIREMENTS);
    let folder = home.join(FOLDER);
    offline::once(sh, home, (STAMP, PACKAGE), &requirements, || {
        offline::pip(sh, &folder, &requirements)
    })
}
