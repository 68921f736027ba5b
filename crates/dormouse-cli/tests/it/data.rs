//! The data folder: shared, damaged, incomplete.

use std::{
    fs::{self, OpenOptions},
    io::{BufRead, BufReader},
};

use crate::program::{Home, finish};

#[test]
fn two_programs_cannot_have_the_same_data() {
    let home = Home::new();
    let mut first = home.spawn(&["play", "--json"]);
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"ready\""));
    for args in [
        &["play"][..],
        &["emergency", "clear"],
        &["doctor"],
        &["log", "salvage", "--into", "saved.redb"],
    ] {
        let run = home.run(args, "hi\n");
        assert_eq!(run.code, Some(3), "{args:?}: {}{}", run.out, run.err);
        assert!(
            format!("{}{}", run.out, run.err).contains("in use by another process"),
            "{args:?}: {}",
            run.err
        );
    }
    drop(lines);
    drop(first.stdin.take());
    assert_eq!(
        first.wait().unwrap().code(),
        Some(0),
        "the first one was not disturbed"
    );
}

#[test]
fn a_truncated_log_is_refused_unchanged_and_its_readable_part_can_be_salvaged() {
    let home = Home::new();
    home.play("remember that the cup is red\n");
    let log = home.file("log.redb");
    let length = fs::metadata(&log).unwrap().len();
    // Which events are in a whole page at the end depends on timing. This much contains none.
    OpenOptions::new()
        .write(true)
        .open(&log)
        .unwrap()
        .set_len(length - 1)
        .unwrap();
    let before = fs::read(&log).unwrap();
    for args in [
        &["play"][..],
        &["log", "verify"],
        &["log", "show"],
        &["doctor"],
    ] {
        let run = home.run(args, "hi\n");
        assert_eq!(run.code, Some(4), "{args:?}: {}", run.err);
        assert!(
            format!("{}{}", run.out, run.err).contains("cut short"),
            "{args:?}: {}",
            run.err
        );
    }
    assert_eq!(fs::read(&log).unwrap(), before, "the file is as it was");

    let saved = home.file("saved.redb");
    let run = home.run(&["log", "salvage", "--into", saved.to_str().unwrap()], "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("saved dormouse: "), "{}", run.out);
    let again = home.run(&["log", "salvage", "--into", saved.to_str().unwrap()], "");
    assert_eq!(again.code, Some(2), "nothing is written over");
    fs::rename(&saved, &log).unwrap();
    assert_eq!(home.run(&["log", "verify"], "").code, Some(0));
}

#[test]
fn a_file_of_another_kind_is_refused_and_unchanged() {
    for (name, text) in [
        ("log.redb", ""),
        ("log.redb", "not a log"),
        ("world.redb", ""),
        ("world.redb", "not a world"),
    ] {
        let home = Home::new();
        home.leave_its_log();
        let path = home.write(name, text);
        let run = home.run(&["play"], "hi\n");
        assert_eq!(run.code, Some(4), "{name} {text:?}: {}", run.err);
        assert_eq!(fs::read(&path).unwrap(), text.as_bytes());
    }
}

#[test]
fn memories_survive_the_loss_of_the_world() {
    let home = Home::new();
    home.play("remember that the kettle is blue\n");
    fs::remove_file(home.file("world.redb")).unwrap();
    let run = home.play("what colour is the kettle?\n");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("the kettle is blue"), "{}", run.out);
    assert_eq!(run.of_type("ready")[0]["new_world"], true);

    fs::remove_file(home.file("world.redb")).unwrap();
    let run = home.run(&["play"], "");
    assert!(run.out.contains("The world is new"), "{}", run.out);
    let run = home.run(&["play"], "");
    assert!(!run.out.contains("The world is new"), "{}", run.out);
}

#[test]
fn a_world_older_than_the_log_is_noticed_before_a_message_is_lost() {
    let home = Home::new();
    home.play("");
    fs::copy(home.file("world.redb"), home.file("old.redb")).unwrap();
    home.play("say one\nsay two\nsay three\n");
    fs::copy(home.file("old.redb"), home.file("world.redb")).unwrap();
    let said = "the world is older than the log: its last delivery to dormouse is number 1, and the log remembers number 4";
    // Run twice, because the first run must not have changed anything. The second player would be seen to arrive.
    for player in ["Visitor", "Alice"] {
        let run = home.run(&["play", "--json", "--as", player], "say four\n");
        assert_eq!((run.code, run.out.as_str()), (Some(4), ""));
        assert!(run.err.contains(said), "{}", run.err);
    }
    let run = home.run(&["doctor"], "");
    assert_eq!(run.code, Some(4));
    assert!(run.out.contains(said), "{}", run.out);
}

#[test]
fn the_world_of_another_log_is_refused() {
    let (home, other) = (Home::new(), Home::new());
    for home in [&home, &other] {
        home.play("Hello!\nsay one\nHello again!\n");
    }
    fs::copy(other.file("world.redb"), home.file("world.redb")).unwrap();
    let said = "the world belongs to another log: dormouse has heard";
    for player in ["Visitor", "Alice"] {
        let run = home.run(&["play", "--json", "--as", player], "say four\n");
        assert_eq!((run.code, run.out.as_str()), (Some(4), ""), "{}", run.err);
        assert!(run.err.contains(said), "{}", run.err);
    }
    let run = home.run(&["doctor"], "");
    assert_eq!(run.code, Some(4));
    assert!(run.out.contains(said), "{}", run.out);

    // Its advice works.
    fs::remove_file(home.file("world.redb")).unwrap();
    assert_eq!(home.play("Hello!\n").code, Some(0));
    assert_eq!(home.play("Hello!\n").code, Some(0));
}

