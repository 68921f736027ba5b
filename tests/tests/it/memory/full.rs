//! A memory on a disk that is full, and one that another process has open.

use std::{fs, path::PathBuf, process::Command};

use dormouse_database::DatabaseOpenError as FileError;
use dormouse_memory::{
    Memory, MemoryError, MemoryOpenError, Note, RecallRequest, RecordId, StoreErrorKind,
};
use dormouse_tests::Child;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};

use super::{
    builder, file_in, heard, held::Held, parameters, process, projections, run, say,
    wait_for_the_end,
};

/// The variable in which the process on a full disk finds its folder.
const FULL: &str = "DORMOUSE_MEMORY_FULL";
/// The variable in which the process that has a memory open finds its folder.
const OPEN: &str = "DORMOUSE_MEMORY_OPEN";
/// How long a note must be for few of them to fill the disk, in bytes.
const LONG: usize = 20_000;
/// The size that no file may exceed, in blocks of 512 bytes: 8 MiB.
const BLOCKS: &str = "16384";

fn folder(variable: &str) -> Option<PathBuf> {
    Some(parameters(variable)?["folder"].as_str().unwrap().into())
}

/// A note that takes room, and differs from others.
fn long(number: u64) -> Note {
    Note::new(format!("note{number} {}", "tea ".repeat(LONG / 4)))
}

async fn kind_of_failure(memory: &Memory, number: u64) -> Option<StoreErrorKind> {
    match memory.add(long(number), "heard").await {
        Ok(added) => {
            say(&json!({ "kept": added.id(), "number": number }));
            None
        }
        Err(MemoryError::Store(error)) => {
            say(&json!({ "failed": error.to_string() }));
            Some(error.kind())
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// The process whose files may not grow beyond a size. It does nothing unless the test below started it.
#[test]
fn child_on_a_full_disk() {
    let Some(folder) = folder(FULL) else {
        return;
    };
    run(async {
        let memory = builder().open(file_in(&folder)).await.unwrap();
        let mut number = 1;
        let failure = loop {
            if let Some(failure) = kind_of_failure(&memory, number).await {
                break failure;
            }
            number += 1;
        };
        assert_eq!(failure, StoreErrorKind::Disk);
        // Recall finds every kept note and no other.
        let found = memory.recall(RecallRequest::new("tea").limit(1_000)).await;
        let found = found.unwrap().items.len() as u64;
        assert_eq!(found, number - 1);
        assert!(
            kind_of_failure(&memory, number).await.is_some(),
            "still full"
        );
        make_room();
        for number in number..number + 5 {
            assert_eq!(kind_of_failure(&memory, number).await, None);
        }
    });
    wait_for_the_end();
}

/// Lifts the limit, as if somebody had made room.
fn make_room() {
    let (_, most) = getrlimit(Resource::RLIMIT_FSIZE).unwrap();
    setrlimit(Resource::RLIMIT_FSIZE, most, most).unwrap();
}

async fn next(child: &mut Child) -> Option<Value> {
    loop {
        let line = child.line().await?;
        if let Some(line) = heard(&line) {
            return Some(line);
        }
    }
}

/// The same command where no file may grow beyond [`BLOCKS`]: as good as a disk of this size, if one survives the
/// signal.
fn limited(command: &Command) -> Command {
    let mut limited = Command::new("sh");
    limited
        .args([
            "-c",
            &format!("trap '' XFSZ; ulimit -S -f {BLOCKS}; exec \"$0\" \"$@\""),
        ])
        .arg(command.get_program())
        .args(command.get_args())
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .stderr(std::process::Stdio::null());
    limited
}

#[tokio::test]
async fn a_full_disk_is_reported_loses_no_record_and_the_process_recovers() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let parameters = json!({ "folder": folder.path() });
    let command = process("full::child_on_a_full_disk", FULL, &parameters);
    let mut child = Child::spawn(limited(&command).into());
    let mut kept: Vec<(RecordId, u64)> = Vec::new();
    let mut failures = Vec::new();
    while let Some(line) = next(&mut child).await {
        if let Some(id) = line["kept"].as_str() {
            kept.push((id.parse().unwrap(), line["number"].as_u64().unwrap()));
        } else if let Some(failure) = line["failed"].as_str() {
            failures.push(failure.to_owned());
        } else {
            assert_eq!(line["done"], true);
            break;
        }
    }
    let (_, status) = child.kill_and_read().await;
    assert_eq!(status.code(), None);
    assert_eq!(failures.len(), 2);
    for failure in &failures {
        assert!(
            failure.ends_with("memory.redb: the disk failed or is full"),
            "{failure}"
        );
    }
    assert!(kept.len() > 10, "{kept:?}");

    let memory = builder().open(file_in(folder.path())).await.unwrap();
    let held = Held::by(&memory).await;
    held.is_counted();
    assert_eq!(held.records.len(), kept.len(), "what failed is not there");
    for (id, number) in kept {
        assert_eq!(held.records[&id].text, long(number).text());
    }
    drop(memory);
    let opened = projections::opened(folder.path(), None).await;
    projections::are_as_rebuilt(folder.path(), opened, None).await;
}

/// The process that has a memory open. It does nothing unless the test below started it.
#[test]
fn child_that_has_it_open() {
    let Some(folder) = folder(OPEN) else {
        return;
    };
    run(async {
        let memory = builder().open(file_in(&folder)).await.unwrap();
        memory.add(Note::new("tea"), "heard").await.unwrap();
        say(&json!({ "open": true }));
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
        memory.add(Note::new("more tea"), "heard").await.unwrap();
        memory.checkpoint().await.unwrap();
        let found = memory.recall("tea").await.unwrap().items.len();
        say(&json!({ "found": found }));
    });
}

#[tokio::test]
async fn a_second_process_gets_in_use_and_the_first_is_not_disturbed() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let parameters = json!({ "folder": folder.path() });
    let mut child = Child::spawn(process("full::child_that_has_it_open", OPEN, &parameters).into());
    assert_eq!(next(&mut child).await.unwrap()["open"], true);
    for rebuild in [false, true] {
        let second = if rebuild {
            builder().rebuild()
        } else {
            builder()
        };
        let refused = second.open(file_in(folder.path())).await.unwrap_err();
        let MemoryOpenError::File(FileError::InUse { .. }) = &refused else {
            panic!("{refused:?}");
        };
        assert!(refused.to_string().contains("memory.redb"), "{refused}");
    }
    let files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 1, "nothing was left beside it");
    child.write("go on").await;
    assert_eq!(next(&mut child).await.unwrap()["found"], 2);
    while next(&mut child).await.is_some() {}
    let memory = builder().open(file_in(folder.path())).await.unwrap();
    assert_eq!(memory.stats().await.unwrap().records, 2);
}
