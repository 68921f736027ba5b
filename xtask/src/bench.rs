//! `cargo xtask bench`: the measurements, in one run.

use xshell::{Shell, cmd};

use crate::workspace::{Result, root};

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

/// `cargo xtask bench evennia`: measures an assistant in a room of a real game, with 50 people who talk.
pub(crate) fn evennia(sh: &Shell) -> Result {
    cmd!(sh, "cargo bench --package dormouse-tests --bench evennia").run()?;
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

/// `cargo xtask bench instructions`: counts the instructions of a turn of five steps behind so many earlier turns. Load on
/// the machine does not change them. Cryptography is counted without the processor's own instructions for it, because
/// valgrind does not have them.
pub(crate) fn instructions(sh: &Shell, history: &str) -> Result {
    const TURNS: u64 = 6;
    let version = cmd!(sh, "rustc -vV").read()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("rustc does not say what it compiles for")?;
    let runner = format!(
        "CARGO_TARGET_{}_RUNNER",
        host.replace('-', "_").to_uppercase()
    );
    let folder = root().join("target/instructions");
    sh.create_dir(&folder)?;
    let counted = folder.join(format!("turns-{history}"));
    let counted = counted.to_str().ok_or("the folder is not UTF-8")?;
    let valgrind = format!(
        "valgrind --tool=callgrind --callgrind-out-file={counted} --zero-before=*measuring_begins* \
         --dump-before=*measuring_ends*"
    );
    cmd!(
        sh,
        "cargo bench --package dormouse-tests --bench turning -- --history {history}"
    )
    .env(runner, valgrind)
    .env("DORMOUSE_BENCH_TURNS", TURNS.to_string())
    .run()?;
    let profile = sh.read_file(format!("{counted}.1"))?;
    let total = profile
        .lines()
        .find_map(|line| line.strip_prefix("totals: "));
    let total: u64 = total.ok_or("the profile has no total")?.trim().parse()?;
    println!(
        "{} instructions a turn; the profile is {counted}.1, for callgrind_annotate",
        total / TURNS
    );
    Ok(())
}