#[test]
fn a_memory_that_cannot_be_used_is_found_before_the_assistant_is_woken() {
    let home = Home::new();
    let doctor = |code, said: &str| {
        let run = home.run(&["doctor", "--provider", "offline"], "");
        assert_eq!(run.code, Some(code), "{}", run.out);
        assert!(run.out.contains(said), "{}", run.out);
    };
    home.play("remember that the kettle is blue\n");
    doctor(0, "ok    the memory can be read: ");

    // A log that is older than its memory.
    for name in ["log.redb", "world.redb"] {
        fs::copy(home.file(name), home.file(&format!("old {name}"))).unwrap();
    }
    home.play("remember that the tin is red\n");
    for name in ["log.redb", "world.redb"] {
        fs::copy(home.file(&format!("old {name}")), home.file(name)).unwrap();
    }
    doctor(4, "the memory is newer than the log");
    let run = home.run(&["play", "--json"], "say hello\n");
    assert_eq!((run.code, run.out.as_str()), (Some(4), ""));

    fs::write(home.file("memory-dormouse.redb"), "no memory").unwrap();
    doctor(4, "fail  the memory cannot be opened");
    fs::remove_file(home.file("memory-dormouse.redb")).unwrap();
    doctor(0, "warn  there is no memory yet");
}

#[test]
fn a_folder_that_cannot_be_created_is_reported() {
    let home = Home::new();
    let file = home.write("file", "");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dormouse"));
    command.args(["play", "--data"]).arg(&file);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let run = finish(command.spawn().unwrap(), b"");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("is not a folder"), "{}", run.err);
}

/// Every name in the folder, sorted.
fn names(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.path()).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

#[test]
fn leftovers_of_a_killed_start_are_removed_by_the_next_start() {
    let home = Home::new();
    let play = ["play", "--json", "--provider", "offline"];
    assert_eq!(home.run(&play, "Hello!\n").code, Some(0));
    let whole = names(&home);
    for file in ["log.redb", "world.redb", "memory-dormouse.redb"] {
        let second = home.file(&format!(".{file}.4242.0.new"));
        fs::hard_link(home.file(file), second).unwrap();
    }
    home.write(".dialects.json.4242.0.new", "half a file");
    home.write("memory-dormouse.redb.index.new", "half a file");
    assert_eq!(home.run(&play, "Hello!\n").code, Some(0));
    assert_eq!(names(&home), whole);

    for milliseconds in (0..60).step_by(6) {
        let home = Home::new();
        let mut child = home.spawn(&play);
        let (_held, timer) = std::sync::mpsc::channel::<()>();
        let _timed_out = timer.recv_timeout(std::time::Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(home.run(&play, "Hello!\n").code, Some(0));
        assert_eq!(names(&home), whole, "killed after {milliseconds} ms");
    }
}

/// A log whose newest events are damaged, and a memory that knows them.
fn damaged_at_its_end() -> Home {
    let home = Home::new();
    home.play("remember that Alice prefers tea\n");
    home.play("remember that Bob prefers cocoa\n");
    let log = home.file("log.redb");
    let mut bytes = fs::read(&log).unwrap();
    let damaged = b"Bob prefers cocoa";
    let mut found = 0;
    for at in 0..bytes.len() {
        if let Some(text) = bytes.get_mut(at..at + damaged.len())
            && text == damaged
        {
            text.fill(b'x');
            found += 1;
        }
    }
    assert!(found > 0);
    fs::write(&log, bytes).unwrap();
    assert_eq!(home.run(&["log", "verify"], "").code, Some(4));
    home
}

#[test]
fn salvage_prints_the_next_steps() {
    let home = damaged_at_its_end();
    home.leave_its_log();
    let saved = home.file("saved.redb");
    let run = home.run(&["log", "salvage", "--into", saved.to_str().unwrap()], "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    for said in [
        "memory rebuild --from-log",
        "newer than the log",
        "--replace",
    ] {
        assert!(run.out.contains(said), "{said}: {}", run.out);
    }
    assert_eq!(home.run(&["log", "verify"], "").code, Some(4));
}

#[test]
fn salvage_does_the_next_steps_on_request_and_keeps_every_file() {
    let home = damaged_at_its_end();
    let damaged = fs::read(home.file("log.redb")).unwrap();
    let saved = home.file("saved.redb");
    let salvage = [
        "log",
        "salvage",
        "--replace",
        "--into",
        saved.to_str().unwrap(),
    ];
    let run = home.run(&salvage, "");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(!saved.exists());
    assert!(fs::read(home.file("log.redb.damaged")).unwrap() == damaged);
    assert_eq!(home.run(&["log", "verify"], "").code, Some(0));
    let doctor = home.run(&["doctor"], "");
    assert!(!doctor.out.contains("newer than the log"), "{}", doctor.out);
    let found = home.run(&["memory", "search", "tea"], "");
    assert!(found.out.contains("Alice prefers tea"), "{}", found.out);
    let former = fs::read(home.file("memory-dormouse.redb.former")).unwrap();
    assert!(!former.is_empty(), "it may know of lost events");
    let run = home.play("Hello!\n");
    assert_eq!(run.code, Some(0), "{}", run.err);
}
