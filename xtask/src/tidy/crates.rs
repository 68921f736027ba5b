//! Every crate in `crates/` has a description, a README, a crate doc and an example.

use std::fs;

use crate::metadata::{Metadata, Package};

pub(super) fn findings(metadata: &Metadata) -> Vec<String> {
    metadata
        .packages
        .iter()
        .filter(|package| package.is_layered())
        .flat_map(of)
        .collect()
}

fn of(package: &Package) -> Vec<String> {
    let name = &package.name;
    let mut findings = Vec::new();
    if package
        .description
        .as_deref()
        .unwrap_or_default()
        .is_empty()
    {
        findings.push(format!("{name}: Cargo.toml has no description"));
    }
    if !package.folder().join("README.md").is_file() {
        findings.push(format!("{name}: no README.md"));
    }
    for target in package.targets_of("lib").chain(package.targets_of("bin")) {
        let text = fs::read_to_string(&target.src_path).unwrap_or_default();
        findings.extend(crate_doc(&text).map(|lack| format!("{name}: the crate doc {lack}")));
    }
    let is_library = package.targets_of("lib").next().is_some();
    if is_library && package.targets_of("example").next().is_none() {
        findings.push(format!("{name}: no example under examples/"));
    }
    findings
}

/// What is missing in the doc at the top of a crate's first file.
fn crate_doc(text: &str) -> Option<&'static str> {
    let doc: Vec<&str> = text
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .collect();
    if doc.is_empty() {
        return Some("is missing");
    }
    let says_it = doc.iter().any(|line| line.contains("Stability:"));
    (!says_it).then_some("has no line `Stability:`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_doc_states_its_stability() {
        assert_eq!(crate_doc("mod a;\n"), Some("is missing"));
        assert_eq!(
            crate_doc("//! A crate.\n\nmod a; // Stability: none\n"),
            Some("has no line `Stability:`")
        );
        assert_eq!(
            crate_doc("//! A crate.\n//!\n//! Stability: experimental.\n"),
            None
        );
    }
}
