//! `dormouse assistant`: the assistants of a folder.

use dormouse_contracts::{Append, AppendRequest, AssistantId, Author, NewEvent, Timestamp};
use dormouse_engine::{Event, RosterChange, RosterChanged};
use dormouse_store::RedbLog;
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

#[test]
fn a_name_that_looks_like_another_assistants_is_refused_with_what_to_do() {
    let home = Home::new();
    ok(home.run(&["assistant", "create", "mole"], ""));
    ok(home.run(&["assistant", "archive", "mole"], ""));
    for (name, other) in [("Dorrnouse", "Dormouse"), ("MOLE", "Mole")] {
        let refused = home.run(&["assistant", "create", "b", "--name", name], "");
        assert_eq!(refused.code, Some(2), "{}", refused.err);
        for part in [name, other, "choose another name"] {
            assert!(refused.err.contains(part), "{}", refused.err);
        }
    }
    let long = "x".repeat(70_000);
    let refused = home.run(&["assistant", "create", "b", "--name", &long], "");
    assert_eq!(refused.code, Some(2), "{}", refused.err.len());
    assert!(refused.err.len() < 3_000, "{}", refused.err.len());
    let refused = home.run(&["assistant", "create", &long], "");
    assert!(refused.err.len() < 3_000, "{}", refused.err.len());
    assert!(refused.err.contains("for '<KEY>'"), "{}", refused.err);
    assert_eq!(listed(&home, &["--archived"]), ["mole"]);
}

#[test]
fn tags_that_do_not_change_are_shown_without_writing() {
    let home = Home::new();
    ok(home.run(&["assistant", "create", "mole", "--tag", "River"], ""));
    // Nobody else can open the log for writing now.
    let log = RedbLog::open_existing(&home.file("log.redb")).unwrap();
    for change in [&[][..], &["--add", "river"], &["--remove", "boat"]] {
        let args = [&["assistant", "tag", "mole"], change].concat();
        assert_eq!(ok(home.run(&args, "")).out, "mole: river\n");
    }
    let refused = home.run(&["assistant", "tag", "mole", "--add", "boat"], "");
    assert_ne!(refused.code, Some(0), "{}", refused.out);
    drop(log);
}

