//! Servers of the Model Context Protocol that nobody here wrote, from the npm registry. The one for time, in Python, comes with
//! the SDK.

use std::path::Path;

use xshell::Shell;

use super::offline::{self, Installed};
use crate::workspace::{Result, root};

/// The files that the tests look for.
pub(super) const FILES: [&str; 4] = [
    "mcp/mcp_server_time/__init__.py",
    "mcp-servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js",
    "mcp-servers/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
    "mcp-servers/node_modules/@modelcontextprotocol/server-memory/dist/index.js",
];
const STAMP: &str = "mcp-servers/packages.txt";
/// The packages with their versions, one a line.
const PACKAGES: &str = "tests/peers/mcp/packages.txt";

pub(super) fn install(sh: &Shell, home: &Path) -> Result<Installed> {
    let [_, program, ..] = FILES;
    let packages = root().join(PACKAGES);
    let folder = home.join("mcp-servers");
    offline::once(sh, home, (STAMP, program), &packages, || {
        let wanted = sh.read_file(&packages)?;
        offline::npm(sh, &folder, wanted.lines())
    })
}
