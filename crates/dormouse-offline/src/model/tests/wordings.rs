//! Two lists of wordings that were written before the rules that they test. Misses of the first list were looked at, and mended where
//! a rule could be. The second list was counted once, after the last change of the rules.

use crate::{
    intent::{Intent, recognise},
    later::tests::understood,
};

const READ: &str = include_str!("wordings/read.txt");
const UNREAD: &str = include_str!("wordings/unread.txt");

/// Whether the wording is understood as the row says: `skill | what exactly | wording`.
fn is_understood(row: &str) -> bool {
    let [skill, expected, wording] = row.split(" | ").collect::<Vec<_>>()[..] else {
        panic!("three columns: {row}")
    };
    let expected = expected.trim();
    match (skill, recognise(wording, &["Dormouse"])) {
        ("why", Intent::Why(_))
        | ("remember", Intent::Remember(_))
        | ("recall", Intent::Ask(_)) => true,
        ("remind", _) => understood(wording).is_some_and(|(waits, _)| waits == expected),
        ("go", Intent::Go(place)) => place.eq_ignore_ascii_case(expected),
        ("talk", Intent::Talk(topic)) => format!("{topic:?}") == expected,
        _ => false,
    }
}

/// How many rows are understood, and the others.
fn count(rows: &str) -> (usize, Vec<&str>) {
    assert_eq!(rows.lines().count(), 60);
    let missed: Vec<_> = rows.lines().filter(|row| !is_understood(row)).collect();
    (60 - missed.len(), missed)
}

#[test]
fn the_readme_says_how_many_fresh_wordings_are_understood() {
    let (read, missed) = count(READ);
    let (unread, _) = count(UNREAD);
    let readme = include_str!("../../../README.md");
    for (list, understood) in [("read", read), ("not read", unread)] {
        let row = format!("| fresh wordings, {list} | {understood} of 60 |");
        assert!(readme.contains(&row), "{row}\n{missed:?}");
    }
}
