//! A crate depends only on lower layers, and its README states its own layer.
//!
//! `deny.toml` lists the allowed dependencies. This check uses only the READMEs. So it covers a new crate that is not in
//! `deny.toml` yet, and the two cannot diverge.

use std::collections::BTreeMap;
use std::fs;

use crate::metadata::{Dependency, Metadata, Package};

/// Fakes, doubles and conformance suites: for tests, never part of a program.
const TESTING: [&str; 2] = ["dormouse-qdrant-double", "dormouse-testing"];

/// The crates that must not use a runtime, a transport or a store, and all libraries that they may use.
const PURE: &[(&str, &[&str])] = &[
    (
        "dormouse-contracts",
        &["futures-core", "jiff", "serde", "serde_json", "thiserror"],
    ),
    (
        "dormouse-text",
        &["unicode-normalization", "unicode-security"],
    ),
    ("dormouse-redact", &["base64", "regex"]),
    (
        "dormouse-classify",
        &["dormouse-contracts", "dormouse-text", "serde"],
    ),
    (
        "dormouse-dialects",
        &[
            "dormouse-contracts",
            "futures-core",
            "serde",
            "serde_json",
            "thiserror",
        ],
    ),
    (
        "dormouse-cassettes",
        &[
            "base64",
            "dormouse-contracts",
            "dormouse-redact",
            "http",
            "serde",
            "serde_json",
            "thiserror",
            // For `invariant!`, which reports in the name of the crate it is used in.
            "tracing",
        ],
    ),
];

pub(super) fn findings(metadata: &Metadata) -> Vec<String> {
    let mut findings = Vec::new();
    let mut layers = BTreeMap::new();
    let layered = || metadata.packages.iter().filter(|p| p.is_layered());
    for package in layered() {
        let readme = fs::read_to_string(package.folder().join("README.md")).unwrap_or_default();
        match layer(&readme) {
            Some(layer) => {
                layers.insert(package.name.as_str(), layer);
            }
            None => findings.push(format!(
                "{}: the first paragraph of README.md does not say \"layer N\"",
                package.name
            )),
        }
    }
    findings.extend(layered().flat_map(|package| upward(package, &layers)));
    findings.extend(layered().flat_map(impure));
    findings
}

/// The layer named in the first paragraph under the title.
fn layer(readme: &str) -> Option<u8> {
    let paragraph: Vec<&str> = readme
        .lines()
        .skip_while(|line| line.trim().is_empty() || line.starts_with('#'))
        .take_while(|line| !line.trim().is_empty())
        .collect();
    let paragraph = paragraph.join(" ").to_lowercase();
    let (_, after) = paragraph.split_once("layer ")?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The dependencies of a crate that are not on a lower layer.
fn upward(package: &Package, layers: &BTreeMap<&str, u8>) -> Vec<String> {
    let Some(own) = layers.get(package.name.as_str()) else {
        return Vec::new();
    };
    package
        .dependencies
        .iter()
        .filter_map(|dependency| offence(&package.name, *own, dependency, layers))
        .collect()
}

/// The forbidden dependencies of a pure crate. Tests may use anything.
fn impure(package: &Package) -> Vec<String> {
    let Some((name, allowed)) = PURE.iter().find(|(name, _)| *name == package.name) else {
        return Vec::new();
    };
    let used = package
        .dependencies
        .iter()
        .filter(|used| used.kind.as_deref() != Some("dev"));
    let other = used.filter(|used| !allowed.contains(&used.name.as_str()));
    other
        .map(|used| {
            format!(
                "{name} must not use {}: it may use {}",
                used.name,
                allowed.join(", ")
            )
        })
        .collect()
}

fn offence(
    name: &str,
    own: u8,
    dependency: &Dependency,
    layers: &BTreeMap<&str, u8>,
) -> Option<String> {
    let other = &dependency.name;
    if TESTING.contains(&other.as_str()) && dependency.kind.as_deref() != Some("dev") {
        return Some(format!("{name}: {other} may be a dev-dependency only"));
    }
    let layer = *layers.get(other.as_str())?;
    (layer >= own).then(|| {
        format!("{name} (layer {own}) depends on {other} (layer {layer}), which is not below it")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[(&str, &str)]) -> Package {
        let dependencies: Vec<String> = dependencies
            .iter()
            .map(|(name, kind)| format!(r#"{{"name":"{name}","kind":{kind},"path":"/c/{name}"}}"#))
            .collect();
        let json = format!(
            r#"{{"name":"{name}","description":"","manifest_path":"/w/crates/{name}/Cargo.toml",
                "dependencies":[{}],"features":{{}},"targets":[]}}"#,
            dependencies.join(",")
        );
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn the_layer_is_read_from_the_first_paragraph_only() {
        assert_eq!(layer("# a\n\nIds and\nports (layer 0).\n"), Some(0));
        assert_eq!(layer("# a\n\nLayer 12. Ports.\n"), Some(12));
        assert_eq!(layer("# a\n\nPorts.\n\nNot in layer 3.\n"), None);
        assert_eq!(layer("# a\n\nIn some layer or other.\n"), None);
        assert_eq!(layer(""), None);
    }

    #[test]
    fn a_dependency_upward_or_sideways_is_found_and_dev_dependencies_count() {
        let layers = BTreeMap::from([("low", 1), ("beside", 2), ("mid", 2), ("high", 3)]);
        let sound = package("mid", &[("low", "null"), ("serde", "null")]);
        assert_eq!(upward(&sound, &layers), Vec::<String>::new());

        let unsound = package("mid", &[("high", "null"), ("beside", "\"dev\"")]);
        assert_eq!(
            upward(&unsound, &layers),
            [
                "mid (layer 2) depends on high (layer 3), which is not below it",
                "mid (layer 2) depends on beside (layer 2), which is not below it",
            ]
        );
    }

    #[test]
    fn a_pure_crate_uses_only_listed_dependencies() {
        let sound = package(
            "dormouse-classify",
            &[("serde", "null"), ("tokio", "\"dev\"")],
        );
        assert_eq!(impure(&sound), Vec::<String>::new());
        let unsound = package("dormouse-classify", &[("tokio", "null")]);
        assert_eq!(
            impure(&unsound),
            [
                "dormouse-classify must not use tokio: it may use dormouse-contracts, dormouse-text, serde"
            ]
        );
        assert!(impure(&package("dormouse-engine", &[("tokio", "null")])).is_empty());
    }

    #[test]
    fn the_fakes_never_get_into_a_program() {
        let [_, testing] = TESTING;
        let layers = BTreeMap::from([(testing, 1), ("mid", 2)]);
        assert!(upward(&package("mid", &[(testing, "\"dev\"")]), &layers).is_empty());
        assert_eq!(
            upward(&package("mid", &[(testing, "null")]), &layers),
            ["mid: dormouse-testing may be a dev-dependency only"]
        );
    }
}
