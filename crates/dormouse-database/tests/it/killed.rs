//! Creations that are killed, and what they leave.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

use dormouse_database::DatabaseOpenError;

use crate::diary::{DIARY, Place, lay_down, open, read};

const PATH: &str = "DORMOUSE_DATABASE_KILLED";

/// The process that is killed: it stops in the middle of making a file. It does nothing unless a test started it.
#[test]
fn child_that_stops_half_way() {
    let Some(path) = env::var_os(PATH) else {
        return;
    };
    let made = dormouse_database::open(Path::new(&path), &DIARY, |writing| {
        lay_down(writing)?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "half way").unwrap();
        out.flush().unwrap();
        // Until it is killed, or its input ends.
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        Ok(())
    });
    let mut out = std::io::stdout().lock();
    match made {
        Ok(_) => writeln!(out, "made").unwrap(),
        Err(error) => writeln!(out, "{error:?}").unwrap(),
    }
}

fn start(path: &Path) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "killed::child_that_stops_half_way",
            "--exact",
            "--nocapture",
        ])
        .env(PATH, path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    assert!(lines.any(|line| line.ends_with("half way")));
    (child, lines)
}

#[test]
fn a_creation_that_is_killed_leaves_no_file_and_the_next_one_clears_up() {
    let place = Place::new();
    let (mut child, _) = start(&place.path());
    let half = place.files();
    assert_eq!(half.len(), 1);
    assert!(half[0].starts_with(".diary.redb."), "{half:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(place.files(), half);

    let database = open(&place.path()).unwrap();
    assert_eq!(place.files(), ["diary.redb"]);
    assert_eq!(read(&database).unwrap().len(), 1);
}

#[test]
fn a_slower_creation_is_not_disturbed_and_uses_the_file_of_the_faster_one() {
    let place = Place::new();
    let (mut child, mut lines) = start(&place.path());
    let database = open(&place.path()).unwrap();
    assert_eq!(place.files().len(), 2, "{:?}", place.files());
    drop(child.stdin.take());
    let in_use = lines.find(|line| line.contains("InUse"));
    assert!(in_use.is_some(), "the child did not find the file in use");
    child.wait().unwrap();
    assert_eq!(place.files(), ["diary.redb"]);
    assert_eq!(read(&database).unwrap().len(), 1);
}

#[test]
fn an_undisturbed_creation_uses_its_own_file() {
    let place = Place::new();
    let (mut child, mut lines) = start(&place.path());
    drop(child.stdin.take());
    assert!(lines.any(|line| line == "made"));
    child.wait().unwrap();
    assert_eq!(place.files(), ["diary.redb"]);
    assert_eq!(read(&open(&place.path()).unwrap()).unwrap().len(), 1);
}

#[test]
fn only_leftovers_of_earlier_creations_are_removed() {
    let place = Place::new();
    let left = |name: &str| fs::write(place.beside(name), "half").unwrap();
    // The number may be that of a process that runs, such as this one: numbers come round again.
    let ours = format!(".diary.redb.{}.0.new", std::process::id());
    for name in [
        ours.as_str(),
        ".diary.redb.1.0.new",
        ".diary.redb.4194304.63.new",
    ] {
        left(name);
    }
    fs::write(place.beside(".diary.redb.7.0.new"), "").unwrap();
    let kept = [
        ".diary.redb.new",
        ".diary.redb.1.new",
        ".diary.redb.1.0.new.bak",
        ".diary.redb.one.0.new",
        ".diary.redb.1.-1.new",
        ".diary.redb.1.2.3.new",
        ".diary.redb..0.new",
        ".other.redb.1.0.new",
        "diary.redb.1.0.new",
    ];
    for name in kept {
        left(name);
    }
    fs::create_dir(place.beside(".diary.redb.2.0.new")).unwrap();

    drop(open(&place.path()).unwrap());
    let mut expected: Vec<_> = kept.into_iter().collect();
    expected.extend([".diary.redb.2.0.new", "diary.redb"]);
    expected.sort_unstable();
    assert_eq!(place.files(), expected);
}

#[test]
fn a_leftover_in_use_is_kept() {
    let place = Place::new();
    let theirs = place.beside(".diary.redb.1.0.new");
    let in_use = redb::Database::create(&theirs).unwrap();
    drop(open(&place.path()).unwrap());
    assert!(theirs.exists());
    drop(in_use);
    fs::remove_file(place.path()).unwrap();
    drop(open(&place.path()).unwrap());
    assert!(!theirs.exists());
}

#[cfg(unix)]
#[test]
fn the_second_name_of_a_file_goes_and_the_file_stays_even_while_it_is_in_use() {
    let place = Place::written();
    let second = place.beside(".diary.redb.1.0.new");
    fs::hard_link(place.path(), &second).unwrap();
    let first = open(&place.path()).unwrap();
    assert!(!second.exists());
    assert_eq!(read(&first).unwrap().len(), 160);

    fs::hard_link(place.path(), &second).unwrap();
    assert!(matches!(
        open(&place.path()),
        Err(DatabaseOpenError::InUse { .. })
    ));
    assert!(!second.exists());
    assert_eq!(read(&first).unwrap().len(), 160);
}

/// A link with such a name leads to somebody else's file, which is not touched.
#[cfg(unix)]
#[test]
fn a_link_with_such_a_name_stays() {
    let place = Place::new();
    let somebodys = place.beside("letter.txt");
    fs::write(&somebodys, "Dear Alice").unwrap();
    let link = place.beside(".diary.redb.1.0.new");
    std::os::unix::fs::symlink(&somebodys, &link).unwrap();
    drop(open(&place.path()).unwrap());
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&somebodys).unwrap(), "Dear Alice");
}

#[cfg(unix)]
mod full {
    use super::*;

    const FULL: &str = "DORMOUSE_DATABASE_FULL";

    /// The process whose files may not grow. It does nothing unless the test below started it.
    #[test]
    fn child_without_room() {
        let Some(path) = env::var_os(FULL) else {
            return;
        };
        let found = open(Path::new(&path)).unwrap_err();
        assert!(matches!(found, DatabaseOpenError::Io { .. }), "{found:?}");
    }

    #[test]
    fn a_full_disk_is_a_file_system_error_and_no_file_is_left() {
        let place = Place::new();
        // A limit for the size of a file is as good as a disk of this size, if one survives the signal.
        let status = Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$0\" \"$@\""])
            .arg(env::current_exe().unwrap())
            .args(["killed::full::child_without_room", "--exact"])
            .env(FULL, place.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        assert!(place.files().is_empty(), "{:?}", place.files());
    }
}
