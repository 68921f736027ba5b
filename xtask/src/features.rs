//! Each crate by itself, without features and with each of its features alone.
//!
//! In a build of the whole workspace, a crate can use features that only another crate enables. This check finds that.

use xshell::{Shell, cmd};

use crate::metadata::{Metadata, Package};
use crate::workspace::Result;

pub(crate) fn check(sh: &Shell, metadata: &Metadata) -> Result {
    let mut failed = Vec::new();
    for package in &metadata.packages {
        for features in selections(package) {
            let (name, features) = (&package.name, &features);
            let run = cmd!(
                sh,
                "cargo clippy --quiet --package {name} --no-default-features {features...} -- -D warnings"
            );
            if run.run().is_err() {
                failed.push(
                    format!("{name} {}", features.join(" "))
                        .trim_end()
                        .to_owned(),
                );
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!("does not build by itself: {}", failed.join(", ")).into())
}

/// The arguments of each check of a crate: none, then each feature.
fn selections(package: &Package) -> Vec<Vec<String>> {
    let single = package
        .features
        .keys()
        .map(|feature| vec!["--features".to_owned(), feature.clone()]);
    std::iter::once(Vec::new()).chain(single).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_checked_without_features_and_with_each_alone() {
        let json = r#"{
            "name": "a", "description": null, "manifest_path": "/a/Cargo.toml",
            "dependencies": [], "targets": [],
            "features": {"default": ["net"], "net": [], "tokens": []}
        }"#;
        let package: Package = serde_json::from_str(json).unwrap();

        let checks: Vec<String> = selections(&package).iter().map(|s| s.join(" ")).collect();

        assert_eq!(
            checks,
            [
                "",
                "--features default",
                "--features net",
                "--features tokens"
            ]
        );
    }
}
