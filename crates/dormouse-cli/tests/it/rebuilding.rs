//! A memory and a log that do not belong together, and rebuilding the memory.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    path::PathBuf,
};

use dormouse_contracts::{Append, AppendRequest, AssistantId, NewEvent, Seq, Timestamp};
use dormouse_store::RedbLog;

use crate::program::{Home, Run};

const TEXTS: [&str; 3] = [
    "The kettle is in the blue tin.",
    "Bob lost his umbrella.",
    "The trombone belongs to Carol.",
];

fn run(home: &Home, args: &[&str], code: i32) -> Run {
    let run = home.run(args, "");
    assert_eq!(run.code, Some(code), "{args:?}: {} {}", run.out, run.err);
    run
}

fn remembering(texts: &[&str]) -> Home {
    let home = Home::new();
    for text in texts {
        run(&home, &["memory", "add", text], 0);
    }
    home
}

fn remembered(home: &Home) -> usize {
    // The exit code says whether log and memory fit.
    home.run(&["memory", "list"], "").out.lines().count()
}

const REBUILD: [&str; 3] = ["memory", "rebuild", "--from-log"];
const REBUILD_ANYWAY: [&str; 4] = ["memory", "rebuild", "--from-log", "--yes"];

#[test]
fn a_memory_whose_log_is_missing_is_emptied_only_with_consent() {
    let home = remembering(&TEXTS);
    fs::remove_file(home.file("log.redb")).unwrap();
    let refused = run(&home, &REBUILD, 2);
    for part in [
        "holds 3 records",
        "gives 0",
        "3 of the present records would be lost",
        "--yes",
    ] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    assert!(!home.file("log.redb").exists());
    assert!(!home.file("memory-dormouse.redb.again").exists());
    assert_eq!(remembered(&home), 3);

    run(&home, &REBUILD_ANYWAY, 0);
    assert_eq!(remembered(&home), 0);
}

#[test]
fn at_a_terminal_the_program_asks_and_takes_only_a_yes() {
    let home = remembering(&TEXTS);
    fs::remove_file(home.file("log.redb")).unwrap();
    for (answer, left) in [("\n", 3), ("no\n", 3), ("yes\n", 0)] {
        let pair = nix::pty::openpty(None, None).unwrap();
        let mut typed = File::from(pair.master);
        typed.write_all(answer.as_bytes()).unwrap();
        let mut command = home.command(&REBUILD);
        command.stdin(pair.slave.try_clone().unwrap());
        command.stderr(pair.slave);
        let done = command.status().unwrap();
        assert_eq!(
            done.code(),
            Some(if left == 0 { 0 } else { 2 }),
            "{answer:?}"
        );
        assert_eq!(remembered(&home), left, "{answer:?}");
    }
}

#[test]
fn an_older_log_replaces_no_newer_memory_without_consent() {
    let home = remembering(&TEXTS[..1]);
    let older = fs::read(home.file("log.redb")).unwrap();
    for text in &TEXTS[1..] {
        run(&home, &["memory", "add", text], 0);
    }
    fs::write(home.file("log.redb"), older).unwrap();
    let refused = run(&home, &REBUILD, 2);
    for part in [
        "holds 3 records",
        "the log gives 1",
        "2 of the present records",
    ] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    assert_eq!(remembered(&home), 3);
    let replaced = run(&home, &REBUILD_ANYWAY, 0);
    assert!(replaced.err.contains("the log gives 1"), "{}", replaced.err);
    assert_eq!(remembered(&home), 1);
    run(&home, &["memory", "list"], 0);
}

#[test]
fn a_log_of_as_many_other_records_loses_records_too() {
    let (home, other) = (remembering(&TEXTS[..2]), remembering(&TEXTS[1..]));
    fs::copy(other.file("log.redb"), home.file("log.redb")).unwrap();
    let refused = run(&home, &REBUILD, 2);
    assert!(
        refused.err.contains("2 of the present records"),
        "{}",
        refused.err
    );
}

#[test]
fn a_log_that_gives_everything_needs_no_question() {
    let home = remembering(&TEXTS);
    run(&home, &["memory", "withdraw", "2"], 0);
    let before = run(&home, &["memory", "list", "--all", "--json"], 0).out;
    let rebuilt = run(&home, &REBUILD, 0);
    assert!(rebuilt.err.contains("the log gives 2"), "{}", rebuilt.err);
    assert!(!rebuilt.err.contains("lost"), "{}", rebuilt.err);
    assert_eq!(
        run(&home, &["memory", "list", "--all", "--json"], 0).out,
        before
    );
}

#[test]
fn a_damaged_memory_names_the_command_that_makes_it_again() {
    let home = remembering(&TEXTS);
    let path = home.file("memory-dormouse.redb");
    let whole = fs::read(&path).unwrap();
    for damaged in [&whole[..1_000], &[][..], &vec![0x5a; whole.len()]] {
        fs::write(&path, damaged).unwrap();
        let failed = home.run(&["memory", "list"], "");
        assert_eq!(failed.code, Some(4), "{}", failed.err);
        let doctor = home.run(&["doctor"], "");
        let is_memory = damaged.first() != Some(&0x5a);
        if is_memory {
            let command = format!(
                "dormouse memory rebuild --from-log --data {}",
                home.path().display()
            );
            assert!(failed.err.contains(&command), "{}", failed.err);
            assert!(doctor.out.contains(&command), "{}", doctor.out);
            run(&home, &REBUILD, 0);
        } else {
            // A file of another program is not removed without a question.
            assert!(!failed.err.contains("--from-log"), "{}", failed.err);
            run(&home, &REBUILD, 2);
            run(&home, &REBUILD_ANYWAY, 0);
        }
        assert_eq!(remembered(&home), 3);
    }
}

