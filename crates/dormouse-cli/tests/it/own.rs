//! `dormouse project`, `dormouse note` and `dormouse commitment`: what an assistant keeps for itself, and means to do for others.

use serde_json::Value;

use crate::program::{Home, Run};

fn ok(run: Run) -> Run {
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    run
}

fn refused(run: &Run, reason: &str) {
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains(reason), "{}", run.err);
}

fn field(rows: &[Value], name: &str) -> Vec<Value> {
    rows.iter().map(|row| row[name].clone()).collect()
}

#[test]
fn projects_and_notes_are_kept_changed_and_dropped_by_commands_that_say_who() {
    let home = Home::new();
    ok(home.run(&["assistant", "create", "mole"], ""));
    let project = |args: &[&str]| home.run(&[&["project"], args].concat(), "");
    assert_eq!(ok(project(&["list"])).out, "no project\n");
    ok(project(&[
        "create",
        "build the boat",
        "--context",
        "no mast yet",
    ]));
    let second = ok(project(&["create", "mend the barn"])).out;
    assert_eq!(second, "project-2 is begun and paused\n");
    ok(project(&[
        "swap",
        "2",
        "--update",
        "the mast is there",
        "--reason",
        "it rains",
    ]));
    let listed = ok(project(&["list"])).out;
    assert!(
        listed.contains("project-1 [paused] build the boat")
            && listed.contains("the mast is there"),
        "{listed}"
    );
    ok(project(&[
        "update",
        "project-2",
        "--context",
        "the roof is open",
        "--completed",
    ]));
    let shown = ok(project(&["show", "project-2", "--json"])).of_type("project");
    assert_eq!(shown[0]["context"]["text"], "the roof is open");
    assert_eq!(shown[0]["status"], "completed");
    refused(
        &project(&["show", "7"]),
        "there is no project-7; there is project-1, project-2",
    );
    refused(&project(&["swap", "barn"]), "such as project-3");
    refused(&project(&["create", " "]), "blank or longer than 200");
    refused(
        &project(&["update", "1"]),
        "nothing of the project would change",
    );

    let note = |args: &[&str]| home.run(&[&["note"], args].concat(), "");
    ok(note(&["add", "fact", "Alice prefers tea"]));
    ok(note(&["add", "guideline", "greet guests by name"]));
    refused(
        &note(&["add", "fact", "mole is always kind"]),
        "this is about yourself",
    );
    refused(
        &note(&["add", "fact", "alice prefers tea"]),
        "this is note 1 already",
    );
    refused(&note(&["drop", "9"]), "there is no note 9");
    ok(note(&["drop", "1"]));
    let kept = ok(note(&["list", "--json"])).of_type("note");
    assert_eq!(field(&kept, "kind"), ["guideline"].map(Value::from));

    let log = ok(home.run(&["log", "show"], "")).out;
    for line in [
        "project-1 -> project-2, by ",
        "guideline 2, by ",
        "note 1, by ",
    ] {
        assert!(log.contains(line), "{line}\n{log}");
    }
    ok(home.run(&["log", "replay", "--decide"], ""));
}

#[test]
fn commitments_are_listed_until_they_are_over_and_then_with_what_became_of_them() {
    let home = Home::new();
    let script = "Bob: hello\nBob: /quit\nAlice: hello\nAlice: tell me when Bob arrives\nAlice: if the bell rings, remind me to take the bread out\n";
    let play = |script: &str| {
        let file = home.write("script.txt", script);
        ok(home.run(&["play", "--json", "--script", file.to_str().unwrap()], ""))
    };
    play(script);
    let list = |args: &[&str]| {
        let args = [&["commitment", "list", "--json"], args].concat();
        ok(home.run(&args, "")).of_type("commitment")
    };
    let open = list(&[]);
    assert_eq!(field(&open, "status"), ["open", "open"].map(Value::from));
    play("begin 2027-01-02T00:00:00Z\nAlice: hello\nBob: hello\n+1m\n");
    let left = list(&[]);
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0]["comes_up"].to_string().contains("bell"), "{left:?}");
    let all = list(&["--all"]);
    assert_eq!(field(&all, "status"), ["kept", "open"].map(Value::from));
    let text = ok(home.run(&["commitment", "list", "--all"], "")).out;
    assert!(text.contains(" kept since 2027-01-02T"), "{text}");
}
