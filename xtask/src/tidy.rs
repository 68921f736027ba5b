//! `cargo xtask tidy`: rules that no other tool checks.

mod crates;
mod dependencies;
mod layers;
mod names;
mod sources;

use xshell::{Shell, cmd};

use crate::metadata::Metadata;
use crate::workspace::{Result, root};

/// A source file of this length probably contains a second concept. It is reported, and is not an error.
const LONG: usize = 500;

pub(crate) fn run(sh: &Shell) -> Result {
    let metadata = Metadata::read(sh)?;
    let mut findings = crates::findings(&metadata);
    findings.extend(layers::findings(&metadata));
    let reasons = sh.read_file("docs/dependencies.md").unwrap_or_default();
    findings.extend(dependencies::findings(&reasons, &metadata));

    let mut names = names::TypeNames::default();
    for (path, text) in texts(sh)? {
        names.add(&path, &text);
        findings.extend(sources::findings(&path, &text));
        let length = text.lines().count();
        if path.ends_with(".rs") && length > LONG {
            println!("long: {path} has {length} lines; does it contain a second concept?");
        }
    }
    findings.extend(names.findings());
    if findings.is_empty() {
        return Ok(());
    }
    for finding in &findings {
        println!("{finding}");
    }
    Err(format!("tidy found {} problems, listed above", findings.len()).into())
}

/// Every text file that is in the repository or not ignored by it, with its path from the root.
fn texts(sh: &Shell) -> Result<Vec<(String, String)>> {
    let list = cmd!(sh, "git ls-files --cached --others --exclude-standard")
        .quiet()
        .read()?;
    Ok(list
        .lines()
        .filter_map(|path| {
            let text = std::fs::read_to_string(root().join(path)).ok()?;
            Some((path.to_owned(), text))
        })
        .collect())
}
