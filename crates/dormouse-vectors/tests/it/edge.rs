//! Qdrant's engine in this process, in a folder.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use dormouse_contracts::{VectorErrorKind, VectorIndex};
use dormouse_testing::conformance::{self, Exactness};
use dormouse_vectors::{Edge, EdgeError};

use crate::{kind, memories, points};

/// Says to this binary that it is the child that is killed, and where it writes.
const FOLDER: &str = "DORMOUSE_EDGE_CHILD";

#[tokio::test]
async fn it_passes_the_conformance_suite_and_keeps_its_points() {
    let folder = tempfile::tempdir().unwrap();
    let index = Edge::open(folder.path()).unwrap();
    conformance::vector_index(&index, Exactness::Exact).await;
    drop(index);
    let index = Edge::open(folder.path()).unwrap();
    conformance::vector_index_reopened(&index).await;
}

#[tokio::test]
async fn a_folder_is_opened_by_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let index = Edge::open(folder.path()).unwrap();
    let refused = Edge::open(folder.path()).unwrap_err();
    assert!(matches!(refused, EdgeError::InUse { .. }), "{refused}");
    drop(index);
    Edge::open(folder.path()).unwrap();
}

#[tokio::test]
async fn a_damaged_collection_is_reported_and_can_be_discarded() {
    let folder = tempfile::tempdir().unwrap();
    let index = Edge::open(folder.path()).unwrap();
    let name = memories();
    index.prepare(&name, 2).await.unwrap();
    index.upsert(&name, &points([1])).await.unwrap();
    drop(index);
    overwrite(&folder.path().join("c_memories"));

    let index = Edge::open(folder.path()).unwrap();
    let counted = index.count(&name).await;
    assert_eq!(kind(counted), Some(VectorErrorKind::Damaged));
    index.discard(&name).await.unwrap();
    index.prepare(&name, 2).await.unwrap();
    assert_eq!(index.count(&name).await.unwrap(), Some(0));
}

#[tokio::test]
async fn a_collection_without_its_log_or_segments_is_reported() {
    for part in ["wal", "segments"] {
        let folder = tempfile::tempdir().unwrap();
        let index = Edge::open(folder.path()).unwrap();
        let name = memories();
        index.prepare(&name, 2).await.unwrap();
        index.upsert(&name, &points([1])).await.unwrap();
        drop(index);
        std::fs::remove_dir_all(folder.path().join("c_memories").join(part)).unwrap();
        let index = Edge::open(folder.path()).unwrap();
        let counted = index.count(&name).await;
        assert_eq!(kind(counted), Some(VectorErrorKind::Damaged), "{part}");
    }
}

/// Fills every file below a folder with something else.
fn overwrite(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            overwrite(&path);
        } else {
            std::fs::write(&path, "no index").unwrap();
        }
    }
}

/// Not a test by itself: what the next one kills.
#[tokio::test]
async fn child_that_is_killed_while_it_writes() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let index = Edge::open(folder).unwrap();
    let name = memories();
    index.prepare(&name, 2).await.unwrap();
    for id in 1..=10_000 {
        index.upsert(&name, &points([id])).await.unwrap();
        println!("acknowledged {id}");
    }
}

#[tokio::test]
async fn a_kill_during_a_write_loses_no_acknowledged_point() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "edge::child_that_is_killed_while_it_writes",
            "--nocapture",
        ])
        .env(FOLDER, folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = 0_u64;
    for line in lines.map_while(Result::ok) {
        if let Some((_, id)) = line.split_once("acknowledged ") {
            acknowledged = id.trim().parse().unwrap();
            if acknowledged == 40 {
                child.kill().unwrap();
            }
        }
    }
    child.wait().unwrap();
    assert!(acknowledged >= 40);
    let index = Edge::open(folder.path()).unwrap();
    let name = memories();
    let found = index.count(&name).await.unwrap().unwrap();
    assert!(found >= acknowledged, "{found} of {acknowledged}");
}
