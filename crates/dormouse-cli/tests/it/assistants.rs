//! `dormouse assistant`: the assistants of a folder.

use serde_json::Value;

use crate::program::{Home, Run};

fn ok(run: Run) -> Run {
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    run
}

/// The keys that a listing shows.
fn listed(home: &Home, args: &[&str]) -> Vec<String> {
    let args = [&["assistant", "list", "--json"], args].concat();
    let lines = ok(home.run(&args, "")).of_type("assistant");
    let key = |line: &Value| {
        line.get("assistant")
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    lines.iter().filter_map(key).collect()
}

#[test]
fn assistants_are_created_found_tagged_cloned_archived_and_restored_without_a_model() {
    let home = Home::new();
    let create = [
        "assistant",
        "create",
        "mole",
        "--persona",
        "You are a shy mole.",
        "--tag",
        "River",
    ];
    ok(home.run(&create, ""));
    let again = home.run(&create, "");
    assert_eq!(again.code, Some(2), "{}", again.err);
    assert!(
        again.err.contains("there is an assistant mole already"),
        "{}",
        again.err
    );
    ok(home.run(
        &["assistant", "clone", "mole", "rat", "--name", "Ratty"],
        "",
    ));
    ok(home.run(
        &[
            "assistant",
            "tag",
            "rat",
            "--add",
            "boat",
            "--remove",
            "river",
        ],
        "",
    ));
    assert_eq!(listed(&home, &[]), ["mole", "rat"]);
    assert_eq!(listed(&home, &["--tag", "RIVER"]), ["mole"]);
    let shown = ok(home.run(&["assistant", "show", "boat"], ""));
    assert!(
        shown.out.starts_with("rat (Ratty)") && shown.out.contains("a clone of mole"),
        "{}",
        shown.out
    );
    assert!(shown.out.contains("has not woken yet"), "{}", shown.out);
    ok(home.run(&["assistant", "archive", "rat", "--reason", "it left"], ""));
    assert_eq!(listed(&home, &[]), ["mole"]);
    assert_eq!(listed(&home, &["--archived"]), ["mole", "rat"]);
    let shown = ok(home.run(&["assistant", "show", "rat"], ""));
    assert!(shown.out.contains("it left"), "{}", shown.out);
    ok(home.run(&["assistant", "restore", "rat"], ""));
    assert_eq!(listed(&home, &[]), ["mole", "rat"]);
    let nobody = home.run(&["assistant", "show", "toad"], "");
    assert_eq!(nobody.code, Some(2), "{}", nobody.err);
    for key in ["mole", "rat"] {
        ok(home.run(&["log", "replay", "--decide", "--assistant", key], ""));
    }
}

#[cfg(unix)]
#[test]
fn an_assistant_is_created_and_archived_while_others_live() {
    let home = Home::new();
    let running = crate::control::Running::start(&home);
    ok(home.run(&["assistant", "create", "mole", "--tag", "river"], ""));
    let told = ok(home.run(
        &["play", "--json"],
        "page Mole = remember that the boat is green\n",
    ));
    assert_eq!(told.end().0, "settled");
    loop {
        let found = ok(home.run(&["log", "show", "--assistant", "mole", "--json"], ""));
        if found.out.contains("\"remembered\"") {
            break;
        }
    }
    let shown = ok(home.run(&["assistant", "show", "mole"], ""));
    assert!(shown.out.contains("awake; "), "{}", shown.out);
    assert!(
        shown.out.contains("its character is assistant:mole"),
        "{}",
        shown.out
    );
    ok(home.run(&["assistant", "archive", "mole"], ""));
    assert_eq!(listed(&home, &[]), ["dormouse"]);
    ok(home.run(&["emergency", "clear", "--assistant", "mole"], ""));
    running.end(nix::sys::signal::Signal::SIGTERM);
    let running = crate::control::Running::start(&home);
    assert_eq!(listed(&home, &["--archived"]), ["dormouse", "mole"]);
    running.end(nix::sys::signal::Signal::SIGTERM);
    ok(home.run(&["log", "replay", "--decide", "--assistant", "mole"], ""));
}
