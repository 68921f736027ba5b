//! What `doctor` finds before `play` fails on it.

use std::{fs, process::Command};

use crate::{
    full_disk::may_mount,
    program::{Home, Run},
};

fn doctor(home: &Home) -> Run {
    home.run(&["doctor", "--provider", "offline"], "")
}

/// A folder in which somebody lived, without its log.
fn without_log() -> Home {
    let home = Home::new();
    home.play("remember that the kettle is blue\n");
    fs::remove_file(home.file("log.redb")).unwrap();
    home
}

#[test]
fn public_places_and_channels_that_the_world_does_not_have_are_reported() {
    let home = Home::new();
    let config = "[memory]\npublic_channels = [\"public\", \"gossip\"]\npublic_places = [\"common_room\", \"tavern\"]\n";
    home.write("dormouse.toml", config);
    let run = doctor(&home);
    let line = |part: &str| {
        run.out
            .lines()
            .find(|line| line.contains(part))
            .map(str::to_owned)
    };
    for part in [
        "public_channels names \"gossip\"",
        "public_places names \"tavern\"",
    ] {
        let line = line(part).expect(&run.out);
        assert!(line.starts_with("warn"), "{line}");
    }
    let state = line("privacy: kept; public: ").expect(&run.out);
    assert!(
        state.contains("channel public") && state.contains("place The Common Room"),
        "{state}"
    );
    let run = home.run(&["play"], "hello\n");
    assert!(run.out.contains("(privacy: kept; public: "), "{}", run.out);
    assert!(run.err.contains("public_places names"), "{}", run.err);
}

#[test]
fn a_log_that_is_missing_next_to_its_memory_is_reported_and_the_remedy_works() {
    let home = without_log();
    let run = doctor(&home);
    assert_eq!(run.code, Some(4), "{}", run.out);
    let line = run.out.lines().find(|line| line.starts_with("fail"));
    let line = line.expect(&run.out);
    for part in [
        "log.redb is missing",
        "memory-dormouse.redb",
        "backup",
        "dormouse memory rebuild --from-log",
        "--yes",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }

    let run = home.run(&["memory", "rebuild", "--from-log", "--yes"], "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(doctor(&home).code, Some(0));
    let run = home.play("hello\n");
    assert_eq!(run.code, Some(0), "{}", run.err);
}

#[test]
fn a_lost_log_is_reported_even_after_a_new_one_was_created() {
    let home = without_log();
    assert_eq!(home.play("hello\n").code, Some(4));
    let run = doctor(&home);
    assert_eq!(run.code, Some(4), "{}", run.out);
    assert!(
        run.out.contains("dormouse memory rebuild --from-log"),
        "{}",
        run.out
    );
}

#[test]
fn a_log_that_is_missing_next_to_a_world_is_a_warning() {
    let home = without_log();
    fs::remove_file(home.file("memory-dormouse.redb")).unwrap();
    let run = doctor(&home);
    assert_eq!(run.code, Some(0), "{}", run.out);
    let doubt = "warn  there is no log, though there is a world";
    assert!(run.out.contains(doubt), "{}", run.out);
}

#[test]
fn a_disk_without_room_for_a_visit_is_found() {
    if !may_mount() {
        return;
    }
    for free in ["0", "8k", "200k"] {
        let home = Home::new();
        let script = "mount -t tmpfs -o size=4m none \"$1\" && head -c \"$2\" /dev/zero > \"$1/later\"; \
            cat /dev/zero > \"$1/filler\" 2>/dev/null; rm \"$1/later\"; \"$3\" doctor --provider offline --data \"$1\"; \
            code=$?; ls -a \"$1\"; exit $code";
        let run = Command::new("unshare")
            .args(["-m", "sh", "-c", script, "sh"])
            .arg(home.path())
            .args([free, env!("CARGO_BIN_EXE_dormouse")])
            .output()
            .unwrap();
        let out = String::from_utf8(run.stdout).unwrap();
        assert_eq!(run.status.code(), Some(1), "{free}: {out}");
        let found = out.lines().find(|line| line.contains("No space left"));
        assert!(
            found.is_some_and(|line| line.starts_with("fail")),
            "{free}: {out}"
        );
        assert!(!out.contains(".doctor"), "nothing stays: {out}");
    }
}

/// What `doctor` says while the world's file is on a file system of its own, prepared by these commands in `small`.
fn doctor_with_the_world_elsewhere(prepare: &str) -> Run {
    let home = Home::new();
    home.play("Hello!\n");
    let script = "cd \"$1\"; mkdir small; mount -t tmpfs -o size=4m none small && cp --sparse=always world.redb small/ \
        && mount --bind small/world.redb world.redb || exit 99; eval \"$2\"; \
        \"$3\" doctor --provider offline --data \"$1\"";
    let run = Command::new("unshare")
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(home.path())
        .args([prepare, env!("CARGO_BIN_EXE_dormouse")])
        .output()
        .unwrap();
    Run {
        code: run.status.code(),
        out: String::from_utf8(run.stdout).unwrap(),
        err: String::from_utf8(run.stderr).unwrap(),
    }
}

#[test]
fn a_file_on_a_full_disk_is_named_with_free_and_needed_space() {
    if !may_mount() {
        return;
    }
    let run = doctor_with_the_world_elsewhere("cat /dev/zero > small/filler 2>/dev/null");
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    let mut lines = run.out.lines();
    let line = lines.find(|line| line.starts_with("fail") && line.contains("world.redb"));
    let line = line.expect(&run.out);
    for part in ["only 0 bytes are free", "needs 1 MB"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!line.contains("log.redb"), "{line}");
}

#[test]
fn a_file_on_a_read_only_disk_is_named() {
    if !may_mount() {
        return;
    }
    let run = doctor_with_the_world_elsewhere("mount -o remount,bind,ro world.redb");
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    let line = "world.redb cannot be written: Read-only file system";
    assert!(run.out.contains(line), "{}", run.out);
}

#[test]
fn a_refused_visit_leaves_the_folder_as_it_was() {
    let home = without_log();
    let names = |home: &Home| {
        let entries = fs::read_dir(home.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names(&home);
    let run = home.play("hello\n");
    assert_eq!(run.code, Some(4), "{}", run.err);
    assert_eq!(names(&home), before);

    let home = Home::new();
    let run = home.run(&["play", "--as", "You"], "hello\n");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(names(&home).is_empty(), "{:?}", names(&home));
}
