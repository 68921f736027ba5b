//! `cargo xtask bench`: the measurements, whose rows are printed in Markdown.

mod compare;

use std::ffi::OsString;

use xshell::{Shell, cmd};

use crate::peers;
use crate::workspace::{Result, root};

pub(crate) use compare::{Effort, compare};

/// Runs these measurements, and says how busy the machine was: figures of a busy machine are worth less.
fn measure<A: Into<OsString>>(sh: &Shell, arguments: impl IntoIterator<Item = A>) -> Result {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let before = load(sh);
    cmd!(sh, "cargo bench --package dormouse-tests {arguments...}").run()?;
    println!("\nload of the machine: {before} before, {} after", load(sh));
    Ok(())
}

/// How many threads ran or waited in the last minute, on average, as the system says it.
fn load(sh: &Shell) -> String {
    let load = sh.read_file("/proc/loadavg").unwrap_or_default();
    let minute = load.split(' ').next().filter(|minute| !minute.is_empty());
    minute.unwrap_or("unknown").to_owned()
}

pub(crate) fn run(sh: &Shell) -> Result {
    let benches = [
        "runtime",
        "turning",
        "residing",
        "providers",
        "recall",
        "journal",
    ];
    let benches = benches.iter().flat_map(|name| ["--bench", name]);
    measure(sh, ["--features", "yardstick"].into_iter().chain(benches))
}

/// `cargo xtask bench residents`: measures this many residents (assistants, awake or asleep) in one process.
pub(crate) fn residents(sh: &Shell, count: &str) -> Result {
    measure(sh, ["--bench", "residing", "--", "--residents", count])
}

/// `cargo xtask bench many`: measures 1, 16 and this many assistants that answer at once, and what each holds in memory.
pub(crate) fn many(sh: &Shell, count: &str) -> Result {
    measure(sh, ["--bench", "many", "--", "--count", count])?;
    residents(sh, count)
}

/// `cargo xtask bench long`: measures memory in use after this many messages, and starts with a log of up to this many
/// events. A number of 0 leaves that part out.
pub(crate) fn long(sh: &Shell, events: &str, messages: &str) -> Result {
    let sizes = ["--events", events, "--messages", messages];
    measure(sh, ["--bench", "long", "--"].into_iter().chain(sizes))
}

/// `cargo xtask bench turns`: measures a turn of five steps over HTTP, compared with a bare client.
pub(crate) fn turns(sh: &Shell) -> Result {
    measure(sh, ["--bench", "turning"])
}

/// `cargo xtask bench curve`: measures such a turn in a life that gets longer, up to this many turns.
pub(crate) fn curve(sh: &Shell, turns: &str) -> Result {
    measure(sh, ["--bench", "turning", "--", "--lived", turns])
}

/// `cargo xtask bench others`: measures such a turn next to LangGraph and rig, after so many earlier turns. They are installed
/// for this alone, under the folder of the peers.
pub(crate) fn others(sh: &Shell, earlier: &[&str]) -> Result {
    let mut arguments: Vec<OsString> = ["--bench", "others", "--"].map(Into::into).into();
    for (name, place) in peers::install_others(sh)? {
        arguments.extend([format!("--{name}").into(), place.into_os_string()]);
    }
    if !earlier.is_empty() {
        arguments.push("--earlier".into());
        arguments.extend(earlier.iter().map(Into::into));
    }
    measure(sh, arguments)
}

/// `cargo xtask bench cluster`: measures appends to the log on servers of NATS, next to the one in a file.
pub(crate) fn cluster(sh: &Shell) -> Result {
    measure(sh, ["--bench", "cluster"])
}

/// `cargo xtask bench evennia`: measures an assistant in a room of a real game, with 50 people who talk.
pub(crate) fn evennia(sh: &Shell) -> Result {
    measure(sh, ["--bench", "evennia"])
}

/// `cargo xtask bench journal`: adding to a journal and searching it, against a linear scan; of one size only, if one is given.
pub(crate) fn journal(sh: &Shell, entries: &[&str]) -> Result {
    let entries = entries.iter().copied();
    measure(sh, ["--bench", "journal", "--"].into_iter().chain(entries))
}

/// `cargo xtask bench forgetting`: measures forgetting in the log of a year, with this many events.
pub(crate) fn forgetting(sh: &Shell, events: &str) -> Result {
    measure(sh, ["--bench", "forgetting", "--", "--events", events])
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
