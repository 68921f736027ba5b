//! Evennia: a server of text games, from the Python package index.

use std::path::Path;

use xshell::{Shell, cmd};

use super::offline::{self, Installed};
use crate::workspace::{Result, root};

/// The launcher of games, in a virtual environment of its own.
pub(super) const PROGRAM: &str = "evennia/venv/bin/evennia";
const STAMP: &str = "evennia/requirements.txt";
const REQUIREMENTS: &str = "tests/peers/evennia/requirements.txt";

pub(super) fn install(sh: &Shell, home: &Path) -> Result<Installed> {
    let requirements = root().join(REQUIREMENTS);
    offline::once(sh, home, (STAMP, PROGRAM), &requirements, || {
        into_venv(sh, &home.join("evennia/venv"), &requirements)
    })
}

fn into_venv(sh: &Shell, venv: &Path, requirements: &Path) -> Result<Installed> {
    if !offline::has(sh, "python3") {
        return Ok(Installed::Unavailable(
            "`python3` is not installed".to_owned(),
        ));
    }
    sh.remove_path(venv)?;
    if cmd!(sh, "python3 -m venv {venv}").run().is_err() {
        return Ok(Installed::Unavailable("`python3` has no `venv`".to_owned()));
    }
    let python = venv.join("bin/python3");
    offline::try_to(cmd!(
        sh,
        "{python} -m pip install --quiet --retries 1 --timeout 60 --disable-pip-version-check --requirement {requirements}"
    ))
}
