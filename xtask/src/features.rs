//! Each crate by itself, without features and with each of its features alone.
//!
//! In a build of the whole workspace, a crate can use features that only another crate enables. This check finds that.
//! Programs and tests are left out: nobody depends on them, and other steps build them with their features.

use std::fs;
use std::path::Path;

use xshell::{Shell, cmd};

use crate::metadata::{Metadata, Package};
use crate::workspace::Result;

pub(crate) fn check(sh: &Shell, metadata: &Metadata) -> Result {
    let mut failed = Vec::new();
    for package in metadata
        .packages
        .iter()
        .filter(|it| it.is_layered() && it.is_library())
    {
        let code = sources(&package.folder().join("src"))?;
        for features in selections(package, &code) {
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

/// The arguments of each check of a crate: none, then each feature that turns code of the crate on. A feature that only
/// turns on a feature of another crate is checked with that crate.
fn selections(package: &Package, code: &str) -> Vec<Vec<String>> {
    let single = package
        .features
        .keys()
        .filter(|feature| code.contains(&format!("feature = \"{feature}\"")))
        .map(|feature| vec!["--features".to_owned(), feature.clone()]);
    std::iter::once(Vec::new()).chain(single).collect()
}

/// The text of all files of a folder.
fn sources(folder: &Path) -> Result<String> {
    let mut text = String::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        text += &if path.is_dir() {
            sources(&path)?
        } else {
            fs::read_to_string(&path)?
        };
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_checked_without_features_and_with_each_that_turns_its_code_on() {
        let json = r#"{
            "name": "a", "description": null, "manifest_path": "/a/Cargo.toml",
            "dependencies": [], "targets": [],
            "features": {"default": ["net"], "net": [], "tokens": []}
        }"#;
        let package: Package = serde_json::from_str(json).unwrap();

        let code =
            r#"#[cfg(feature = "net")] mod net; #[cfg(not(feature = "tokens"))] mod estimate;"#;
        let checks = selections(&package, code);

        let checks: Vec<String> = checks.iter().map(|check| check.join(" ")).collect();
        assert_eq!(checks, ["", "--features net", "--features tokens"]);
    }
}
