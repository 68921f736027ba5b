//! `cargo xtask tools`: installs what `cargo xtask ci` needs besides the toolchain.

use xshell::{Shell, cmd};

use crate::deny;
use crate::workspace::{Result, root};

/// Checks for rustfmt and clippy, which belong to the toolchain, and installs cargo-deny.
pub(crate) fn install(sh: &Shell) -> Result {
    for component in ["fmt", "clippy"] {
        if cmd!(sh, "cargo {component} --version")
            .quiet()
            .ignore_stderr()
            .read()
            .is_err()
        {
            return Err(format!(
                "`cargo {component}` is missing: `rustup component add rustfmt clippy`, or your system's packages"
            )
            .into());
        }
    }
    if deny::installed(sh) {
        println!("cargo-deny {}: already installed", deny::VERSION);
        return Ok(());
    }
    let version = deny::VERSION;
    // By default cargo builds it in the folder for temporary files, which may be small. It is built without
    // optimisation, because that would take two minutes and each run is short.
    let folder = root().join("target/tools");
    cmd!(
        sh,
        "cargo install cargo-deny --version {version} --locked --force --debug --target-dir {folder}"
    )
    .run()?;
    sh.remove_path(folder)?;
    Ok(())
}
