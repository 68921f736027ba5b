//! `cargo xtask bench`: the measurements, in one run.

use xshell::{Shell, cmd};

use crate::workspace::Result;

pub(crate) fn run(sh: &Shell) -> Result {
    cmd!(
        sh,
        "cargo bench --package dormouse-tests --features yardstick --bench runtime --bench turning --bench residing --bench providers --bench recall --bench journal"
    )
    .run()?;
    Ok(())
}

/// `cargo xtask bench residents`: measures this many residents (assistants, awake or asleep) in one process.
pub(crate) fn residents(sh: &Shell, count: &str) -> Result {
    cmd!(
        sh,
        "cargo bench --package dormouse-tests --bench residing -- --residents {count}"
    )
    .run()?;
    Ok(())
}

/// `cargo xtask bench turns`: measures a turn of five steps over HTTP, compared with a bare client.
pub(crate) fn turns(sh: &Shell) -> Result {
    cmd!(sh, "cargo bench --package dormouse-tests --bench turning").run()?;
    Ok(())
}

/// `cargo xtask bench journal`: adding to a journal and searching it, against a linear scan; of one size only, if one is given.
pub(crate) fn journal(sh: &Shell, entries: &[&str]) -> Result {
    cmd!(
        sh,
        "cargo bench --package dormouse-tests --bench journal -- {entries...}"
    )
    .run()?;
    Ok(())
}

/// `cargo xtask bench forgetting`: measures forgetting in the log of a year, with this many events.
pub(crate) fn forgetting(sh: &Shell, events: &str) -> Result {
    cmd!(
        sh,
        "cargo bench --package dormouse-tests --bench forgetting -- --events {events}"
    )
    .run()?;
    Ok(())
}
