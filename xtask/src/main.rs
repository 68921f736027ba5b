//! The project's automation, run as `cargo xtask <command>`. `docs/testing.md` describes each command.
//!
//! Stability: none; it is only for contributors.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this program prints to a terminal"
)]

mod bench;
mod ci;
mod deny;
mod examples;
mod features;
mod metadata;
mod peers;
mod report;
mod test;
mod tidy;
mod tools;
mod workspace;

use std::{
    env,
    process::{Command, ExitCode},
};

use workspace::{Result, root};
use xshell::Shell;

const USAGE: &str = "\
Usage: cargo xtask <command>

  test               all tests, with plain cargo; lists at the end what was skipped and why
    --qdrant         the promises of a vector index, against the Qdrant server at QDRANT_URL
  check              what else must pass: format, clippy, licences, optional parts, examples, docs
  features           each crate by itself, without features and with each alone
  ci                 all three, with the longest tests at full length
  tidy               rules that no other tool checks: README, layer, example and crate doc of each crate
  deny               layers, licences, sources and advisories, by deny.toml
  bench              the measurements of tests/benches
  bench journal      adding to a journal and searching it, against a scan [--entries 1000000]
  bench --compare REV  the main rows of this tree and of a revision, in turn [--quick]
  bench turns        a turn of five steps over HTTP, against a bare client
  bench curve        such a turn in a life that gets longer [--turns 10000]
  bench others       such a turn next to LangGraph and rig, which are installed for this [--earlier 1 20 50]
  bench many         assistants that answer at once, offline, and what each holds in memory [--count 256]
  bench long         memory after many messages, and starts with a long log [--events 1000000] [--messages 20000]
  bench instructions the instructions of such a turn, which load does not change [--history 0]; needs valgrind
  bench cluster      the log on one server and on three of NATS, next to the one in a file; needs the peer
  bench evennia      an assistant in a room of a real game with 50 people who talk; needs the peer
  bench residents    residents in one process [--count 1000]
  bench forgetting   forgetting in the log of a year [--events 1000000]
  peers              installs the servers the end-to-end tests talk to
    --check          only lists which of them are installed
    --require        fails if one of them cannot be installed
  tools              installs what `ci` needs besides the toolchain
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let done = match without_own_package(&arguments) {
        Some(again) => again,
        None => run(&arguments).map(|()| ExitCode::SUCCESS),
    };
    match done {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("\n{failure}");
            ExitCode::FAILURE
        }
    }
}

/// Runs this program once more without the variables with which `cargo run` describes its package. Build scripts read some
/// of them (that of `ring` does), so everything that depends on such a crate would be compiled again whenever somebody
/// builds with plain cargo in between.
fn without_own_package(arguments: &[String]) -> Option<Result<ExitCode>> {
    let variables = env::vars_os().map(|(name, _)| name);
    let own: Vec<_> = variables
        .filter(|name| {
            let name = name.to_string_lossy();
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        })
        .collect();
    if own.is_empty() {
        return None;
    }
    let again = || {
        let mut command = Command::new(env::current_exe()?);
        command.args(arguments);
        for name in own {
            command.env_remove(name);
        }
        let ended = command.status()?.code();
        Ok(ended
            .and_then(|code| u8::try_from(code).ok())
            .map_or(ExitCode::FAILURE, ExitCode::from))
    };
    Some(again())
}

fn run(arguments: &[String]) -> Result {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let sh = Shell::new()?;
    sh.change_dir(root());
    match words.as_slice() {
        ["test"] => test::run(&sh),
        ["test", "--qdrant"] => test::qdrant(&sh),
        ["check"] => ci::check(&sh),
        ["features"] => features::run(&sh),
        ["ci"] => ci::run(&sh),
        ["tidy"] => tidy::run(&sh),
        ["deny"] => deny::run(&sh),
        ["bench"] => bench::run(&sh),
        ["bench", "journal"] => bench::journal(&sh, &[]),
        ["bench", "journal", "--entries", count] => bench::journal(&sh, &[count]),
        ["bench", "--compare", revision] => bench::compare(&sh, revision, bench::Effort::Full),
        ["bench", "--compare", revision, "--quick"] => {
            bench::compare(&sh, revision, bench::Effort::Quick)
        }
        ["bench", "turns"] => bench::turns(&sh),
        ["bench", "curve"] => bench::curve(&sh, "10000"),
        ["bench", "curve", "--turns", turns] => bench::curve(&sh, turns),
        ["bench", "others"] => bench::others(&sh, &[]),
        ["bench", "others", "--earlier", earlier @ ..] => bench::others(&sh, earlier),
        ["bench", "many"] => bench::many(&sh, "256"),
        ["bench", "many", "--count", count] => bench::many(&sh, count),
        ["bench", "long"] => bench::long(&sh, "1000000", "20000"),
        ["bench", "long", "--events", events] => bench::long(&sh, events, "0"),
        ["bench", "long", "--messages", messages] => bench::long(&sh, "0", messages),
        ["bench", "long", "--events", events, "--messages", messages] => {
            bench::long(&sh, events, messages)
        }
        ["bench", "cluster"] => bench::cluster(&sh),
        ["bench", "evennia"] => bench::evennia(&sh),
        ["bench", "instructions"] => bench::instructions(&sh, "0"),
        ["bench", "instructions", "--history", turns] => bench::instructions(&sh, turns),
        ["bench", "residents"] => bench::residents(&sh, "1000"),
        ["bench", "residents", "--count", count] => bench::residents(&sh, count),
        ["bench", "forgetting"] => bench::forgetting(&sh, "1000000"),
        ["bench", "forgetting", "--events", events] => bench::forgetting(&sh, events),
        ["peers"] => peers::install(&sh, peers::Demand::Optional),
        ["peers", "--check"] => peers::check(),
        ["peers", "--require"] => peers::install(&sh, peers::Demand::Required),
        ["tools"] => tools::install(&sh),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        other => Err(format!("unknown command: {}\n\n{USAGE}", other.join(" ")).into()),
    }
}
