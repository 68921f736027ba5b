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
    let wanted = sh.read_file(&requirements)?;
    let is_current = sh
        .read_file(home.join(STAMP))
        .is_ok_and(|has| has == wanted);
    if is_current && home.join(PROGRAM).is_file() {
        println!("{}: already installed", wanted.trim());
        return Ok(Installed::Ready);
    }
    let folder = home.join("schemathesis");
    let ready = offline::pip(sh, &folder, &requirements)?;
    if ready == Installed::Ready {
        sh.write_file(home.join(STAMP), wanted)?;
    }
    Ok(ready)
}
