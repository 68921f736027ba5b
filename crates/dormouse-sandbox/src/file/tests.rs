use std::fs;

use dormouse_database::DatabaseFault;
use redb::TableDefinition;
use tempfile::{TempDir, tempdir};

use super::*;

/// A world with something in it, in a folder of its own.
fn world() -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let path = folder.path().join("world.redb");
    let database = open(&path, Timestamp::EPOCH).unwrap();
    change(&database, |writing| {
        let mut feeds = writing.open_table(FEEDS).unwrap();
        for number in 1..200 {
            let text = format!("entry {number} ").repeat(20);
            feeds.insert(("somebody", number), text.as_str()).unwrap();
        }
    });
    (folder, path)
}

fn change(database: &DatabaseHandle, work: impl FnOnce(&WriteTransaction)) {
    let changed = database.write(|writing| {
        work(&writing);
        writing.commit().unwrap();
        Ok::<_, DatabaseFault>(())
    });
    changed.unwrap();
}

/// What a user reads who opens the file at `path`.
fn refusal(path: &Path) -> (SandboxOpenError, String) {
    let error = open(path, Timestamp::EPOCH).unwrap_err();
    let text = error.to_string();
    let rest = text.strip_prefix(&path.display().to_string()).unwrap();
    let rest = rest.to_owned();
    (error, rest)
}

#[test]
fn an_empty_file_is_an_error_and_stays_empty() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("world.redb");
    fs::write(&path, "").unwrap();
    let (error, text) = refusal(&path);
    assert!(matches!(error, SandboxOpenError::Empty { .. }));
    assert_eq!(
        text,
        " is empty: restore it, or move it away to begin a new world"
    );
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

#[test]
fn a_world_in_use_says_so() {
    let (_folder, path) = world();
    let _open = open(&path, Timestamp::EPOCH).unwrap();
    let (error, text) = refusal(&path);
    assert!(matches!(error, SandboxOpenError::InUse { .. }));
    assert_eq!(text, " is in use by another process");
}

#[test]
fn a_newer_format_and_somebody_elses_file_are_told_apart() {
    let (folder, path) = world();
    let database = open(&path, Timestamp::EPOCH).unwrap();
    change(&database, |writing| {
        let mut meta = writing.open_table(META).unwrap();
        meta.insert("format", FORMAT + 1).unwrap();
    });
    drop(database);
    let (error, text) = refusal(&path);
    assert!(
        matches!(error, SandboxOpenError::NewerFormat { found: 3, .. }),
        "{error:?}"
    );
    assert_eq!(
        text,
        " has format 3; this version reads up to 2: use a newer one"
    );

    let other = folder.path().join("other.redb");
    let diary = FileKind {
        what: "a diary",
        name: "diary",
        ..KIND
    };
    let days = TableDefinition::<u64, u64>::new("days");
    let made = dormouse_database::open(&other, &diary, |writing| {
        writing.open_table(days)?;
        Ok(())
    });
    drop(made.unwrap());
    let (error, text) = refusal(&other);
    assert!(matches!(error, SandboxOpenError::Foreign { .. }));
    assert_eq!(text, " is not a sandbox world");
}

#[test]
fn a_folder_and_a_missing_folder_are_file_system_errors() {
    let folder = tempdir().unwrap();
    let nowhere = folder.path().join("nowhere/world.redb");
    for path in [folder.path(), &nowhere] {
        let (error, text) = refusal(path);
        assert!(matches!(error, SandboxOpenError::Io { .. }));
        assert_eq!(text, " cannot be opened");
    }
}

#[test]
fn another_file_and_a_truncated_world_are_errors_and_left_as_they_are() {
    let (folder, path) = world();
    let whole = fs::read(&path).unwrap();
    let wrong = folder.path().join("wrong.redb");
    for (bytes, expected) in [
        (b"a letter\n".repeat(2_000), " is not a sandbox world"),
        (
            whole[..whole.len() / 2].to_vec(),
            " is damaged: restore it from a copy",
        ),
    ] {
        fs::write(&wrong, &bytes).unwrap();
        let (_, text) = refusal(&wrong);
        assert_eq!(text, expected);
        assert!(fs::read(&wrong).unwrap() == bytes);
    }
}
