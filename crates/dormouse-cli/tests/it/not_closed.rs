//! A folder whose program was killed: the newest events are in the write-ahead file of its log.

use std::{collections::BTreeMap, fs};

use dormouse_contracts::{Append, AppendRequest, ReadEvents, Seq};
use dormouse_engine::Event;
use dormouse_store::{RedbLog, write_ahead_file};

use crate::{
    forget::hits,
    program::{Home, Run},
};

const LOG: &str = "log.redb";
const AHEAD: &str = "log.redb.wal";

/// A life whose log is as a kill leaves it: all events but the first are in the write-ahead file.
fn killed() -> Home {
    let home = Home::new();
    home.play("remember that Alice prefers tea\nremember that the heron nests by the well\n");
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join(LOG);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let former = RedbLog::open_existing(&home.file(LOG)).unwrap();
    let log = RedbLog::open(&open).unwrap();
    for (assistant, end) in former.assistants().unwrap() {
        for expected in (0..end.0).map(Seq) {
            runtime.block_on(async {
                let found = former.read(&assistant, expected, 1).await.unwrap();
                let stored = found.first().unwrap();
                let event = Event::decode(stored).unwrap();
                let assistant = assistant.clone();
                let events = vec![event.encode(stored.at).unwrap()];
                let request = AppendRequest {
                    assistant,
                    expected,
                    events,
                };
                log.append(request).await.unwrap();
            });
        }
    }
    drop(former);
    fs::copy(&open, home.file(LOG)).unwrap();
    fs::copy(write_ahead_file(&open), home.file(AHEAD)).unwrap();
    home
}

fn ok(run: Run) -> Run {
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    run
}

#[test]
fn it_is_read_without_a_change_and_goes_on_where_it_was() {
    let home = killed();
    let files = || [LOG, AHEAD].map(|name| fs::read(home.file(name)).unwrap());
    let before = files();
    ok(home.run(&["log", "verify"], ""));
    let shown = ok(home.run(&["log", "show"], ""));
    assert!(shown.out.contains("the heron nests"), "{}", shown.out);
    assert!(files() == before);

    let copy = tempfile::tempdir().unwrap();
    let into = copy.path().join("backup");
    ok(home.run(&["backup", into.to_str().unwrap()], ""));
    assert!(!home.file(AHEAD).exists() && !into.join(AHEAD).exists());
    for folder in [home.path(), &into] {
        let folder = folder.to_str().unwrap();
        let found = ok(home.run(&["--data", folder, "log", "show"], ""));
        assert!(found.out.contains("the heron nests"), "{}", found.out);
    }
    home.play("remember that Bob prefers cocoa\n");
    let found = ok(home.run(&["memory", "search", "cocoa"], ""));
    assert!(found.out.contains("Bob prefers cocoa"), "{}", found.out);
}

#[test]
fn what_is_forgotten_is_in_none_of_its_files() {
    let home = killed();
    let words = ["heron"];
    let before = hits(home.path(), &words);
    assert!(before["heron"].contains(&AHEAD.to_owned()), "{before:?}");
    ok(home.run(&["forget", "--text", "heron", "--dry-run"], ""));
    assert_eq!(hits(home.path(), &words), before);
    ok(home.run(&["forget", "--text", "heron", "--yes"], ""));
    assert_eq!(hits(home.path(), &words), BTreeMap::new());
}

#[test]
fn without_its_write_ahead_file_it_is_refused_and_salvaged_as_far_as_it_goes() {
    let home = killed();
    home.leave_its_log();
    let mut ahead = fs::read(home.file(AHEAD)).unwrap();
    fs::remove_file(home.file(AHEAD)).unwrap();
    for command in [&["log", "verify"][..], &["play"]] {
        let run = home.run(command, "");
        assert_eq!(run.code, Some(4), "{}", run.err);
        for part in [AHEAD, "dormouse log salvage", "is missing"] {
            assert!(run.err.contains(part), "{part}: {}", run.err);
        }
    }

    // Both copies of the fourth event are damaged.
    for copy in [4, 5] {
        ahead[copy * 4096 + 60] ^= 1;
    }
    fs::write(home.file(AHEAD), &ahead).unwrap();
    let saved = home.file("saved.redb");
    let saved = saved.to_str().unwrap();
    let run = ok(home.run(&["log", "salvage", "--into", saved], ""));
    assert!(run.out.contains("log.redb.damaged.wal"), "{}", run.out);
    fs::remove_file(saved).unwrap();
    ok(home.run(&["log", "salvage", "--replace", "--into", saved], ""));
    assert!(!home.file(AHEAD).exists());
    assert!(fs::read(home.file("log.redb.damaged.wal")).unwrap() == ahead);
    let verified = ok(home.run(&["log", "verify"], ""));
    assert!(verified.out.contains("3 events"), "{}", verified.out);
}
