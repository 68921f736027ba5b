//! aimock: a scripted server that imitates many vendors, from the npm registry.

use std::path::Path;

use serde::Deserialize;
use xshell::{Shell, cmd};

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
    for program in ["node", "npm"] {
        if !offline::has(sh, program) {
            return Ok(Installed::Unavailable(format!(
                "`{program}` is not installed"
            )));
        }
    }
    let folder = home.join("aimock");
    sh.create_dir(&folder)?;
    let package = format!("{PACKAGE}@{VERSION}");
    // By default npm tries for many minutes to reach a registry that does not answer.
    let patience = "--fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=60000";
    let patience = patience.split(' ');
    let npm = cmd!(
        sh,
        "npm install --prefix {folder} --no-save --no-audit --no-fund {patience...} {package}"
    );
    let ready = offline::try_to(npm)?;
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
