//! aimock: a scripted server that imitates many vendors, from the npm registry.

use std::path::Path;

use serde::Deserialize;
use xshell::Shell;

use super::offline::{self, Installed};
use crate::workspace::Result;

const PACKAGE: &str = "@copilotkit/aimock";
const VERSION: &str = "1.43.0";
pub(super) const PROGRAM: &str = "aimock/node_modules/@copilotkit/aimock/dist/cli.js";
const MANIFEST: &str = "aimock/node_modules/@copilotkit/aimock/package.json";

/// The part of an installed package's manifest that identifies its version.
#[derive(Deserialize)]
struct Manifest {
    version: String,
}

pub(super) fn install(sh: &Shell, home: &Path) -> Result<Installed> {
    if is_current(sh, home) {
        println!("aimock {VERSION}: already installed");
        return Ok(Installed::Ready);
    }
    let package = format!("{PACKAGE}@{VERSION}");
    let ready = offline::npm(sh, &home.join("aimock"), [package.as_str()])?;
    if ready == Installed::Ready && !is_current(sh, home) {
        return Err(format!("npm installed {package}, but {PROGRAM} is not there").into());
    }
    Ok(ready)
}

fn is_current(sh: &Shell, home: &Path) -> bool {
    let manifest = sh.read_file(home.join(MANIFEST)).unwrap_or_default();
    let version = serde_json::from_str::<Manifest>(&manifest).map(|manifest| manifest.version);
    version.is_ok_and(|version| version == VERSION) && home.join(PROGRAM).is_file()
}
