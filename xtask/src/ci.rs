//! `cargo xtask ci`: everything that must pass before a change lands.

use xshell::{Shell, cmd};

use crate::metadata::Metadata;
use crate::report::Report;
use crate::workspace::Result;
use crate::{deny, examples, features, peers, test, tidy};

pub(crate) fn run(sh: &Shell) -> Result {
    let metadata = Metadata::read(sh)?;
    let mut report = Report::default();
    report.step("format", || format(sh));
    report.step("tidy", || tidy::run(sh));
    deny::check(sh, &mut report);
    report.step("clippy", || clippy(sh));
    report.step("tests", || tests(sh));
    report.step("optional parts", || test::optional_parts(sh));
    report.step("doc tests", || doc_tests(sh));
    report.step("examples", || examples::run(sh));
    report.step("docs", || docs(sh));
    report.step("each feature", || features::check(sh, &metadata));
    println!("\n{}", test::skipped());
    report.finish()
}

fn format(sh: &Shell) -> Result {
    cmd!(sh, "cargo fmt --all --check").run()?;
    Ok(())
}

fn clippy(sh: &Shell) -> Result {
    cmd!(
        sh,
        "cargo clippy --workspace --all-targets --all-features -- -D warnings"
    )
    .run()?;
    Ok(())
}

/// All tests except doc tests, examples and benches. Clippy compiles the benches, and `cargo xtask bench` runs them.
fn tests(sh: &Shell) -> Result {
    cmd!(
        sh,
        "cargo test --workspace --exclude dormouse-encoder --no-fail-fast --lib --bins --tests"
    )
    .env(peers::REQUIRED, peers::found())
    .run()?;
    Ok(())
}

fn doc_tests(sh: &Shell) -> Result {
    cmd!(
        sh,
        "cargo test --workspace --exclude dormouse-encoder --no-fail-fast --doc"
    )
    .run()?;
    Ok(())
}

fn docs(sh: &Shell) -> Result {
    cmd!(sh, "cargo doc --workspace --no-deps --all-features")
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    Ok(())
}
