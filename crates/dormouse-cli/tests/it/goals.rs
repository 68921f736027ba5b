//! `dormouse goal`: what an assistant means to reach.

use serde_json::Value;

use crate::program::{Home, Run};

fn ok(run: Run) -> Run {
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    run
}

#[test]
fn goals_are_set_listed_changed_and_closed_by_commands_that_say_who() {
    let home = Home::new();
    ok(home.run(&["assistant", "create", "mole"], ""));
    let goal = |args: &[&str]| home.run(&[&["goal"], args].concat(), "");
    ok(goal(&["add", "give a feast", "--priority", "8"]));
    ok(goal(&[
        "add",
        "bake the bread",
        "--parent",
        "1",
        "--every",
        "daily 20:00",
    ]));
    ok(goal(&[
        "add",
        "call the guests",
        "--parent",
        "1",
        "--due",
        "2031-01-01",
    ]));
    let listed = ok(goal(&["list"])).out;
    let lines: Vec<_> = listed.lines().collect();
    assert!(
        lines[0].starts_with("1 [open] give a feast (priority 8")
            && lines[0].contains("0 of 2 parts"),
        "{listed}"
    );
    assert!(lines[1].starts_with("  2 [open] bake the bread") && lines[1].contains("daily 20:00"));
    assert!(
        lines[2].contains("next at 2031-01-01T00:00:00Z"),
        "{listed}"
    );

    for (args, reason) in [
        (
            vec!["set", "1", "--parent", "2"],
            "cannot be a part of goal 2",
        ),
        (vec!["set", "7", "--priority", "2"], "there is no goal 7"),
        (vec!["set", "1", "--priority", "11"], "from 1 to 10"),
        (vec!["set", "1"], "nothing of the goal would change"),
        (vec!["set", "3", "--wait", "1999-01-01"], "has passed"),
        (
            vec!["add", " "],
            "blank or too long; expected 1 to 200 characters",
        ),
        (vec!["add", "x", "--every", "evening"], "daily 20:00"),
    ] {
        let refused = goal(&args);
        assert_eq!(refused.code, Some(2), "{args:?}: {}", refused.err);
        assert!(refused.err.contains(reason), "{args:?}: {}", refused.err);
    }

    ok(goal(&["set", "2", "--block", "no flour"]));
    assert!(
        ok(goal(&["show", "2"]))
            .out
            .contains("[blocked] bake the bread")
    );
    ok(goal(&["set", "2", "--open"]));
    ok(goal(&["done", "2", "--outcome", "four loaves"]));
    let last = ok(goal(&["done", "3"])).out;
    assert!(
        last.contains("each goal of which it was the last part"),
        "{last}"
    );
    assert_eq!(ok(goal(&["list"])).out, "no goal\n");
    let closed = ok(goal(&["list", "--closed", "--json"])).of_type("goal");
    let statuses: Vec<_> = closed.iter().map(|goal| goal["status"].clone()).collect();
    assert_eq!(statuses, ["done", "done", "done"].map(Value::from));
    assert_eq!(goal(&["done", "3"]).code, Some(2), "it is closed");

    let log = ok(home.run(&["log", "show"], "")).out;
    assert!(log.contains("goal 2, blocked, no flour, by "), "{log}");
    assert!(
        log.contains("goal 1, by ") && log.contains("all its parts are done"),
        "{log}"
    );
    ok(home.run(&["log", "replay", "--decide"], ""));
}
