//! `cargo xtask test`: the tests that every contributor can run without installing anything.

use std::{
    num::NonZero,
    process::{Command, Stdio},
    thread,
};

use xshell::{Shell, cmd};

use crate::peers;
use crate::workspace::Result;

/// How many cases the longest property tests draw, and how often programs are killed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// An eighth of them, for somebody who waits for the result.
    Quick,
    Thorough,
}

pub(crate) fn run(sh: &Shell) -> Result {
    let tested = tests(sh, Effort::Quick).and_then(|()| doc_tests(sh));
    println!("\n{}", skipped());
    tested
}

/// What the tests that start a game have in their names.
const IN_A_GAME: &str = "in_a_real_game";

/// Runs the unit, integration and end-to-end tests of every crate that the programs use by default. Examples and
/// benches are compiled by other steps of `cargo xtask ci`. Most of the time in a game is spent waiting for it to stop and to
/// start, so these tests run beside all others.
pub(crate) fn tests(sh: &Shell, effort: Effort) -> Result {
    let tests = |options: &[&str]| {
        let tests = cmd!(
            sh,
            "cargo test --workspace --exclude dormouse-encoder --no-fail-fast {options...}"
        );
        let tests = tests
            .env(peers::REQUIRED, peers::found())
            // Read by `dormouse_tests::Program`: this command builds the program, so the tests of the command line need not
            // build it.
            .env("DORMOUSE_PROGRAM_IS_BUILT", "1")
            .env("RUST_TEST_THREADS", threads().to_string());
        match effort {
            // Read by `dormouse_testing::effort`.
            Effort::Quick => tests.env("DORMOUSE_QUICK_TESTS", "1"),
            Effort::Thorough => tests,
        }
    };
    let all = ["--lib", "--bins", "--tests"];
    tests(&[all.as_slice(), &["--no-run"]].concat()).run()?;
    let mut in_a_game = Command::from(tests(&["--test", "evennia"]));
    let others = tests(&[all.as_slice(), &["--", "--skip", IN_A_GAME]].concat());
    let (others, in_a_game) = thread::scope(|scope| {
        let in_a_game = scope.spawn(|| in_a_game.stdin(Stdio::null()).output());
        (others.run(), in_a_game.join())
    });
    let in_a_game = in_a_game.map_err(|_panic| "the tests in a game were not run")??;
    for printed in [&in_a_game.stdout, &in_a_game.stderr] {
        println!("{}", String::from_utf8_lossy(printed));
    }
    others?;
    match in_a_game.status.success() {
        true => Ok(()),
        false => Err("tests in a game failed".into()),
    }
}

/// How many tests of one program run at a time. Many of them wait for a disk or for another process.
fn threads() -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    3 * cores
}

pub(crate) fn doc_tests(sh: &Shell) -> Result {
    cmd!(
        sh,
        "cargo test --workspace --exclude dormouse-encoder --no-fail-fast --doc"
    )
    .run()?;
    Ok(())
}

/// Checks the promises of a vector index against a real Qdrant server. Everything it creates there has a unique name and
/// is removed.
pub(crate) fn qdrant(sh: &Shell) -> Result {
    let url = std::env::var("QDRANT_URL").map_err(|_not_set| {
        "set QDRANT_URL to the server's gRPC address, such as http://127.0.0.1:6334; \
         and QDRANT_API_KEY if it wants a key"
    })?;
    println!("testing against {url}");
    cmd!(
        sh,
        "cargo test --package dormouse-vectors --features qdrant --test it real_server -- --nocapture"
    )
    .run()?;
    Ok(())
}

/// Tests the parts that need a feature: each vector index with its suite, and the encoder. One build for all three, because
/// separate builds would compile what they share again. Then lives that move to a cluster and back.
pub(crate) fn optional_parts(sh: &Shell) -> Result {
    cmd!(
        sh,
        "cargo test --no-fail-fast --package dormouse-vectors --package dormouse-providers --package dormouse-encoder --all-features --lib --tests"
    )
    .run()?;
    cmd!(
        sh,
        "cargo test --package dormouse-cli --features cluster --bins --test it moving"
    )
    .run()?;
    Ok(())
}

/// What could not be tested on this machine, one line each.
pub(crate) fn skipped() -> String {
    let peers = peers::missing()
        .into_iter()
        .map(|peer| format!("skipped: {peer} (run `cargo xtask peers` to install it)"));
    let machine = NEEDS
        .iter()
        .filter(|(program, arguments, _)| !runs(program, arguments))
        .map(|(_, _, what)| format!("skipped: {what}"));
    let missing: Vec<String> = peers.chain(machine).collect();
    if missing.is_empty() {
        "skipped: nothing".to_owned()
    } else {
        missing.join("\n")
    }
}

/// What some tests need: a command that succeeds if it is available, and what is not tested without it.
const NEEDS: [(&str, &[&str], &str); 3] = [
    (
        "unshare",
        &["-m", "mount", "-t", "tmpfs", "none", "/tmp"],
        "full and read-only file systems (mounting one needs root)",
    ),
    (
        "prlimit",
        &["--version"],
        "a limit on the size of files that is lifted (needs prlimit)",
    ),
    (
        "openssl",
        &["version"],
        "an encrypted Qdrant server (needs openssl)",
    ),
];

fn runs(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}
