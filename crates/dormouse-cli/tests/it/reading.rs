//! Read-only commands: in a read-only folder, and while another program has the data open.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

use crate::{
    full_disk::may_mount,
    program::{Home, Run, finish},
};

/// Every read-only command, and a word that it prints about [`lived`].
const LOOKS: [(&[&str], &str); 11] = [
    (&["log", "show"], "perceived"),
    (&["log", "show", "--json"], "\"perceived\""),
    (&["log", "verify"], "events intact"),
    (&["log", "replay"], "SHA-256"),
    (&["log", "replay", "--at", "1", "--json"], "\"hash\""),
    (&["memory", "search", "kettle"], "blue tin"),
    (&["memory", "show", "1"], "blue tin"),
    (&["memory", "why", "1"], "added"),
    (&["memory", "stats"], " in use"),
    (&["memory", "export"], "blue tin"),
    (&["entity", "list"], "Alice"),
];

fn lived() -> Home {
    let home = Home::new();
    let added = home.run(&["memory", "add", "The kettle is in the blue tin."], "");
    assert_eq!(added.code, Some(0), "{}", added.err);
    let run = home.run(
        &["play", "--json", "--as", "Alice", "--provider", "offline"],
        "Hello!\n",
    );
    assert_eq!(run.code, Some(0), "{}", run.err);
    home
}

/// The bytes of every file in the folder.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// Runs the program while nobody, not even root, can write into its folder.
fn run_read_only(home: &Home, args: &[&str]) -> Run {
    let program = env!("CARGO_BIN_EXE_dormouse");
    let mut command = Command::new("unshare");
    let mount =
        "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && exec \"$@\"";
    command.args(["-m", "sh", "-c", mount, "sh"]);
    command.arg(home.path()).arg(program).args(args);
    command.arg("--data").arg(home.path());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    finish(command.spawn().unwrap(), b"")
}

#[test]
fn read_only_commands_work_in_a_read_only_folder() {
    if !may_mount() {
        println!("skipped: a read-only mount (needs root)");
        return;
    }
    let home = lived();
    let before = contents(home.path());
    for (args, said) in LOOKS {
        let run = run_read_only(&home, args);
        assert_eq!(run.code, Some(0), "{args:?}: {}", run.err);
        assert!(run.out.contains(said), "{args:?}: {}", run.out);
        assert!(!run.err.contains("in use"), "{args:?}: {}", run.err);
    }
    assert!(contents(home.path()) == before, "looking changed a file");
    let add = run_read_only(&home, &["memory", "add", "tea"]);
    assert_eq!(add.code, Some(1), "{}", add.err);
    assert!(add.err.contains("Read-only file system"), "{}", add.err);
}

/// A file left by a killed program needs a repair, which read-only commands do not make.
#[test]
fn read_only_commands_do_not_change_what_a_killed_program_left() {
    let home = lived();
    let (mut child, _stdin) = visit(&home);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = contents(home.path());
    for (args, said) in LOOKS {
        let run = home.run(args, "");
        assert_eq!(run.code, Some(0), "{args:?}: {}", run.err);
        assert!(run.out.contains(said), "{args:?}: {}", run.out);
    }
    assert!(contents(home.path()) == before, "looking changed a file");
    assert_eq!(home.play("Hello!\n").code, Some(0));
}

/// A visit that has been answered once, and goes on.
fn visit(home: &Home) -> (Child, ChildStdin) {
    let args = ["play", "--json", "--as", "Alice", "--provider", "offline"];
    let mut child = home.spawn(&args);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"Hello again!\n").unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"tick_ended\"") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "it ended by itself");
    }
    // Its further output is ignored, but its pipe must stay open.
    std::thread::spawn(move || out.lines().for_each(drop));
    (child, stdin)
}

#[test]
fn read_only_commands_work_while_another_program_is_running_and_report_it() {
    let home = lived();
    let (mut child, stdin) = visit(&home);
    for (args, said) in LOOKS {
        let run = home.run(args, "");
        assert_eq!(run.code, Some(0), "{args:?}: {}", run.err);
        assert!(run.out.contains(said), "{args:?}: {}", run.out);
        assert!(
            run.err.contains("in use by another process") && run.err.contains("as it was"),
            "{args:?}: {}",
            run.err
        );
    }
    let json = home.run(&["log", "show", "--json"], "");
    assert_eq!(json.of_type("view").len(), 1, "{}", json.out);
    // Commands that write still wait for the file.
    let add = home.run(&["memory", "add", "tea"], "");
    assert_eq!(add.code, Some(3), "{}", add.err);
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Each read shows one moment, even while the data change fast.
#[test]
fn reads_during_writes_of_another_program_are_never_torn() {
    let home = lived();
    let args = ["play", "--json", "--as", "Alice", "--provider", "offline"];
    let mut child = home.spawn(&args);
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let talking = std::thread::spawn(move || {
        for number in 0..60 {
            if writeln!(stdin, "remember that cup {number} is blue").is_err() {
                return;
            }
        }
    });
    out.read_line(&mut String::new()).unwrap();
    let reading = std::thread::spawn(move || out.lines().for_each(drop));
    let mut seen = 0;
    while child.try_wait().unwrap().is_none() {
        let run = home.run(&["log", "verify", "--json"], "");
        assert_eq!(run.code, Some(0), "{}", run.err);
        let verified = run.of_type("verified").remove(0);
        assert!(verified["damage"].is_null(), "{}", run.out);
        let intact = verified["intact"].as_u64().unwrap();
        assert!(seen <= intact, "{intact} after {seen}");
        seen = intact;
        let run = home.run(&["memory", "search", "cup", "blue"], "");
        assert_eq!(run.code, Some(0), "{}", run.err);
    }
    talking.join().unwrap();
    reading.join().unwrap();
}
