//! `cargo xtask ci`: everything that must pass before a change lands. `cargo xtask check`: all of it that neither
//! `cargo xtask features` nor `cargo xtask test` does.

use xshell::{Shell, cmd};

use crate::report::Report;
use crate::workspace::Result;
use crate::{deny, examples, features, test, tidy};

pub(crate) fn run(sh: &Shell) -> Result {
    let mut report = Report::default();
    checks(sh, &mut report);
    report.step("each feature", || features::run(sh));
    report.step("tests", || test::tests(sh, test::Effort::Thorough));
    report.step("doc tests", || test::doc_tests(sh));
    println!("\n{}", test::skipped());
    report.finish()
}

pub(crate) fn check(sh: &Shell) -> Result {
    let mut report = Report::default();
    checks(sh, &mut report);
    report.finish()
}

fn checks(sh: &Shell, report: &mut Report) {
    report.step("format", || format(sh));
    report.step("tidy", || tidy::run(sh));
    deny::check(sh, report);
    report.step("clippy", || clippy(sh));
    report.step("optional parts", || test::optional_parts(sh));
    report.step("examples", || examples::run(sh));
    report.step("docs", || docs(sh));
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

fn docs(sh: &Shell) -> Result {
    cmd!(sh, "cargo doc --workspace --no-deps --all-features")
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    Ok(())
}
