//! The SDKs of the Model Context Protocol: for Python from the Python package index, and for TypeScript from the npm registry.

use std::path::Path;

use xshell::Shell;

use super::{
    npm::NpmPackage,
    offline::{self, Installed},
};
use crate::workspace::{Result, root};

/// The file of the package that the tests look for; its folder is needed as `PYTHONPATH`.
pub(super) const PACKAGE: &str = "mcp/mcp/__init__.py";

/// The file of the other SDK that the tests look for.
pub(super) const MANIFEST: &str = "mcp-node/node_modules/@modelcontextprotocol/client/package.json";

pub(super) const IN_NODE: NpmPackage = NpmPackage {
    name: "@modelcontextprotocol/client",
    version: "2.4.0",
    folder: "mcp-node",
    file: MANIFEST,
};

const STAMP: &str = "mcp/requirements.txt";
const REQUIREMENTS: &str = "tests/peers/mcp/requirements.txt";

pub(super) fn install(sh: &Shell, home: &Path) -> Result<Installed> {
    let requirements = root().join(REQUIREMENTS);
    let folder = home.join("mcp");
    offline::once(sh, home, (STAMP, PACKAGE), &requirements, || {
        offline::pip(sh, &folder, &requirements)
    })
}
