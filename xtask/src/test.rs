//! `cargo xtask test`: what a contributor needs to pass, with nothing to install first.

use xshell::{Shell, cmd};

use crate::Result;
use crate::peers;

pub(crate) fn run(sh: &Shell) -> Result {
    let tested = all(sh);
    println!("\n{}", skipped());
    tested
}

/// Unit, integration, end-to-end and doc tests of every crate.
fn all(sh: &Shell) -> Result {
    cmd!(sh, "cargo test --workspace")
        .env(peers::REQUIRED, peers::found())
        .run()?;
    Ok(())
}

/// What the tests could not do on this machine, a line each.
pub(crate) fn skipped() -> String {
    let missing: Vec<String> = peers::missing()
        .iter()
        .map(|peer| format!("skipped: {peer} (run `cargo xtask peers` to install it)"))
        .collect();
    if missing.is_empty() {
        "skipped: nothing".to_owned()
    } else {
        missing.join("\n")
    }
}
