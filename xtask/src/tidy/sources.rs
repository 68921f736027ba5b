//! What no file of the repository may contain: unfinished code, disabled tests, paths of a contributor's machine.

/// Marks of unfinished code and of disabled tests. They are written in pieces, so that this file does not match.
const UNFINISHED: [&str; 4] = [
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("#[", "ignore"),
    concat!("Being laid", " down"),
];

/// Where people's folders are.
const FOLDERS: [&str; 3] = ["/root/", "/home/", "/Users/"];
/// The users whose folders an example may show.
const FICTIONAL: [&str; 3] = ["alice/", "bob/", "you/"];

/// The problems of a file, one line each.
pub(super) fn findings(path: &str, text: &str) -> Vec<String> {
    let is_source = path.ends_with(".rs");
    // This file and its tests cannot do without the folders.
    let has_folders = path != "xtask/src/tidy/sources.rs";
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if is_source && UNFINISHED.iter().any(|mark| line.contains(mark)) {
            findings.push(format!("{path}:{number}: unfinished or disabled"));
        }
        if has_folders && names_a_folder(line) {
            findings.push(format!(
                "{path}:{number}: a path of a contributor's machine"
            ));
        }
    }
    findings
}

fn names_a_folder(line: &str) -> bool {
    FOLDERS.iter().any(|folder| {
        line.match_indices(folder)
            .any(|(at, _)| starts_a_path(line, at, folder))
    })
}

/// Whether a path starts with this folder. Otherwise the folder is a part of a longer path, such as an address.
fn starts_a_path(line: &str, at: usize, folder: &str) -> bool {
    let (before, rest) = line.split_at(at);
    let is_inside = before
        .chars()
        .next_back()
        .is_some_and(|c| c.is_alphanumeric() || "./_-~}>".contains(c));
    let after = rest.strip_prefix(folder).unwrap_or_default();
    let is_fictional = FICTIONAL.iter().any(|name| after.starts_with(name));
    !is_inside && !is_fictional
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_code_and_switched_off_tests_are_found_with_their_line() {
        let marks = UNFINISHED.map(|mark| format!("fn a() {{\n    {mark}\n}}\n"));
        for text in marks {
            assert_eq!(findings("a.rs", &text), ["a.rs:2: unfinished or disabled"]);
            assert!(findings("a.md", &text).is_empty(), "prose may speak of it");
        }
    }

    #[test]
    fn a_path_of_a_machine_is_found_and_a_part_of_a_longer_path_is_not() {
        for bad in [
            "see /root/checkout",
            "\"/root/x\"",
            "(/home/karl/x)",
            "at=/Users/k/",
        ] {
            assert!(names_a_folder(bad), "{bad}");
        }
        for good in [
            "a/home/b",
            "/home/alice/.local",
            "$HOME/home/",
            "https://a.b/home/",
            "../home/x",
        ] {
            assert!(!names_a_folder(good), "{good}");
        }
    }
}
