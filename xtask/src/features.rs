//! Each crate by itself, without features and with each of its features alone.
//!
//! In a build of the whole workspace, a crate can use features that only another crate enables. This check finds that.
//! Programs and tests are left out: nobody depends on them, and other steps build them with their features. The facade only
//! re-exports, so what its features turn on is read instead of built.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use xshell::{Shell, cmd};

use crate::metadata::{Metadata, Package};
use crate::workspace::Result;

/// The crate that has no code but re-exports of others.
const FACADE: &str = "dormouse";

pub(crate) fn run(sh: &Shell) -> Result {
    let metadata = Metadata::read(sh)?;
    let mut failed = Vec::new();
    for package in metadata
        .packages
        .iter()
        .filter(|it| it.is_layered() && it.is_library())
    {
        let code = sources(&package.folder().join("src"))?;
        if package.name == FACADE {
            failed.extend(without_their_crate(package, &code));
            continue;
        }
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

/// The re-exports `#[cfg(feature = "F")] pub use dormouse_x` whose feature does not turn on that crate.
fn without_their_crate(package: &Package, code: &str) -> Vec<String> {
    let lines: Vec<&str> = code.lines().collect();
    let exports = lines.windows(2).filter_map(|pair| {
        let feature = pair.first()?.strip_prefix("#[cfg(feature = \"")?;
        let feature = feature.strip_suffix("\")]")?;
        let path = pair.last()?.strip_prefix("pub use ")?;
        let name = path.split([' ', ':', ';']).next()?;
        Some((feature, name.replace('_', "-")))
    });
    exports
        .filter(|(feature, name)| !turned_on(package, feature).contains(&format!("dep:{name}")))
        .map(|(feature, name)| format!("{} --features {feature}: re-exports {name}", package.name))
        .collect()
}

/// The feature and all that it turns on in its crate.
fn turned_on(package: &Package, feature: &str) -> BTreeSet<String> {
    let mut on = BTreeSet::new();
    let mut next = vec![feature.to_owned()];
    while let Some(feature) = next.pop() {
        next.extend(
            package
                .features
                .get(&feature)
                .into_iter()
                .flatten()
                .cloned(),
        );
        on.insert(feature);
    }
    on
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

    #[test]
    fn a_re_export_whose_feature_does_not_turn_on_its_crate_is_reported() {
        let json = r#"{
            "name": "facade", "description": null, "manifest_path": "/facade/Cargo.toml",
            "dependencies": [], "targets": [],
            "features": {"all": ["one"], "one": ["dep:dormouse-one"], "two": ["one"]}
        }"#;
        let package: Package = serde_json::from_str(json).unwrap();

        let code = "\
            #[cfg(feature = \"one\")]\npub use dormouse_one as one;\n\
            #[cfg(feature = \"all\")]\npub use dormouse_one::{A, B};\n\
            #[cfg(feature = \"two\")]\npub use dormouse_two;\n";

        assert_eq!(
            without_their_crate(&package, code),
            ["facade --features two: re-exports dormouse-two"]
        );
    }
}
