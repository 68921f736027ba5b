//! The exit code of every error that a command line can cause, as `docs/exit-codes.md` says.

use std::fs;

use crate::program::Home;

/// A folder with a log, a memory of two records, and an entity.
fn lived() -> Home {
    let home = Home::new();
    for args in [
        &["memory", "add", "The kettle is in the blue tin."][..],
        &["memory", "add", "Bob lost his umbrella."],
        &["entity", "create", "#12", "Alice"],
        &["entity", "create", "#13", "Bob"],
    ] {
        let run = home.run(args, "");
        assert_eq!(run.code, Some(0), "{args:?}: {}", run.err);
    }
    home
}

/// Wrong command lines: they name something that does not exist, already exists or is not allowed, or the configuration
/// is wrong. `FILE` exists, `MISSING` does not.
const WRONG: &[&[&str]] = &[
    &["play", "--as", " "],
    &["play", "--as", "Dormouse"],
    &["play", "--replay", "MISSING"],
    &["play", "--replay", "FILE"],
    &["play", "--provider", "openai"],
    &["play", "--config", "MISSING"],
    &["play", "--data", "FILE"],
    &["record", "FILE", "--provider", "offline"],
    &["record", "MISSING/recording", "--provider", "offline"],
    &["assistant", "show", "nobody"],
    &["assistant", "tag", "nobody", "--add", "tea"],
    &["assistant", "archive", "nobody"],
    &["assistant", "restore", "nobody"],
    &["assistant", "clone", "nobody", "mole"],
    &["assistant", "create", "dormouse"],
    &["assistant", "create", "mole", "--name", "A\nB"],
    &["assistant", "list", "--data", "FILE"],
    &["log", "show", "--assistant", "nobody"],
    &["log", "show", "--data", "FILE"],
    &["log", "replay", "--at", "999"],
    &["log", "replay", "--decide", "--at", "999"],
    &["log", "salvage", "--into", "FILE"],
    &["log", "salvage", "--into", "MISSING/new.redb"],
    &["log", "salvage", "--into", "NEW", "MISSING"],
    &["doctor", "--data", "FILE"],
    &["doctor", "--config", "MISSING"],
    &["provider", "show", "acme:gpt:x", "--config", "MISSING"],
    &["provider", "test", "--config", "MISSING"],
    &["provider", "list", "--config", "MISSING"],
    &["provider", "retry", "--assistant", "nobody"],
    &["emergency", "stop", "--assistant", "nobody"],
    &["emergency", "stop", "--by", " "],
    &["emergency", "show", "--assistant", "nobody"],
    &["emergency", "clear", "--data", "FILE"],
    &["memory", "list", "--data", "FILE"],
    &["memory", "list", "--config", "MISSING"],
    &["memory", "add", " "],
    &["memory", "add", "tea", "--data", "FILE"],
    &["memory", "search", "tea", "--for", "Al\nice\u{0}"],
    &["memory", "search", "tea", "--embedder", "folder:MISSING"],
    &["memory", "show", "99"],
    &["memory", "why", "99"],
    &["memory", "import", "MISSING"],
    &["memory", "import", "FOLDER"],
    &["memory", "export", "FILE"],
    &["memory", "export", "MISSING/all.jsonl"],
    &["memory", "consolidate", "--provider", "openai"],
    &["memory", "rebuild", "--embedder", "folder:MISSING"],
    &["memory", "migrate", "--embedder", "none"],
    &["memory", "migrate", "--back"],
    &["memory", "migrate", "--embedder", "folder:MISSING"],
    &["memory", "undo", "99"],
    &["memory", "withdraw", "99"],
    &["memory", "publish", "99"],
    &["memory", "erase", "99", "--yes"],
    &["memory", "supersede", "99"],
    &["memory", "supersede", "1", "--by", "1"],
    &["memory", "supersede", "1", "--by", "99"],
    &["memory", "supersede", "1", "--since", "1999-01-01"],
    &["entity", "show", "Zoltan"],
    &["entity", "create", "#12", "Alice"],
    &["entity", "observe", "Zoltan", "text"],
    &["entity", "alias", "Zoltan", "Zoe"],
    &["entity", "merge", "#12", "#12"],
    &["entity", "merge", "#12", "Zoltan"],
    &["entity", "unmerge", "#12"],
    &["entity", "set", "#12"],
    &["entity", "delete", "Zoltan"],
    &["entity", "restore", "#12"],
    &["play", "--assistant", "nobody"],
    &["approve", "99"],
    &["deny", "99"],
    &["goal", "show", "99"],
    &["goal", "done", "99"],
    &["goal", "add", " "],
    &["journal", "show", "99"],
    &["journal", "restore", "99"],
    &["journal", "search", " "],
    &["memory", "search", " "],
    &["note", "drop", "99"],
    &["project", "swap", "99"],
];

