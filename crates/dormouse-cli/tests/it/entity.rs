//! The entities that the assistant knows.

use crate::program::Home;

fn done(home: &Home, args: &[&str]) -> String {
    let run = home.run(args, "");
    assert_eq!(run.code, Some(0), "{args:?}: {}", run.err);
    run.out
}

fn failed(home: &Home, args: &[&str], said: &str) {
    let run = home.run(args, "");
    assert_eq!(run.code, Some(2), "{args:?}: {} {}", run.out, run.err);
    assert!(run.err.contains(said), "{args:?}: {}", run.err);
}

fn acquainted() -> Home {
    let home = Home::new();
    done(&home, &["entity", "create", "#12", "Alice"]);
    done(&home, &["entity", "create", "#13", "Ally", "--type", "npc"]);
    home
}

#[test]
fn observations_and_attributes_are_shown() {
    let home = acquainted();
    done(
        &home,
        &[
            "entity",
            "observe",
            "Alice",
            "She likes tea.",
            "--trust",
            "0.9",
        ],
    );
    done(&home, &["entity", "alias", "Alice", "Alicia"]);
    done(
        &home,
        &[
            "entity",
            "set",
            "alicia",
            "--favorability",
            "-0.5",
            "--trust",
            "0.8",
            "--interest",
            "boats",
            "--prefer",
            "drink=tea",
            "--style",
            "terse",
        ],
    );
    let shown = done(&home, &["entity", "show", "#12"]);
    for part in [
        "Alice, Alicia",
        "favorability -0.50, trust 0.80",
        "communication style: terse",
        "cares about boats",
        "prefers drink: tea",
        "1. She likes tea. (direct, trust 0.90",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let list = done(&home, &["entity", "list", "--json"]);
    let names: Vec<serde_json::Value> = list
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["name"].clone())
        .collect();
    assert_eq!(names, ["Alice", "Ally"]);
    let block = done(&home, &["entity", "block"]);
    assert!(
        block.contains("Alice") && block.contains("She likes tea."),
        "{block}"
    );
}

#[test]
fn two_become_one_and_two_again() {
    let home = acquainted();
    done(&home, &["entity", "merge", "Ally", "Alice"]);
    assert_eq!(done(&home, &["entity", "list"]).lines().count(), 1);
    assert!(done(&home, &["entity", "show", "#13"]).starts_with("#12"));
    done(&home, &["entity", "unmerge", "#13"]);
    assert_eq!(done(&home, &["entity", "list"]).lines().count(), 2);
    failed(&home, &["entity", "unmerge", "#13"], "was not merged");
    failed(&home, &["entity", "unmerge", "#13"], "expected the id FROM");
    failed(&home, &["entity", "restore", "#13"], "entity delete");
}

#[test]
fn a_deleted_entity_can_be_restored() {
    let home = acquainted();
    done(&home, &["entity", "delete", "Ally"]);
    failed(&home, &["entity", "show", "Ally"], "entity list");
    done(&home, &["entity", "restore", "#13"]);
    assert!(done(&home, &["entity", "show", "Ally"]).contains("NPC"));
}

#[test]
fn an_unknown_or_ambiguous_entity_is_refused_with_the_candidates() {
    let home = acquainted();
    failed(
        &home,
        &["entity", "show", "Bob"],
        "no entity has the id or name \"Bob\"",
    );
    failed(&home, &["entity", "create", "#12", "Alice"], "already");
    failed(&home, &["entity", "set", "Alice"], "nothing to set");
    failed(
        &home,
        &["entity", "set", "Alice", "--favorability", "2"],
        "from -1 to 1",
    );
    failed(
        &home,
        &["entity", "set", "Alice", "--prefer", "tea"],
        "drink=tea",
    );
    failed(&home, &["entity", "observe", "Alice", " "], "empty");
    done(&home, &["entity", "alias", "Ally", "Alice"]);
    failed(&home, &["entity", "show", "Alice"], "#12, #13");
    done(&home, &["entity", "alias", "Ally", "Alice", "--remove"]);
    done(&home, &["entity", "show", "Alice"]);
}
