use std::{fs, io, path::Path, thread};

use dormouse_database::{DatabaseOpenError, FileKind, open_existing};

use crate::diary::{DAYS, DIARY, Place, lay_down, open, read, write};

/// The error of opening the file at `path`, and its message after the path.
fn refusal(path: &Path) -> (DatabaseOpenError, String) {
    let error = open(path).unwrap_err();
    assert_eq!(error.path(), path);
    let text = error.to_string();
    let (_, rest) = text.split_once(&path.display().to_string()).unwrap();
    let rest = rest.to_owned();
    (error, rest)
}

#[test]
fn a_missing_file_is_created_completely_and_opens_again() {
    let place = Place::new();
    let database = open(&place.path()).unwrap();
    assert_eq!(place.files(), ["diary.redb"]);
    write(&database, 1..3).unwrap();
    drop(database);
    let days = read(&open(&place.path()).unwrap()).unwrap();
    assert_eq!(days.len(), 3);
    assert_eq!(days[0], (0, "It began.".to_owned()));
    assert_eq!(place.files(), ["diary.redb"]);
}

#[test]
fn a_path_without_a_folder_is_in_the_current_one() {
    // The current folder is the crate's own: a file that is not there is asked for, so nothing is made.
    let found = open_existing(Path::new("no-such-diary.redb"), &DIARY);
    assert!(
        matches!(found, Err(DatabaseOpenError::Absent { .. })),
        "{found:?}"
    );
}

#[test]
fn a_file_that_must_exist_is_not_created() {
    let place = Place::new();
    let error = open_existing(&place.path(), &DIARY).unwrap_err();
    assert!(matches!(error, DatabaseOpenError::Absent { .. }));
    assert_eq!(
        error.to_string(),
        format!(
            "there is no file {}, where a diary was expected: check the path",
            place.path().display()
        )
    );
    assert!(place.files().is_empty());
}

#[test]
fn an_initialisation_that_fails_leaves_nothing() {
    let place = Place::new();
    let failed = dormouse_database::open(&place.path(), &DIARY, |writing| {
        lay_down(writing)?;
        Err(redb::Error::Io(io::ErrorKind::StorageFull.into()))
    });
    match failed {
        Err(DatabaseOpenError::Io { source, .. }) => {
            assert_eq!(source.kind(), io::ErrorKind::StorageFull)
        }
        other => panic!("{other:?}"),
    }
    assert!(place.files().is_empty());
    open(&place.path()).unwrap();
}

#[test]
fn an_empty_file_is_an_error_and_stays_empty() {
    let place = Place::new();
    fs::write(place.path(), "").unwrap();
    let (error, text) = refusal(&place.path());
    assert!(matches!(error, DatabaseOpenError::Empty { .. }));
    assert_eq!(
        text,
        " is empty, and is no longer a diary: restore it from a copy, or move it away to begin anew"
    );
    assert_eq!(fs::metadata(place.path()).unwrap().len(), 0);
}

#[test]
fn a_file_in_use_is_reported_and_free_after_it_is_closed() {
    let place = Place::new();
    let first = open(&place.path()).unwrap();
    let (error, text) = refusal(&place.path());
    assert!(matches!(error, DatabaseOpenError::InUse { .. }));
    assert_eq!(
        text,
        " is in use by another process: nothing is wrong with it. Stop that process, then try again"
    );
    write(&first, 1..2).unwrap();
    drop(first);
    let again = open(&place.path()).unwrap();
    // A file that was opened, and not only one that was made, is locked.
    assert!(matches!(
        open(&place.path()),
        Err(DatabaseOpenError::InUse { .. })
    ));
    assert_eq!(read(&again).unwrap().len(), 2);
}

#[test]
fn a_file_of_another_kind_is_left_alone_in_both_directions() {
    let letters = FileKind {
        what: "a bundle of letters",
        name: "letters",
        ..DIARY
    };
    let place = Place::written();
    let before = fs::read(place.path()).unwrap();
    let found = dormouse_database::open(&place.path(), &letters, |_| panic!("it is there"));
    assert_eq!(
        found.unwrap_err().to_string(),
        format!(
            "{} is not a bundle of letters, and was left alone: choose another file",
            place.path().display()
        )
    );
    assert_eq!(fs::read(place.path()).unwrap().len(), before.len());
    assert_eq!(read(&open(&place.path()).unwrap()).unwrap().len(), 160);

    let other = place.beside("letters.redb");
    drop(dormouse_database::open(&other, &letters, |_| Ok(())).unwrap());
    assert!(matches!(
        open(&other),
        Err(DatabaseOpenError::Foreign { .. })
    ));
    dormouse_database::open(&other, &letters, |_| Ok(())).unwrap();
}

#[test]
fn a_database_without_a_kind_or_with_a_kind_table_of_other_types_is_foreign() {
    let place = Place::new();
    for (name, of_texts) in [("plain.redb", false), ("otherwise.redb", true)] {
        let path = place.beside(name);
        let database = redb::Database::create(&path).unwrap();
        let writing = database.begin_write().unwrap();
        writing.open_table(DAYS).unwrap();
        if of_texts {
            let table = redb::TableDefinition::<&str, &str>::new(DIARY.name);
            writing.open_table(table).unwrap();
        }
        writing.commit().unwrap();
        drop(database);
        let found = open(&path);
        assert!(
            matches!(found, Err(DatabaseOpenError::Foreign { .. })),
            "{found:?}"
        );
    }
}