#[test]
fn what_is_so_already_ends_with_0_and_a_line_that_says_so() {
    let home = lived();
    let log = || home.run(&["log", "show"], "").out;
    let swap = &["project", "swap", "1"][..];
    for (before, again) in [
        (&["sleep"][..], &["sleep"][..]),
        (&["wake"], &["wake"]),
        (&["emergency", "stop"], &["emergency", "stop"]),
        (&["emergency", "clear"], &["emergency", "clear"]),
        (
            &["note", "add", "fact", "tea"],
            &["note", "add", "fact", "tea"],
        ),
        (&["journal", "add", "tea"], &["journal", "restore", "1"]),
        (&["project", "create", "tea"], swap),
    ] {
        assert_eq!(home.run(before, "").code, Some(0), "{before:?}");
        let written = log();
        let run = home.run(again, "");
        let said = format!("{}{}", run.out, run.err);
        assert_eq!(run.code, Some(0), "{again:?}: {said}");
        let says = ["already", "nothing to clear"];
        assert!(says.iter().any(|it| said.contains(it)), "{again:?}: {said}");
        assert_eq!(log(), written, "{again:?}");
    }
}

#[test]
fn what_a_command_names_and_does_not_fit_ends_with_2_and_changes_nothing() {
    let home = lived();
    let file = home.write("FILE", "{}\n");
    let folder = home.file("FOLDER");
    fs::create_dir(&folder).unwrap();
    let place = |word: &str| {
        let word = word.replace("FILE", &file.display().to_string());
        let word = word.replace("FOLDER", &folder.display().to_string());
        let word = word.replace("MISSING", &home.file("missing").display().to_string());
        word.replace("NEW", &home.file("new.redb").display().to_string())
    };
    let contents = || home.run(&["log", "show"], "").out;
    let before = contents();
    let mut wrong = Vec::new();
    for args in WRONG {
        let args: Vec<String> = args.iter().map(|word| place(word)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        // A command line cannot hold a zero byte.
        let args: Vec<&str> = args
            .into_iter()
            .map(|word| word.trim_end_matches('\0'))
            .collect();
        let run = home.run(&args, "");
        if run.code != Some(2) {
            wrong.push(format!("{args:?}: {:?}: {}{}", run.code, run.out, run.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(contents(), before, "nothing was changed");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}\n");
}

/// Commands on an empty folder: the command line is correct, but the data are missing.
#[test]
fn a_folder_without_data_ends_with_1_and_stays_empty() {
    let home = Home::new();
    let mut wrong = Vec::new();
    for args in [
        &["log", "show"][..],
        &["assistant", "list"],
        &["assistant", "show", "mole"],
        &["assistant", "archive", "mole"],
        &["log", "verify"],
        &["log", "replay"],
        &["log", "replay", "--decide"],
        &["log", "salvage", "--into", "/nowhere/new.redb"],
        &["emergency", "show"],
        &["emergency", "stop"],
        &["emergency", "clear"],
        &["provider", "retry"],
        &["memory", "search", "tea"],
        &["memory", "list"],
        &["memory", "show", "1"],
        &["memory", "why", "1"],
        &["memory", "stats"],
        &["memory", "export"],
        &["memory", "hygiene"],
        &["memory", "hygiene", "--apply"],
        &[
            "memory",
            "consolidate",
            "--dry-run",
            "--provider",
            "offline",
        ],
        &["memory", "rebuild"],
        &["memory", "rebuild", "--from-log"],
        &["memory", "rebuild", "--from-log", "--yes"],
        &["memory", "migrate", "--back"],
        &["memory", "undo", "1"],
        &["memory", "withdraw", "1"],
        &["memory", "publish", "1"],
        &["memory", "erase", "1", "--yes"],
        &["memory", "supersede", "1"],
        &["entity", "list"],
        &["entity", "show", "#12"],
        &["entity", "block"],
        &["entity", "delete", "#12"],
        &["entity", "restore", "#12"],
        &["entity", "merge", "#12", "#13"],
    ] {
        let run = home.run(args, "");
        if run.code != Some(1) {
            wrong.push(format!("{args:?}: {:?}: {}{}", run.code, run.out, run.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}
