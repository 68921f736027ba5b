//! `cargo xtask bench`: the measurements, in one run.

use xshell::{Shell, cmd};

use crate::workspace::Result;

pub(crate) fn run(sh: &Shell) -> Result {
    cmd!(
        sh,
        "cargo bench --package dormouse-tests --features yardstick --bench runtime --bench providers --bench recall"
    )
    .run()?;
    Ok(())
}
