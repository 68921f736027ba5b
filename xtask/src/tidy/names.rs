//! Which public types of the workspace share a name. One word names one concept, so each name should occur once.

use std::collections::BTreeMap;

/// Names that every Rust engineer expects to meet in more than one crate.
const CONVENTIONAL: [&str; 5] = ["Builder", "Config", "Error", "Result", "State"];

/// Where each public type of the library and binary sources is defined, by its name.
#[derive(Debug, Default)]
pub(super) struct TypeNames(BTreeMap<String, Vec<String>>);

impl TypeNames {
    /// Adds the public types that one source file defines. Tests, benches and examples are left out.
    pub(super) fn add(&mut self, path: &str, text: &str) {
        if !is_product_source(path) {
            return;
        }
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(name) = public_type(line) {
                let places = self.0.entry(name.to_owned()).or_default();
                places.push(format!("{path}:{number}"));
            }
        }
    }

    /// Each name that two or more public types share, a line each, with the places that define them.
    pub(super) fn findings(&self) -> Vec<String> {
        self.duplicates()
            .map(|(name, places)| {
                let places = places.join(" and ");
                format!("{name} names two public types ({places}); rename one of them")
            })
            .collect()
    }

    fn duplicates(&self) -> impl Iterator<Item = (&str, &Vec<String>)> {
        self.0
            .iter()
            .map(|(name, places)| (name.as_str(), places))
            .filter(|(name, places)| places.len() > 1 && !CONVENTIONAL.contains(name))
    }
}

fn is_product_source(path: &str) -> bool {
    let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
    path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs") && !is_test
}

/// The type that a line defines, if it is public and defined in the file's outermost scope.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = ["struct ", "enum ", "trait ", "type ", "union "]
        .iter()
        .find_map(|keyword| rest.strip_prefix(keyword))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    Some(rest.split_at(end.unwrap_or(rest.len())).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[(&str, &str)]) -> TypeNames {
        let mut names = TypeNames::default();
        for (path, text) in files {
            names.add(path, text);
        }
        names
    }

    const A: &str = "crates/a/src/lib.rs";
    const B: &str = "crates/b/src/b.rs";

    #[test]
    fn a_public_type_name_used_twice_is_found_with_both_places() {
        let names = names(&[
            (A, "pub enum Place {\n"),
            (B, "\npub struct Place<T>(T);\n"),
        ]);
        let [finding] = &names.findings()[..] else {
            panic!("one finding expected");
        };
        assert!(
            finding.contains("crates/a/src/lib.rs:1 and crates/b/src/b.rs:2"),
            "{finding}"
        );
    }

    #[test]
    fn private_types_conventional_names_and_tests_may_repeat() {
        let text = "pub struct Config;\npub(crate) struct Place;\nstruct Name;\n";
        let names = names(&[
            (A, text),
            (B, text),
            ("crates/a/tests/it/main.rs", "pub struct World;\n"),
            ("crates/b/src/world.rs", "pub struct World;\n"),
        ]);
        assert!(names.findings().is_empty());
    }
}
