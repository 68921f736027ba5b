//! Layers, licences, sources and advisories, as `deny.toml` states them, checked by cargo-deny.

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::report::{Outcome, Report};
use crate::workspace::{Result, root};

/// The version of cargo-deny that `deny.toml` was written for; other versions accept other options.
pub(crate) const VERSION: &str = "0.20.2";

/// Where cargo-deny looks for advisories: `db-path` of `deny.toml`, and in it a folder named after the default address.
const DATABASE: &str = ".advisory-db/advisory-db-3157b0e258782691";
/// Exists in the database's parent if the database was unpacked from [`SNAPSHOT`], and so cannot be updated.
const UNPACKED: &str = ".advisory-db/unpacked-from-a-file";
/// A copy of the database that may be next to the repository, for machines without a network.
const SNAPSHOT: &str = "../shared/data/advisory-db.tar.gz";

pub(crate) fn installed(sh: &Shell) -> bool {
    cmd!(sh, "cargo deny --version")
        .quiet()
        .ignore_stderr()
        .read()
        .is_ok_and(|version| version.trim() == format!("cargo-deny {VERSION}"))
}

fn need(sh: &Shell) -> Result {
    if installed(sh) {
        return Ok(());
    }
    Err(format!(
        "cargo-deny {VERSION} is not installed: `cargo xtask tools`, or `cargo install cargo-deny --version {VERSION} --locked`"
    )
    .into())
}

/// `cargo xtask deny`: only the two checks with cargo-deny.
pub(crate) fn run(sh: &Shell) -> Result {
    let mut report = Report::default();
    check(sh, &mut report);
    report.finish()
}

/// Runs the steps that use `deny.toml`.
pub(crate) fn check(sh: &Shell, report: &mut Report) {
    report.step("layers, licences, sources", || check_rules(sh));
    report.step_or_skip("advisories", || check_advisories(sh));
}

/// Checks the layers (as bans), licences and sources. Needs no network if the crates are downloaded.
fn check_rules(sh: &Shell) -> Result {
    need(sh)?;
    // `deny.toml` may list a dependent that does not use the crate today.
    cmd!(
        sh,
        "cargo deny check --allow unused-wrapper bans licenses sources"
    )
    .run()?;
    Ok(())
}

/// Checks the advisories against the newest available database.
fn check_advisories(sh: &Shell) -> Result<Outcome> {
    need(sh)?;
    let Some(source) = database(sh)? else {
        return Ok(Outcome::Skipped(format!(
            "no database of advisories: it cannot be fetched, and {SNAPSHOT} is not there"
        )));
    };
    println!("advisories: {source}");
    cmd!(sh, "cargo deny --offline check advisories").run()?;
    Ok(Outcome::Passed)
}

/// Prepares a database and describes it; `None` if there is none.
fn database(sh: &Shell) -> Result<Option<&'static str>> {
    if at(UNPACKED).exists() {
        sh.remove_path(at(".advisory-db"))?;
    }
    if cmd!(sh, "cargo deny fetch db")
        .quiet()
        .ignore_stderr()
        .run()
        .is_ok()
    {
        return Ok(Some("fetched just now"));
    }
    if at(DATABASE).exists() {
        return Ok(Some("fetched earlier; it could not be brought up to date"));
    }
    let snapshot = at(SNAPSHOT);
    if !snapshot.is_file() {
        return Ok(None);
    }
    unpack(sh, &snapshot)?;
    Ok(Some(
        "from the file next to the repository, since none could be fetched",
    ))
}

/// Unpacks the copy as a git repository, which is the form of a fetched database.
fn unpack(sh: &Shell, snapshot: &Path) -> Result {
    let database = at(DATABASE);
    sh.create_dir(&database)?;
    sh.write_file(at(UNPACKED), "")?;
    let _inside = sh.push_dir(&database);
    cmd!(sh, "tar xzf {snapshot}").quiet().run()?;
    cmd!(sh, "git init --quiet --initial-branch main .")
        .quiet()
        .run()?;
    cmd!(sh, "git add --all --force").quiet().run()?;
    cmd!(sh, "git -c user.name=ci -c user.email=ci@localhost commit --quiet --no-gpg-sign --message snapshot")
        .quiet()
        .run()?;
    Ok(())
}

fn at(path: &str) -> PathBuf {
    root().join(path)
}