#[test]
fn reading_the_memory_of_another_log_prints_it_and_says_so() {
    let (home, other) = (remembering(&TEXTS), remembering(&["Tea is at five."]));
    for log in [Some(other.file("log.redb")), None] {
        fs::remove_file(home.file("log.redb")).unwrap();
        if let Some(log) = log {
            fs::copy(log, home.file("log.redb")).unwrap();
        }
        for (args, part) in [
            (&["memory", "list"][..], "umbrella"),
            (&["memory", "list", "--json"], "umbrella"),
            (&["memory", "search", "umbrella"], "umbrella"),
            (&["memory", "show", "2"], "umbrella"),
            (&["memory", "why", "2"], "umbrella"),
            (&["memory", "export"], "umbrella"),
            (&["memory", "stats"], "3 records"),
            (&["memory", "hygiene"], "3 records"),
            (&["entity", "list"], ""),
            (&["entity", "block"], ""),
        ] {
            let read = run(&home, args, 4);
            assert!(read.out.contains(part), "{args:?}: {}", read.out);
            let said = "this memory does not belong to the log";
            assert!(read.err.contains(said), "{args:?}: {}", read.err);
        }
    }
}

/// Every file of the folder, with its bytes.
fn files(home: &Home) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(home.path()).unwrap();
    files
        .map(|file| file.unwrap().path())
        .map(|file| (file.clone(), fs::read(&file).unwrap()))
        .collect()
}

/// The log of an assistant as the trial versions wrote it.
fn trial_log(home: &Home) {
    let log = RedbLog::open(&home.file("log.redb")).unwrap();
    let event = NewEvent {
        at: Timestamp::EPOCH,
        kind: "perceived",
        schema: 1,
        payload: b"{}".to_vec(),
    };
    let request = AppendRequest {
        assistant: AssistantId::try_new("alice").unwrap(),
        expected: Seq::ZERO,
        events: vec![event],
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(log.append(request)).unwrap();
}

#[test]
fn a_log_of_the_trial_format_is_refused_by_every_command_and_nothing_is_touched() {
    let home = Home::new();
    home.leave_its_log();
    trial_log(&home);
    let before = files(&home);
    for args in [
        &["play"][..],
        &["memory", "list"],
        &["memory", "stats"],
        &["memory", "add", "Tea is at five."],
        &["memory", "rebuild", "--from-log", "--yes"],
        &["entity", "list"],
        &["entity", "set", "player:bob", "--name", "Bob"],
        &["export", "--person", "Bob"],
        &["emergency", "clear"],
        &["forget", "--text", "kettle", "--yes"],
    ] {
        let refused = home.run(args, "");
        assert_eq!(refused.code, Some(4), "{args:?}: {}", refused.err);
        let said = "trial format";
        assert!(refused.err.contains(said), "{args:?}: {}", refused.err);
        assert!(files(&home) == before, "{args:?}");
    }
}

#[test]
fn a_memory_that_is_older_than_its_log_says_so_and_is_completed_for_a_document_about_a_person() {
    let home = Home::new();
    home.play("The kettle is in the blue tin.\n");
    let memory = home.file("memory-dormouse.redb");
    let older = fs::read(&memory).unwrap();
    home.play("The trombone belongs to Carol.\n");
    fs::write(&memory, &older).unwrap();
    let doctor = home.run(&["doctor"], "");
    assert!(doctor.out.contains("reads the rest"), "{}", doctor.out);
    for args in [
        &["memory", "list"][..],
        &["memory", "search", "trombone"],
        &["memory", "export"],
    ] {
        let read = run(&home, args, 0);
        assert!(
            read.err.contains("reads the rest"),
            "{args:?}: {}",
            read.err
        );
        assert!(!read.out.contains("trombone"), "{args:?}: {}", read.out);
    }
    let document = run(&home, &["export", "--person", "Visitor"], 0).out;
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let conversations = document["assistants"][0]["conversations"].to_string();
    assert!(conversations.contains("trombone"), "{conversations}");
}

#[test]
fn what_is_kept_of_a_person_is_not_mixed_with_the_memory_of_another_log() {
    let (home, other) = (Home::new(), Home::new());
    for (home, said) in [
        (&home, "My dog is called Rex."),
        (&other, "My cat is called Tom."),
    ] {
        home.play(format!("{said}\n"));
    }
    fs::copy(
        other.file("memory-dormouse.redb"),
        home.file("memory-dormouse.redb"),
    )
    .unwrap();
    let refused = run(&home, &["export", "--person", "Visitor"], 4);
    assert!(
        refused.out.is_empty() && refused.err.contains("does not follow"),
        "{}",
        refused.err
    );
}

#[test]
fn what_an_interrupted_rebuild_leaves_is_reported_and_holds_nothing_that_is_erased() {
    let home = remembering(&TEXTS);
    let (memory, left) = (
        home.file("memory-dormouse.redb"),
        home.file("memory-dormouse.redb.again"),
    );
    fs::copy(&memory, &left).unwrap();
    let doctor = home.run(&["doctor"], "");
    assert!(
        doctor.out.contains("rebuild that was interrupted"),
        "{}",
        doctor.out
    );
    run(&home, &["memory", "erase", "2", "--yes"], 0);
    assert!(!left.exists());
    fs::copy(&memory, &left).unwrap();
    home.play("");
    assert!(!left.exists());
}
