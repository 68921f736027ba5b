//! Copies of the data folder: taken at any moment of the assistants' lives, each is what a crash at that moment would have left.

use std::{collections::BTreeMap, fs};

use dormouse_bridge::{BridgeFile, Report};
use dormouse_contracts::{EntityId, Sender, Senses, SourceKind, Timestamp, Words};
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::{
    control::{Running, heard},
    program::{Home, Run, finish},
};

/// A folder in which backups are made, and the commands for one of them.
struct Shelf(Home);

impl Shelf {
    fn new() -> Self {
        let home = Home::new();
        Self(home)
    }

    fn place(&self, name: &str) -> String {
        self.0.file(name).to_str().unwrap().to_owned()
    }

    fn run(&self, name: &str, args: &[&str], input: &str) -> Run {
        let place = self.place(name);
        let args: Vec<&str> = args.iter().copied().chain(["--data", &place]).collect();
        finish(self.0.spawn(&args), input.as_bytes())
    }
}

fn ok(run: Run) -> Run {
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    run
}

fn hash(run: &Run) -> Value {
    let state = run.items().pop().unwrap();
    assert!(state.get("hash").is_some_and(Value::is_string), "{state}");
    state
}

#[test]
fn a_backup_of_assistants_that_live_is_a_folder_in_which_they_live_on_from_that_moment() {
    let (home, shelf) = (Home::new(), Shelf::new());
    let running = Running::start(&home);
    let lines = |who: &str| -> String {
        let line = |number| format!("note {number} of {who}\n");
        (0..12).map(line).collect()
    };
    let visitors = ["Alice", "Bob"].map(|who| {
        let visit = home.spawn(&["play", "--json", "--as", who]);
        let words = lines(who);
        std::thread::spawn(move || finish(visit, words.as_bytes()))
    });
    let names = ["first", "second", "third"];
    for name in names {
        let made = ok(home.run(&["backup", &shelf.place(name)], ""));
        assert!(made.out.starts_with("backed up "), "{}", made.out);
    }
    for visitor in visitors {
        ok(visitor.join().unwrap());
    }
    assert_eq!(running.end(Signal::SIGTERM), Some(143));

    for name in names {
        let verified = ok(shelf.run(name, &["log", "verify"], ""));
        assert!(verified.out.contains("intact"), "{}", verified.out);
        let copied = ok(shelf.run(name, &["log", "replay", "--json"], ""));
        let copied = hash(&copied);
        let at = copied["seq"].to_string();
        let original = ok(home.run(&["log", "replay", "--json", "--at", &at], ""));
        assert_eq!(copied["hash"], hash(&original)["hash"], "{name}");
    }
    // What had arrived in the world and was not heard yet is heard in the copy, and nothing is heard twice.
    let mut after = BTreeMap::new();
    for name in names {
        ok(shelf.run(name, &["play", "--json", "--as", "Carol"], "hello\n"));
        ok(shelf.run(name, &["log", "replay", "--decide"], ""));
        let of_copy = heard(&shelf.run(name, &["log", "show", "--json"], ""), "note ");
        assert!(of_copy.values().all(|times| *times == 1), "{of_copy:?}");
        let earlier = std::mem::replace(&mut after, of_copy);
        assert!(
            earlier.keys().all(|text| after.contains_key(text)),
            "{name} lacks what an earlier copy has"
        );
    }
}

#[test]
fn a_backup_of_a_folder_at_rest_has_everything_but_what_is_made_again() {
    let (home, shelf) = (Home::new(), Shelf::new());
    home.write("dormouse.toml", "[assistant]\nname = \"Dora\"\n");
    ok(home.play("remember that the key is under the blue pot\n"));
    ok(home.run(&["token", "create", "Eve", "--allow", "read"], ""));
    let made = ok(home.run(&["backup", &shelf.place("copy")], ""));
    assert!(made.out.contains("1 assistant with "), "{}", made.out);

    let names = |folder: &std::path::Path| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let copy = shelf.0.file("copy");
    let expected = ["dormouse.toml", "log.redb", "tokens.json", "world.redb"];
    assert_eq!(names(&copy), expected);
    assert_eq!(names(shelf.0.path()), ["copy"]);

    let listed = ok(shelf.run("copy", &["token", "list"], ""));
    assert!(listed.out.contains("Eve"), "{}", listed.out);
    let visit = ok(shelf.run("copy", &["play"], "whisper Dora = where is the key?\n"));
    assert!(visit.out.contains("under the blue pot"), "{}", visit.out);

    // What is there is never replaced.
    let again = home.run(&["backup", &shelf.place("copy")], "");
    assert_eq!(again.code, Some(2), "{}", again.err);
    assert!(again.err.contains("exists already"), "{}", again.err);
    let nowhere = home.run(&["backup", &shelf.place("no/such/folder")], "");
    assert_eq!(nowhere.code, Some(0), "{}", nowhere.err);
}

