//! rig, with which a turn is compared: a program on it, built from crates that the workspace does not have.

use std::path::Path;

use xshell::{Shell, cmd};

use super::offline::{self, Installed};
use crate::workspace::{Result, root};

pub(super) const PROGRAM: &str = "rig/target/release/dormouse-peer-rig";
const FOLDER: &str = "rig";
const SOURCES: &str = "tests/peers/rig";

/// Builds a copy of the program, so that neither its lock file nor its target folder gets between the sources.
pub(super) fn install(sh: &Shell, home: &Path) -> Result<Installed> {
    let folder = home.join(FOLDER);
    sh.create_dir(&folder)?;
    for file in ["Cargo.toml", "agent.rs"] {
        let wanted = sh.read_file(root().join(SOURCES).join(file))?;
        let place = folder.join(file);
        // Cargo builds again what is newer than the program.
        if !sh.read_file(&place).is_ok_and(|has| has == wanted) {
            sh.write_file(place, wanted)?;
        }
    }
    let manifest = folder.join("Cargo.toml");
    let target = folder.join("target");
    offline::try_to(cmd!(
        sh,
        "cargo build --release --manifest-path {manifest} --target-dir {target}"
    ))
}
