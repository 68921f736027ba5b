use std::fs;

use redb::TableDefinition;
use tempfile::{TempDir, tempdir};

use super::*;

/// A world with something in it, in a folder of its own.
fn world() -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let path = folder.path().join("world.redb");
    let database = open(&path, Timestamp::EPOCH).unwrap();
    let writing = database.begin_write().unwrap();
    {
        let mut feeds = writing.open_table(FEEDS).unwrap();
        for number in 1..200 {
            let text = format!("entry {number} ").repeat(20);
            feeds.insert(("somebody", number), text.as_str()).unwrap();
        }
    }
    writing.commit().unwrap();
    (folder, path)
}

fn files(folder: &TempDir) -> Vec<String> {
    let listed = fs::read_dir(folder.path()).unwrap();
    listed
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_world_that_is_not_there_is_made_whole_and_nothing_is_left_over() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("world.redb");
    let leftover = format!(".world.redb.{}.0.new", std::process::id());
    fs::write(folder.path().join(&leftover), "half").unwrap();
    drop(open(&path, Timestamp::EPOCH).unwrap());
    let mut left = files(&folder);
    left.sort();
    assert_eq!(left, [leftover.as_str(), "world.redb"]);
}

#[test]
fn a_world_is_not_made_over_one_that_appeared_meanwhile() {
    let (folder, path) = world();
    let before = fs::read(&path).unwrap();
    create(&path, Timestamp::EPOCH).unwrap();
    assert!(fs::read(&path).unwrap() == before);
    assert_eq!(files(&folder), ["world.redb"]);
}

#[test]
fn an_empty_file_is_an_error_and_stays_empty() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("world.redb");
    fs::write(&path, "").unwrap();
    assert!(matches!(
        open(&path, Timestamp::EPOCH),
        Err(OpenError::Empty { .. })
    ));
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

#[test]
fn a_world_in_use_says_so() {
    let (_folder, path) = world();
    let _open = open(&path, Timestamp::EPOCH).unwrap();
    assert!(matches!(
        open(&path, Timestamp::EPOCH),
        Err(OpenError::InUse { .. })
    ));
}

#[test]
fn a_newer_format_and_somebody_elses_file_are_told_apart() {
    let (_folder, path) = world();
    let database = Database::open(&path).unwrap();
    let writing = database.begin_write().unwrap();
    writing
        .open_table(META)
        .unwrap()
        .insert(FORMAT_KEY, FORMAT + 1)
        .unwrap();
    writing.commit().unwrap();
    drop(database);
    let found = open(&path, Timestamp::EPOCH);
    assert!(
        matches!(found, Err(OpenError::NewerFormat { found: 2, .. })),
        "{found:?}"
    );

    let folder = tempdir().unwrap();
    let other = folder.path().join("other.redb");
    let database = Database::create(&other).unwrap();
    let writing = database.begin_write().unwrap();
    writing
        .open_table(TableDefinition::<u64, u64>::new("numbers"))
        .unwrap();
    writing.commit().unwrap();
    drop(database);
    assert!(matches!(
        open(&other, Timestamp::EPOCH),
        Err(OpenError::Foreign { .. })
    ));
}

#[test]
fn a_folder_and_a_missing_folder_are_file_system_errors() {
    let folder = tempdir().unwrap();
    assert!(matches!(
        open(folder.path(), Timestamp::EPOCH),
        Err(OpenError::Io { .. })
    ));
    let nowhere = folder.path().join("nowhere/world.redb");
    assert!(matches!(
        open(&nowhere, Timestamp::EPOCH),
        Err(OpenError::Io { .. })
    ));
}

#[test]
fn what_is_no_database_at_all_is_damaged_and_left_as_it_is() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("world.redb");
    for bytes in [
        b"x".to_vec(),
        b"a letter\n".repeat(2_000),
        vec![0; 64 * 1024],
    ] {
        fs::write(&path, &bytes).unwrap();
        assert!(matches!(
            open(&path, Timestamp::EPOCH),
            Err(OpenError::Damaged { .. })
        ));
        assert!(fs::read(&path).unwrap() == bytes);
    }
}

#[test]
fn a_truncated_file_is_an_error_whatever_its_length() {
    let (folder, path) = world();
    let whole = fs::read(&path).unwrap();
    let cut = folder.path().join("cut.redb");
    for sixteenths in 0..16 {
        let length = (whole.len() / 16 * sixteenths).max(1);
        fs::write(&cut, &whole[..length]).unwrap();
        let found = open(&cut, Timestamp::EPOCH);
        assert!(
            matches!(found, Err(OpenError::Damaged { .. })),
            "{length} of {} bytes: {found:?}",
            whole.len()
        );
    }
}

/// Reads all there is; what a damaged file may not do is answer something else than was written.
fn read(database: &Database) -> Vec<(u64, String)> {
    let reading = database.begin_read().unwrap();
    let feeds = reading.open_table(FEEDS).unwrap();
    let all = feeds.range::<(&str, u64)>(..).unwrap();
    all.map(|entry| {
        entry
            .map(|(key, text)| (key.value().1, text.value().to_owned()))
            .unwrap()
    })
    .collect()
}

#[test]
fn a_flipped_byte_is_an_error_or_changes_nothing() {
    let (folder, path) = world();
    let whole = fs::read(&path).unwrap();
    let written = read(&open(&path, Timestamp::EPOCH).unwrap());
    let damaged = folder.path().join("damaged.redb");
    let mut noticed = 0;
    // Every page is struck at least once, the head of the file more often.
    let places = (0..512)
        .step_by(16)
        .chain((512..whole.len()).step_by(2_039));
    for place in places {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x55;
        fs::write(&damaged, &bytes).unwrap();
        match open(&damaged, Timestamp::EPOCH) {
            Ok(database) => assert!(read(&database) == written, "byte {place}"),
            Err(_) => noticed += 1,
        }
    }
    assert!(noticed > 10, "{noticed}");
}

#[cfg(unix)]
#[test]
fn a_new_world_is_read_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("world.redb");
    drop(open(&path, Timestamp::EPOCH).unwrap());
    assert_eq!(
        fs::metadata(path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}