#[test]
fn completions_and_manual_have_every_command() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = ok(home.run(&["completions", shell], ""));
        for command in ["backup", "journal", "commitment"] {
            assert!(script.out.contains(command), "{shell}: {command}");
        }
    }
    let pages = home.file("man");
    ok(home.run(&["manual", pages.to_str().unwrap()], ""));
    let page = fs::read_to_string(pages.join("dormouse-journal-search.1")).unwrap();
    assert!(page.contains("journal search"), "{page}");
}

/// A folder with the files of a game, in which words of Alice wait for the assistant.
fn with_a_game(home: &Home, words: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let file = BridgeFile::open(&home.file("evennia.redb"), "evennia").unwrap();
        let observer = EntityId::try_new("assistant:dormouse").unwrap();
        file.queue().enter(&observer).await.unwrap();
        let alice = Sender::Entity {
            id: EntityId::try_new("player:alice").unwrap(),
            name: "Alice".to_owned(),
        };
        let words = Words::try_new(words).unwrap();
        let report = Report::new(SourceKind::Page, alice, Timestamp::EPOCH, words);
        file.queue()
            .push_once(&observer, "1", report)
            .await
            .unwrap();
    });
    home.write(
        "evennia-people.json",
        r#"{"accounts":{"alice":["Alice","player:alice"],"bob":["Bob","account:4"]},"games":{"Dormouse":"game-1"}}"#,
    );
}

#[test]
fn a_backup_has_what_a_game_has_reported_and_forgetting_somebody_takes_it_out() {
    let (home, shelf) = (Home::new(), Shelf::new());
    ok(home.play("hello\n"));
    ok(home.run(
        &["play", "--as", "Alice"],
        "remember that I own a blue pot\n",
    ));
    with_a_game(&home, "the ferry leaves at noon from the old pier");
    let waiting = |folder: &std::path::Path| {
        let bytes = fs::read(folder.join("evennia.redb")).unwrap();
        String::from_utf8_lossy(&bytes).contains("leaves at noon from the old pier")
    };
    ok(home.run(&["backup", &shelf.place("copy")], ""));
    assert!(waiting(&shelf.0.file("copy")));
    let people = fs::read_to_string(shelf.0.file("copy").join("evennia-people.json")).unwrap();
    assert!(people.contains("player:alice"), "{people}");

    let forget = [
        "forget",
        "--person",
        "Alice",
        "--reason",
        "she asked",
        "--yes",
        "--json",
    ];
    let done = ok(home.run(&forget, ""));
    assert!(done.out.contains("evennia.redb"), "{}", done.out);
    assert!(!waiting(home.path()), "her words still wait");
    let people = fs::read_to_string(home.file("evennia-people.json")).unwrap();
    assert!(!people.to_lowercase().contains("alice"), "{people}");
    assert!(
        people.contains("account:4") && people.contains("game-1"),
        "{people}"
    );
    // The delivery keeps its number, so nothing is heard twice.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let file = BridgeFile::open(&home.file("evennia.redb"), "evennia").unwrap();
        let observer = EntityId::try_new("assistant:dormouse").unwrap();
        let waiting = file.queue().perceptions(&observer, 0, 10).await.unwrap();
        let numbers: Vec<_> = waiting
            .iter()
            .map(|it| it.attested.delivery.number)
            .collect();
        assert_eq!(numbers, [1]);
    });
}
