//! schemathesis: a tester of HTTP APIs that draws requests from their description, from the Python package index.

use std::path::Path;

use xshell::Shell;

use super::offline::{self, Installed};
use crate::workspace::{Result, root};

/// The program, which needs its folder as `PYTHONPATH`.
pub(super) const PROGRAM: &str = "schemathesis/bin/schemathesis";
const STAMP: &str = "schemathesis/requirements.txt";
const REQUIREMENTS: &str = "tests/peers/schemathesis/requirements.txt";

pub(super) fn install(sh: &Shell, home: &Path) -> Result<Installed> {
    let requirements = root().join(REQUIREMENTS);
    let folder = home.join("schemathesis");
    offline::once(sh, home, (STAMP, PROGRAM), &requirements, || {
        offline::pip(sh, &folder, &requirements)
    })
}
