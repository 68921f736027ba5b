//! The Python SDK of the Model Context Protocol, from the Python package index.

use std::path::Path;

use xshell::Shell;

use super::offline::{self, Installed};
use crate::workspace::{Result, root};

/// The file of the package that the tests look for; its folder is needed as `PYTHONPATH`.
pub(super) const PACKAGE: &str = "mcp/mcp/__init__.py";
const STAMP: &str = "mcp/requirements.txt";
const REQUIREMENTS: &str = "tests/peers/mcp/requirements.txt";

pub(super) fn install(sh: &Shell, home: &Path) -> Result<Installed> {
    let requirements = root().join(REQUIREMENTS);
    let folder = home.join("mcp");
    offline::once(sh, home, (STAMP, PACKAGE), &requirements, || {
        offline::pip(sh, &folder, &requirements)
    })
}