#[test]
fn a_newer_format_is_refused_and_opens_with_the_newer_version() {
    let newer = FileKind {
        format: DIARY.format + 1,
        ..DIARY
    };
    let place = Place::new();
    drop(dormouse_database::open(&place.path(), &newer, lay_down).unwrap());
    let before = fs::read(place.path()).unwrap();
    let (error, text) = refusal(&place.path());
    assert!(
        matches!(
            error,
            DatabaseOpenError::NewerFormat {
                found: 3,
                newest: 2,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(
        text,
        " is a diary of format 3, and this version reads up to 2: nothing is wrong with it. Use the newer version"
    );
    assert_eq!(fs::read(place.path()).unwrap(), before);
    open_existing(&place.path(), &newer).unwrap();
}

#[test]
fn an_older_format_is_refused_and_left_as_it_was() {
    let older = FileKind {
        format: DIARY.format - 1,
        ..DIARY
    };
    let place = Place::new();
    drop(dormouse_database::open(&place.path(), &older, lay_down).unwrap());
    let before = fs::read(place.path()).unwrap();
    let (error, text) = refusal(&place.path());
    assert!(
        matches!(
            error,
            DatabaseOpenError::OlderFormat {
                found: 1,
                known: 2,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(
        text,
        " is a diary of format 1, and this version reads only 2: nothing was changed. Move it away to begin a new one, or \
         use the version that wrote it"
    );
    assert_eq!(fs::read(place.path()).unwrap(), before);
    open_existing(&place.path(), &older).unwrap();
}

#[test]
fn a_path_that_is_a_folder_or_leads_nowhere_is_the_file_systems_error() {
    let place = Place::new();
    fs::write(place.beside("file"), "text").unwrap();
    let too_long = "x".repeat(300);
    for path in [
        place.folder.path().to_owned(),
        place.beside("nowhere").join("diary.redb"),
        place.beside("file").join("diary.redb"),
        place.beside(&too_long),
    ] {
        let (error, text) = refusal(&path);
        assert!(matches!(error, DatabaseOpenError::Io { .. }), "{error:?}");
        assert_eq!(
            text,
            " cannot be opened as a diary: check its folder, the permissions and the free space"
        );
    }
    assert_eq!(place.files(), ["file"]);
    for nothing in ["", "/", ".."] {
        let found = open(Path::new(nothing));
        assert!(
            matches!(found, Err(DatabaseOpenError::Io { .. })),
            "{found:?}"
        );
    }
}

#[test]
fn concurrent_openings_of_one_path_get_the_same_file_or_in_use() {
    for _ in 0..8 {
        let place = Place::new();
        let path = place.path();
        let opened = thread::scope(|scope| {
            let all: Vec<_> = (0..6).map(|_| scope.spawn(|| open(&path))).collect();
            let all = all.into_iter().map(|one| one.join().unwrap());
            all.collect::<Vec<_>>()
        });
        let mut ours = 0;
        for one in &opened {
            match one {
                Ok(_) => ours += 1,
                Err(DatabaseOpenError::InUse { .. }) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(ours, 1);
        drop(opened);
        assert_eq!(place.files(), ["diary.redb"]);
        assert_eq!(read(&open(&path).unwrap()).unwrap().len(), 1);
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::{
        fs::{PermissionsExt, symlink},
        net::UnixListener,
    };

    use super::*;

    #[test]
    fn a_new_file_is_read_by_its_owner_alone() {
        let place = Place::new();
        drop(open(&place.path()).unwrap());
        let mode = fs::metadata(place.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_folder_that_takes_no_file_is_the_file_systems_error() {
        let place = Place::new();
        let closed = place.beside("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
        let mut refused = Vec::new();
        // The superuser may write there all the same.
        if fs::write(closed.join("probe"), "").is_err() {
            refused.push(closed.join("diary.redb"));
        }
        if cfg!(target_os = "linux") {
            refused.push("/proc/diary.redb".into());
        }
        for path in refused {
            let (error, _) = refusal(&path);
            assert!(matches!(error, DatabaseOpenError::Io { .. }), "{error:?}");
            assert!(!path.exists());
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_not_replaced() {
        let place = Place::new();
        symlink(place.beside("unplugged/diary.redb"), place.path()).unwrap();
        let found = open(&place.path());
        assert!(
            matches!(found, Err(DatabaseOpenError::Absent { .. })),
            "{found:?}"
        );
        assert!(place.path().is_symlink());
        assert_eq!(place.files(), ["diary.redb"]);
    }

    #[test]
    fn a_link_to_a_file_opens_the_file() {
        let place = Place::written();
        let link = place.beside("link.redb");
        symlink(place.path(), &link).unwrap();
        assert_eq!(read(&open(&link).unwrap()).unwrap().len(), 160);
    }

    #[test]
    fn a_path_that_is_neither_file_nor_folder_is_foreign() {
        let place = Place::new();
        let _listener = UnixListener::bind(place.path()).unwrap();
        let (error, _) = refusal(&place.path());
        assert!(
            matches!(error, DatabaseOpenError::Foreign { .. }),
            "{error:?}"
        );
    }
}
