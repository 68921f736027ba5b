//! Chromium: a browser, for the pages. Unlike the other peers it is a package of the machine, because it needs a hundred libraries.

use std::{
    env,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use xshell::{Shell, cmd};

use super::{
    Demand,
    offline::{self, Installed},
};
use crate::workspace::Result;

/// A link to the program.
pub(super) const PROGRAM: &str = "chromium/chromium";
/// What drives it.
const DRIVER: &str = "node";

pub(super) fn install(sh: &Shell, home: &Path, demand: Demand) -> Result<Installed> {
    if !offline::has(sh, DRIVER) {
        let why = format!("`{DRIVER}` is not installed");
        return Ok(Installed::Unavailable(why));
    }
    if found().is_none()
        && let Installed::Unavailable(why) = from_debian(sh, demand)?
    {
        return Ok(Installed::Unavailable(why));
    }
    let program = found().ok_or("the package has no program `chromium`")?;
    cmd!(sh, "{program} --version").quiet().run()?;
    sh.create_dir(home.join("chromium"))?;
    sh.remove_path(home.join(PROGRAM))?;
    symlink(program, home.join(PROGRAM))?;
    Ok(Installed::Ready)
}

/// Installs the package. That changes the machine, so it happens only if every peer is required, as in CI, and the user is root.
fn from_debian(sh: &Shell, demand: Demand) -> Result<Installed> {
    let is_root = cmd!(sh, "id -u").quiet().read()? == "0";
    if demand == Demand::Optional || !is_root || !offline::has(sh, "apt-get") {
        let why = "install chromium with apt; as root, `cargo xtask peers --require` does it";
        return Ok(Installed::Unavailable(why.to_owned()));
    }
    if let Installed::Unavailable(why) = offline::try_to(cmd!(sh, "apt-get update --quiet"))? {
        return Ok(Installed::Unavailable(why));
    }
    let install = "install --quiet --yes --no-install-recommends chromium";
    let arguments = install.split(' ');
    offline::try_to(cmd!(sh, "apt-get {arguments...}").env("DEBIAN_FRONTEND", "noninteractive"))
}

fn found() -> Option<PathBuf> {
    let folders = env::var_os("PATH").unwrap_or_default();
    let mut files = env::split_paths(&folders).map(|folder| folder.join("chromium"));
    files.find(|file| file.is_file())
}