#[tokio::test]
async fn one_assistant_is_shown_although_the_life_of_another_is_damaged() {
    let home = Home::new();
    for key in ["mole", "rat"] {
        ok(home.run(&["assistant", "create", key, "--tag", "river"], ""));
    }
    let rat = AssistantId::try_new("rat").unwrap();
    {
        let log = RedbLog::open_existing(&home.file("log.redb")).unwrap();
        let known = log.assistants().unwrap();
        let (_, last) = known.into_iter().find(|(key, _)| *key == rat).unwrap();
        let archived = Event::RosterChanged(RosterChanged {
            change: RosterChange::Archived,
            author: Author::Operator("Ada".to_owned()),
            reason: "it left".to_owned(),
        });
        let damaged = NewEvent {
            payload: b"not JSON".to_vec(),
            ..archived.encode(Timestamp::EPOCH).unwrap()
        };
        let request = AppendRequest {
            assistant: rat,
            expected: last,
            events: vec![damaged],
        };
        log.append(request).await.unwrap();
    }
    home.leave_its_log();
    let shown = ok(home.run(&["assistant", "show", "mole"], ""));
    assert!(shown.out.starts_with("mole (Mole)"), "{}", shown.out);
    for who in ["rat", "river"] {
        let damaged = home.run(&["assistant", "show", who], "");
        assert_eq!(
            damaged.code,
            Some(4),
            "{who}: {}{}",
            damaged.out,
            damaged.err
        );
        assert!(damaged.err.contains("the life of rat"), "{}", damaged.err);
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

#[cfg(unix)]
#[test]
fn a_life_is_forked_exported_and_imported_with_and_without_a_running_program() {
    let (home, other) = (Home::new(), Home::new());
    let told = ok(home.play("remember that the boat is green\n"));
    assert_eq!(told.end().0, "settled");
    let file = home.file("dormouse.life.jsonl");
    let file = file.to_str().unwrap();
    let export = ["assistant", "export", "dormouse", "--to", file];
    let hash = |run: Run| {
        ok(run).of_type("state")[0]["hash"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let events = ok(home.run(&["log", "show", "--json"], ""))
        .of_type("event")
        .len();
    let at = ["log", "replay", "--json", "--at", &events.to_string()];
    let before = hash(home.run(&at, ""));
    ok(home.run(&export, ""));
    let again = home.run(&export, "");
    assert_eq!(again.code, Some(2), "{}", again.err);
    assert!(again.err.contains("never overwritten"), "{}", again.err);

    let imported = ok(other.run(&["assistant", "import", file], ""));
    assert!(
        imported.out.contains(&before) && imported.out.contains("switched off"),
        "{}",
        imported.out
    );
    assert_eq!(hash(other.run(&at, "")), before);
    let twice = other.run(&["assistant", "import", file], "");
    assert_eq!(twice.code, Some(2), "{}", twice.err);
    let shown = ok(other.run(&["assistant", "show", "dormouse"], ""));
    assert!(shown.out.contains("switched off"), "{}", shown.out);
    ok(other.run(&["config", "set", "assistant.enabled", "true"], ""));
    let told = ok(other.play("what is the colour of the boat?\n"));
    assert!(told.answers().concat().contains("green"), "{}", told.out);

    let running = crate::control::Running::start(&other);
    let named = [
        "assistant",
        "import",
        file,
        "--as",
        "mole",
        "--name",
        "Mole",
    ];
    ok(other.run(&named, ""));
    let fork = ["assistant", "fork", "mole", "--as", "rat"];
    ok(other.run(&fork, ""));
    let copy = other.file("rat.life.jsonl");
    ok(other.run(
        &["audit", "archive", "rat", "--to", copy.to_str().unwrap()],
        "",
    ));
    assert_eq!(listed(&other, &[]), ["dormouse", "mole", "rat"]);
    running.end(nix::sys::signal::Signal::SIGTERM);
    // What was decided before was decided under another key.
    other.leave_its_log();

    let fork = ["assistant", "fork", "dormouse", "--at", "3"];
    ok(home.run(&fork, ""));
    assert_eq!(listed(&home, &[]), ["dormouse", "dormouse-fork"]);
    let behind = home.run(&["assistant", "fork", "dormouse", "--at", "9999"], "");
    assert_eq!(behind.code, Some(2), "{}", behind.err);
    assert!(
        behind.err.contains("the log of dormouse ends"),
        "{}",
        behind.err
    );
    home.leave_its_log();

    let cut = std::fs::read(file).unwrap();
    std::fs::write(home.file("cut"), &cut[..cut.len() - 50]).unwrap();
    let cut = home.file("cut");
    let refused = home.run(
        &["assistant", "import", cut.to_str().unwrap(), "--as", "x"],
        "",
    );
    assert_eq!(refused.code, Some(4), "{}", refused.err);
    assert!(refused.err.contains("cut off"), "{}", refused.err);
    let folder = home.path().to_str().unwrap();
    let refused = home.run(&["assistant", "import", folder, "--as", "x"], "");
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert_eq!(listed(&home, &[]), ["dormouse", "dormouse-fork"]);
}

#[cfg(unix)]
#[test]
fn what_the_documents_call_interact_and_audit_does_what_other_commands_do() {
    let home = Home::new();
    let said = ok(home.run(&["interact", "say", "/quit is", "what I say", "--json"], ""));
    let heard = said.heard();
    let is_said = |(text, ..): &(String, String, String)| text == "/quit is what I say";
    assert!(heard.iter().any(is_said), "{}", said.out);
    assert_eq!(said.end().0, "settled");
    let running = crate::control::Running::start(&home);
    let said = ok(home.run(&["interact", "say", "hello", "--as", "Ann", "--json"], ""));
    assert_eq!(said.end().0, "settled");
    ok(home.run(&["interact", "set", "burst", "7"], ""));
    let shown = ok(home.run(&["interact", "show", "burst"], ""));
    assert!(shown.out.contains('7'), "{}", shown.out);
    let kinds = ["audit", "events", "--kinds", "--from", "1", "--to", "2"];
    assert_eq!(ok(home.run(&kinds, "")).out.lines().count(), 2);
    let typed = "/audit events --kinds --to 3\n/interact show burst\n/memory stats\n/goal add \"Water the roses\"\n/goal list\n/quit\n";
    let told = ok(home.run(&["play"], typed));
    for shown in ["perceived", "admission.burst", "in use", "Water the roses"] {
        assert!(told.out.contains(shown), "{shown}: {}", told.out);
    }
    running.end(nix::sys::signal::Signal::SIGTERM);
}
