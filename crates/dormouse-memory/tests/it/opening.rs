//! Opening and closing.

use dormouse_contracts::Seq;

use std::sync::{Arc, Mutex};

use dormouse_memory::{MemoryOpenError, Progress, RecordId};

use crate::{add, builder, found, open, said};

#[tokio::test]
async fn acknowledged_records_exist_after_opening_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let memory = open(&path).await;
    let tea = add(&memory, said("Alice", 1, "peppermint tea")).await;
    drop(memory);
    assert!(
        !path.with_extension("redb.index").exists(),
        "too little to save"
    );
    assert_eq!(found(&open(&path).await, "peppermint").await, [tea]);
}

#[tokio::test]
async fn damage_to_the_copy_of_the_index_never_loses_anything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let copy = path.with_extension("redb.index");
    let memory = open(&path).await;
    let tea = add(&memory, said("Alice", 1, "peppermint tea")).await;
    memory.checkpoint().await.unwrap();
    let boat = add(&memory, said("Bob", 90_000, "the boat leaks")).await;
    drop(memory);
    for damage in [
        None,
        Some(Vec::new()),
        Some(b"DORMPROJ".to_vec()),
        Some(vec![0xff; 4096]),
    ] {
        match damage {
            None => {}
            Some(bytes) => std::fs::write(&copy, bytes).unwrap(),
        }
        let memory = open(&path).await;
        assert_eq!(found(&memory, "peppermint").await, [tea]);
        assert_eq!(found(&memory, "boat").await, [boat]);
    }
    std::fs::remove_file(&copy).unwrap();
    assert_eq!(found(&open(&path).await, "boat").await, [boat]);
}

#[tokio::test]
async fn the_copy_of_the_index_never_overwrites_a_memory_of_any_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["m.index", "m.new", "m", "m.redb"] {
        let path = folder.path().join(name);
        let memory = open(&path).await;
        let tea = add(&memory, said("Alice", 1, "peppermint tea")).await;
        memory.checkpoint().await.unwrap();
        drop(memory);
        assert_eq!(found(&open(&path).await, "peppermint").await, [tea]);
    }
}

#[tokio::test]
async fn a_copy_of_a_file_that_was_set_back_is_never_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let backup = folder.path().join("backup.redb");
    let memory = open(&path).await;
    add(&memory, said("Alice", 1, "peppermint tea")).await;
    drop(memory);
    std::fs::copy(&path, &backup).unwrap();
    let memory = open(&path).await;
    add(&memory, said("Alice", 2, "a zeppelin")).await;
    memory.checkpoint().await.unwrap();
    drop(memory);
    std::fs::copy(&backup, &path).unwrap();
    for seconds in 3..6 {
        let memory = open(&path).await;
        add(&memory, said("Alice", seconds, "a boat")).await;
    }
    let memory = open(&path).await;
    assert!(found(&memory, "zeppelin").await.is_empty());
    let boats = found(&memory, "boat").await;
    assert!(
        (2..5).all(|id| boats.contains(&RecordId::event(Seq(id)))),
        "{boats:?}"
    );
}

#[tokio::test]
async fn erased_words_are_not_in_the_copy_of_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let copy = path.with_extension("redb.index");
    let unfinished = path.with_extension("redb.index.new");
    let memory = open(&path).await;
    let id = add(&memory, said("Alice", 1, "the xylophone is hidden")).await;
    memory.checkpoint().await.unwrap();
    // As a kill may have left one.
    std::fs::copy(&copy, &unfinished).unwrap();
    let has_it = |bytes: Vec<u8>| bytes.windows(8).any(|part| part == b"xylophon");
    assert!(has_it(std::fs::read(&copy).unwrap()));
    memory.erase(id, "asked to").await.unwrap();
    assert!(!has_it(std::fs::read(&copy).unwrap()));
    assert!(!unfinished.exists());
}

#[tokio::test]
async fn a_copy_of_another_memory_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (
        folder.path().join("one.redb"),
        folder.path().join("other.redb"),
    );
    let memory = open(&one).await;
    add(&memory, said("Alice", 1, "tea")).await;
    memory.checkpoint().await.unwrap();
    drop(memory);
    let clock = dormouse_testing::ManualClock::new(crate::at(77));
    let id = dormouse_contracts::AssistantId::try_new("dormouse").unwrap();
    let memory = dormouse_memory::Memory::builder(id, clock)
        .open(&other)
        .await
        .unwrap();
    add(&memory, said("Alice", 1, "boat")).await;
    drop(memory);
    std::fs::copy(
        one.with_extension("redb.index"),
        other.with_extension("redb.index"),
    )
    .unwrap();
    let memory = open(&other).await;
    assert!(found(&memory, "tea").await.is_empty());
    assert_eq!(found(&memory, "boat").await.len(), 1);
}

#[tokio::test]
async fn a_rebuild_reports_its_progress() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let memory = open(&path).await;
    let notes = (0..2_500)
        .map(|n| said("Alice", n, &format!("tea number {n}")))
        .collect();
    memory.add_all(notes, "heard").await.unwrap();
    drop(memory);
    let reported: Arc<Mutex<Vec<Progress>>> = Arc::default();
    let sink = reported.clone();
    let report = move |progress| sink.lock().unwrap().push(progress);
    let memory = builder()
        .rebuild()
        .on_progress(report)
        .open(&path)
        .await
        .unwrap();
    let reported: Vec<_> = reported
        .lock()
        .unwrap()
        .iter()
        .map(|p| (p.done, p.of))
        .collect();
    assert_eq!(reported, [(1_000, 2_500), (2_000, 2_500), (2_500, 2_500)]);
    assert_eq!(memory.stats().await.unwrap().in_use, 2_500);
}

#[tokio::test]
async fn only_one_process_at_a_time_opens_a_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let memory = open(&path).await;
    let error = builder().open(&path).await.unwrap_err();
    assert!(matches!(error, MemoryOpenError::File(_)), "{error}");
    assert!(error.to_string().contains("in use"), "{error}");
    drop(memory);
    open(&path).await;
}

#[tokio::test]
async fn a_file_that_is_not_a_memory_stays_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    std::fs::write(&path, "shopping list: tea").unwrap();
    let error = builder().open(&path).await.unwrap_err();
    assert!(error.to_string().contains("m.redb"), "{error}");
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "shopping list: tea"
    );
}

#[tokio::test]
async fn a_view_of_a_memory_in_use_recalls_its_records_and_refuses_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let memory = open(&path).await;
    let tea = add(&memory, said("Alice", 1, "peppermint tea")).await;
    let view = builder().open_view(&path).await.unwrap();
    assert!(view.is_in_use_elsewhere());
    add(&memory, said("Bob", 2, "peppermint soap")).await;
    assert_eq!(found(&view, "peppermint").await, [tea]);
    let refused = view.add(said("Eve", 3, "poison"), "whispered").await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("opened for reading"), "{refused}");
    view.withdraw(tea, "no").await.unwrap_err();
    view.erase(tea, "no").await.unwrap_err();
    view.checkpoint().await.unwrap_err();
    drop(memory);
    let view = builder().open_view(&path).await.unwrap();
    assert!(!view.is_in_use_elsewhere());
    assert_eq!(found(&view, "peppermint").await.len(), 2);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
