//! Errors in a form that may be shown to others.

use crate::{RedactionProfile, mask};

/// Replaces the path of a file.
const PATH: &str = "[file]";

/// Removes from the text of an error what others should not see: keys, passwords, and paths of files, which show how a
/// machine is organised. Everything else stays as it is, also URLs, and a single word after a slash, such as a command.
///
/// ```
/// use dormouse_redact::clean_error;
///
/// let error = "cannot open '/srv/tea/world.redb': disk full (token=sk-proj-Zq8vX2mN4bT7wK1pR5)";
/// assert_eq!(clean_error(error), "cannot open '[file]': disk full (token=***)");
/// assert_eq!(clean_error("GET https://tea.example/v1 failed"), "GET https://tea.example/v1 failed");
/// ```
#[must_use]
pub fn clean_error(text: &str) -> String {
    without_paths(&mask(text, RedactionProfile::Errors))
}

fn without_paths(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        let begins = before.is_none_or(|before: char| {
            before.is_whitespace()
                || matches!(before, '\'' | '"' | '`' | '(' | '[' | '<' | '=' | ':')
        });
        let length = if begins { path_length(rest) } else { 0 };
        let (kept, behind) = match length {
            0 => rest.split_at(first.len_utf8()),
            _ => (PATH, rest.get(length..).unwrap_or_default()),
        };
        clean.push_str(kept);
        before = kept.chars().next_back();
        rest = behind;
    }
    clean
}

/// The length of the path at the start of the text, in bytes; 0 if the text begins with something else.
fn path_length(text: &str) -> usize {
    let is_drive = |text: &str| {
        let mut first = text.chars();
        first
            .next()
            .is_some_and(|drive| drive.is_ascii_alphabetic())
            && first.next() == Some(':')
            && first.next().is_some_and(is_separator)
    };
    let is_absolute = text.starts_with('/') && !text.starts_with("//");
    let is_named = ["~/", "./", "../", "\\\\"]
        .iter()
        .any(|start| text.starts_with(start));
    if !is_absolute && !is_named && !is_drive(text) {
        return 0;
    }
    let ends =
        |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ')' | ']' | '>' | ',' | ';');
    let path = text.split(ends).next().unwrap_or_default();
    // A colon ends a path, unless it belongs to a drive.
    let drive = if is_drive(path) { 2 } else { 0 };
    let end = path.get(drive..).and_then(|path| path.find(':'));
    let length = end.map_or(path.len(), |end| end + drive);
    let path = path.get(..length).unwrap_or_default();
    let names = path.split(is_separator).filter(|name| !name.is_empty());
    match names.count() {
        0 => 0,
        1 if is_absolute => 0,
        _ => length,
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, '/' | '\\')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_error_names_no_file_and_no_key() {
        for (error, clean) in [
            ("/srv/tea/log.redb: disk full", "[file]: disk full"),
            ("in \"C:\\tea\\log.redb\", line 3", "in \"[file]\", line 3"),
            ("open ~/tea.toml failed", "open [file] failed"),
            ("path=/home/alice/.netrc;", "path=[file];"),
            ("at ../src/tool.rs:12:5", "at [file]:12:5"),
            ("\\\\server\\share is gone", "[file] is gone"),
            ("use /help, or and/or 1/2", "use /help, or and/or 1/2"),
            (
                "https://a.example/b/c said 500",
                "https://a.example/b/c said 500",
            ),
            ("", ""),
            ("/", "/"),
        ] {
            assert_eq!(clean_error(error), clean);
        }
        let key = "sk-proj-Zq8vX2mN4bT7wK1pR5";
        assert!(!clean_error(&format!("refused: {key}")).contains(key));
    }

    proptest! {
        #[test]
        fn no_path_of_several_names_is_left(names in prop::collection::vec("[a-z0-9_.é-]{1,9}[a-z]", 2..6), before in "[ a-z]{0,9}") {
            let path = format!("/{}", names.join("/"));
            let clean = clean_error(&format!("{before} {path}: no such file"));
            prop_assert!(!clean.contains(&path), "{clean}");
        }

        #[test]
        fn cleaning_twice_changes_nothing_more(text in ".{0,60}") {
            let once = clean_error(&text);
            prop_assert_eq!(clean_error(&once), once);
        }
    }
}
