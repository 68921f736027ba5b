//! `docs/dependencies.md` gives a reason for every library that the project uses, and lists no other.

use std::collections::BTreeSet;

use crate::metadata::Metadata;

pub(super) fn findings(reasons: &str, metadata: &Metadata) -> Vec<String> {
    let used: BTreeSet<&str> = metadata
        .packages
        .iter()
        .flat_map(|package| &package.dependencies)
        .filter(|dependency| dependency.path.is_none())
        .map(|dependency| dependency.name.as_str())
        .collect();
    compare(&used, &explained(reasons))
}

fn compare(used: &BTreeSet<&str>, explained: &BTreeSet<&str>) -> Vec<String> {
    let unexplained = used
        .difference(explained)
        .map(|name| format!("docs/dependencies.md: no row for `{name}`"));
    let stale = explained
        .difference(used)
        .map(|name| format!("docs/dependencies.md: nothing depends on `{name}`"));
    unexplained.chain(stale).collect()
}

/// The names in backticks at the start of table rows.
fn explained(reasons: &str) -> BTreeSet<&str> {
    reasons
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_has_a_row_and_every_row_a_library() {
        let reasons = "Why.\n\n| library | why |\n| --- | --- |\n| `serde` | `toml` is not it |\n| `gone` | |\n";

        let findings = compare(&BTreeSet::from(["redb", "serde"]), &explained(reasons));

        assert_eq!(
            findings,
            [
                "docs/dependencies.md: no row for `redb`",
                "docs/dependencies.md: nothing depends on `gone`",
            ]
        );
    }
}
