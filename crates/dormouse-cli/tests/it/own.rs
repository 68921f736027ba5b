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
        "there is no project \"project-7\"; known: project-1, project-2",
    );
    refused(&project(&["swap", "barn"]), "such as project-3");
    refused(
        &project(&["create", " "]),
        "blank or too long; expected 1 to 200 characters",
    );
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
    let again = note(&["add", "fact", "alice prefers tea"]);
    assert_eq!(again.code, Some(0), "it is so already");
    assert!(
        again.err.contains("this is note 1 already"),
        "{}",
        again.err
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

#[test]
fn entries_are_written_listed_searched_and_restored_by_commands_that_say_who() {
    let home = Home::new();
    ok(home.run(&["assistant", "create", "mole"], ""));
    let journal = |args: &[&str]| home.run(&[&["journal"], args].concat(), "");
    assert_eq!(ok(journal(&["list"])).out, "no entry\n");
    ok(home.run(&["play", "--json"], "hello\n"));
    let setting = ["config", "set", "journal.max_entries", "2"];
    ok(home.run(&[&setting[..], &["--assistant", "dormouse"]].concat(), ""));
    ok(home.run(&["play", "--json"], "hello again\n"));
    let told = "the red gate was shut after the storm";
    let first = ok(journal(&[
        "add",
        told,
        "--from",
        "Alice",
        "--tag",
        "Weather",
        "--importance",
        "2",
    ]));
    assert_eq!(first.out, "entry 1 is written, importance 2\n");
    let again = ok(journal(&["add", &format!("{told} "), "--from", "Alice"])).out;
    assert!(again.contains("it repeats entry 1"), "{again}");
    refused(&journal(&["add", " "]), "content is blank");
    refused(
        &journal(&["add", "x", "--importance", "11"]),
        "from 1 to 10",
    );
    refused(
        &journal(&["add", "x", "--tag", "a,b"]),
        "give each label separately",
    );
    let found = ok(journal(&["search", "storms and gates", "--json"])).of_type("journal_entry");
    assert_eq!(found.len(), 1, "one for both: {found:?}");
    let episodic = ok(journal(&["search", "storm", "--episodic"])).out;
    assert!(episodic.contains("importance 0."), "{episodic}");
    let left = ok(journal(&["add", "two pear trees stand by the well"])).out;
    assert!(left.contains("1 left the journal"), "{left}");
    refused(&journal(&["show", "1"]), "it has 2 entries from 2 to 3");
    assert_eq!(journal(&["restore", "2"]).code, Some(0), "it is so already");
    refused(&journal(&["restore", "9"]), "it has 2 entries");
    ok(journal(&["restore", "1", "--reason", "wanted again"]));
    let shown = ok(journal(&["show", "1"])).out;
    for line in [
        told,
        "source: direct, from Alice; trust 0.90",
        "importance: 2, as somebody said",
        "known to: everyone",
        "tags: weather",
        "in the memory as record ",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let recalled = ok(home.run(&["memory", "search", "pear trees", "--json"], "")).out;
    assert!(recalled.contains("two pear trees"), "{recalled}");
    let listed = ok(journal(&["list", "--tag", "weather", "--json"])).of_type("journal_entry");
    assert_eq!(field(&listed, "id"), [1].map(Value::from));
    let log = ok(home.run(&["log", "show"], "")).out;
    for line in [
        "entry 1, importance 2: the red gate",
        "entry 1 left: there were too many",
        "entry 1 is back, by ",
    ] {
        assert!(log.contains(line), "{line}\n{log}");
    }
    let thought = ok(journal(&["reflect", "--conclude", "--score", "--json"]));
    let thought = thought.of_type("journal_reflection");
    assert_eq!(
        thought[0]["end"], "done",
        "the offline model reads each request: {thought:?}"
    );
    assert!(thought[0]["scored"].as_u64() > Some(0), "{thought:?}");
    ok(home.run(&["log", "replay", "--decide"], ""));
}
