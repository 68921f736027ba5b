//! The SDKs of the Model Context Protocol: for Python from the Python package index, and for TypeScript from the npm registry.

use std::path::Path;

use xshell::Shell;

use super::offline::{self, Installed};
use crate::workspace::{Result, root};

/// The file of the package that the tests look for; its folder is needed as `PYTHONPATH`.
pub(super) const PACKAGE: &str = "mcp/mcp/__init__.py";
const STAMP: &str = "mcp/requirements.txt";
const REQUIREMENTS: &str = "tests/peers/mcp/requirements.txt";

/// The file of the SDK for TypeScript that the tests look for.
pub(super) const MANIFEST: &str = "mcp-node/node_modules/@modelcontextprotocol/client/package.json";
const NODE_STAMP: &str = "mcp-node/visitor.txt";
/// The package with its version.
const NODE_PACKAGE: &str = "tests/peers/mcp/visitor.txt";

pub(super) fn install(sh: &Shell, home: &Path) -> Result<Installed> {
    let requirements = root().join(REQUIREMENTS);
    let folder = home.join("mcp");
    offline::once(sh, home, (STAMP, PACKAGE), &requirements, || {
        offline::pip(sh, &folder, &requirements)
    })
}

pub(super) fn install_in_node(sh: &Shell, home: &Path) -> Result<Installed> {
    let package = root().join(NODE_PACKAGE);
    let folder = home.join("mcp-node");
    offline::once(sh, home, (NODE_STAMP, MANIFEST), &package, || {
        let wanted = sh.read_file(&package)?;
        offline::npm(sh, &folder, wanted.lines())
    })
}
