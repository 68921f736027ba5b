//! What no file of the repository may contain: unfinished code, disabled tests, unfinished merges, paths of a contributor's
//! machine, and words that make a sentence hard to read.

/// Marks of unfinished code and of disabled tests. They are written in pieces, so that this file does not match.
const UNFINISHED: [&str; 4] = [
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("#[", "ignore"),
    concat!("Being laid", " down"),
];

/// How the sides of an unfinished merge begin and end.
const MERGE_MARKS: [&str; 2] = [concat!("<<<<<<", "< "), concat!(">>>>>>", "> ")];

/// Phrases that comments and pages must not use, in lower case; written in pieces, so that this file does not match.
const RIDDLES: [&str; 6] = [
    concat!("who", "ever"),
    concat!("whom", "ever"),
    concat!("is ", "told"),
    concat!("are ", "told"),
    concat!("was ", "told"),
    concat!("were ", "told"),
];
/// A phrase that must not start a sentence, because it would be the subject.
const RIDDLE_SUBJECT: &str = concat!("What", "ever ");

/// Where people's folders are.
const FOLDERS: [&str; 3] = ["/root/", "/home/", "/Users/"];
/// The users whose folders an example may show.
const FICTIONAL: [&str; 3] = ["alice/", "bob/", "you/"];

/// The problems of a file, one line each.
pub(super) fn findings(path: &str, text: &str) -> Vec<String> {
    let is_source = path.ends_with(".rs");
    // This file and its tests must contain the names of the folders.
    let has_folders = path != "xtask/src/tidy/sources.rs";
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if is_source && UNFINISHED.iter().any(|mark| line.contains(mark)) {
            findings.push(format!("{path}:{number}: unfinished or disabled"));
        }
        if MERGE_MARKS.iter().any(|mark| line.starts_with(mark)) {
            findings.push(format!("{path}:{number}: an unfinished merge"));
        }
        let prose = if is_source {
            line.trim_start().strip_prefix("//")
        } else {
            path.ends_with(".md").then_some(line)
        };
        if let Some(riddle) = prose.and_then(riddle) {
            findings.push(format!(
                "{path}:{number}: \"{riddle}\"; expected who or what does it, by name"
            ));
        }
        if has_folders && names_a_folder(line) {
            findings.push(format!(
                "{path}:{number}: a path of a contributor's machine"
            ));
        }
    }
    findings
}

/// The first phrase of this line, outside of code in backticks, that hides the subject of its sentence.
fn riddle(line: &str) -> Option<&'static str> {
    let prose: String = line.split('`').step_by(2).collect();
    let text = prose.trim_start_matches(['/', '!', ' ']);
    let starts = text.starts_with(RIDDLE_SUBJECT) || text.contains(&format!(". {RIDDLE_SUBJECT}"));
    let lower = text.to_lowercase();
    let phrase = RIDDLES.into_iter().find(|phrase| lower.contains(phrase));
    phrase.or(starts.then_some(RIDDLE_SUBJECT))
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
    fn an_unfinished_merge_is_found_in_any_file() {
        for mark in MERGE_MARKS {
            let text = format!("One line.\n{mark}HEAD\n");
            assert_eq!(findings("a.md", &text), ["a.md:2: an unfinished merge"]);
        }
    }

    #[test]
    fn a_phrase_that_hides_the_subject_is_found_in_comments_and_pages_only() {
        let sentence = format!("// {} waits here.", concat!("Who", "ever"));
        assert_eq!(findings("a.rs", &sentence).len(), 1);
        assert_eq!(findings("a.md", &sentence).len(), 1);
        assert_eq!(
            findings("a.rs", &sentence.replace("//", "let a =")),
            [""; 0]
        );
        let subject = format!("Done. {RIDDLE_SUBJECT}comes is kept.");
        assert_eq!(riddle(&subject), Some(RIDDLE_SUBJECT));
        let condition = subject.replace(". What", ", what");
        assert_eq!(riddle(&condition), None, "a condition is fine");
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
