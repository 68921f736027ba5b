//! Taking in an outside log.

use dormouse_contracts::Seq;

use dormouse_entities::{EntityChange, EntityType, Name};
use dormouse_memory::{Intake, IntakeStep, LogPosition, MemoryOpenError, RecordId, Taken};

use crate::{at, builder, ephemeral, found, open, said};

/// A position in a log.
fn event(seq: u64) -> LogPosition {
    LogPosition {
        seq,
        hash: u128::from(seq) << 64 | 7,
    }
}

fn of_event(event: Seq, step: IntakeStep) -> Intake {
    Intake {
        event,
        at: at(1),
        author: None,
        reason: "heard".to_owned(),
        step,
    }
}

fn note(seq: i64, text: &str) -> Intake {
    let id = RecordId::event(Seq(u64::try_from(seq).unwrap()));
    let note = Box::new(said("Alice", seq, text));
    of_event(id.seq(), IntakeStep::Note(id, note))
}

fn met(name: &str) -> Intake {
    let change = EntityChange::Created {
        entity: name.parse().unwrap(),
        entity_type: EntityType::Player,
        name: Name::try_new(name).unwrap(),
    };
    of_event(Seq(1), IntakeStep::Entity(Box::new(change)))
}

#[tokio::test]
async fn a_part_is_taken_in_once_and_only_in_order() {
    let memory = ephemeral();
    let part = || vec![met("alice"), note(1, "tea"), note(2, "boat")];
    let taken = memory.take_log(0, event(2), part()).await.unwrap();
    assert_eq!(
        taken,
        Taken::Through {
            through: event(2),
            refused: 0
        }
    );
    let again = memory.take_log(0, event(2), part()).await.unwrap();
    assert_eq!(again, Taken::Moved { through: event(2) });
    let ahead = memory
        .take_log(5, event(6), vec![note(6, "key")])
        .await
        .unwrap();
    assert_eq!(ahead, Taken::Moved { through: event(2) });
    assert_eq!(memory.log_position().await.unwrap(), event(2));
    assert_eq!(memory.stats().await.unwrap().records, 2);
    assert_eq!(memory.entities().profiles().count(), 1);
}

/// A memory that takes in up to 64 events before its file is written.
async fn open_behind(path: &std::path::Path) -> dormouse_memory::Memory {
    builder().behind(64).open(path).await.unwrap()
}

#[tokio::test]
async fn what_is_left_behind_is_taken_in_again_from_its_log_and_only_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let part = || vec![met("alice"), note(1, "tea"), note(2, "boat")];
    open(&path).await.close().await;
    let before = std::fs::read(&path).unwrap();
    for events in [5, 1] {
        let memory = open_behind(&path).await;
        assert_eq!(memory.log_position().await.unwrap().seq, 0);
        memory.take_log(0, event(2), part()).await.unwrap();
        assert_eq!(memory.stats().await.unwrap().records, 2);
        assert_eq!(memory.entities().profiles().count(), 1);
        // So would a kill leave it.
        assert_eq!(std::fs::read(&path).unwrap(), before);
        memory.close_behind(events).await;
    }
    let memory = open(&path).await;
    assert_eq!(memory.log_position().await.unwrap(), event(2));
    assert_eq!(memory.stats().await.unwrap().records, 2);
    assert_eq!(memory.entities().profiles().count(), 1);
}

#[tokio::test]
async fn a_memory_is_never_far_behind_its_log_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let memory = open_behind(&path).await;
    let (mut written, mut last) = (0, std::fs::read(&path).unwrap());
    for seq in 1..=200 {
        let part = vec![note(seq, &format!("word{seq}"))];
        let seq = u64::try_from(seq).unwrap();
        memory.take_log(seq - 1, event(seq), part).await.unwrap();
        let now = std::fs::read(&path).unwrap();
        if now != last {
            let copy = folder.path().join(format!("{seq}.redb"));
            std::fs::copy(&path, &copy).unwrap();
            let there = open(&copy).await.log_position().await.unwrap();
            assert_eq!(there, event(seq));
            (written, last) = (written + 1, now);
        }
    }
    assert_eq!(written, 3);
}

#[tokio::test]
async fn a_refused_change_of_an_entity_is_skipped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let memory = open(&path).await;
    let part = vec![met("alice"), met("alice"), note(1, "tea")];
    let taken = memory.take_log(0, event(1), part).await.unwrap();
    assert_eq!(
        taken,
        Taken::Through {
            through: event(1),
            refused: 1
        }
    );
    drop(memory);
    let memory = open(&path).await;
    assert_eq!(memory.entities().profiles().count(), 1);
    assert_eq!(found(&memory, "tea").await.len(), 1);
}

#[tokio::test]
async fn an_invalid_note_is_skipped_and_counted() {
    let memory = ephemeral();
    let part = vec![met("alice"), note(1, "tea"), note(2, " ")];
    let taken = memory.take_log(0, event(2), part).await.unwrap();
    assert_eq!(
        taken,
        Taken::Through {
            through: event(2),
            refused: 1
        }
    );
    assert_eq!(memory.entities().profiles().count(), 1);
    assert_eq!(found(&memory, "tea").await.len(), 1);
}

#[tokio::test]
async fn only_its_own_assistant_opens_a_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    drop(open(&path).await);
    let bob = dormouse_contracts::AssistantId::try_new("bob").unwrap();
    let bobs = dormouse_memory::Memory::builder(bob, dormouse_testing::ManualClock::new(at(0)));
    let refused = bobs.open(&path).await.unwrap_err();
    assert!(
        matches!(refused, MemoryOpenError::OtherAssistant { .. }),
        "{refused}"
    );
    let text = refused.to_string();
    assert!(text.contains("of dormouse, not of bob"), "{text}");
    open(&path).await;
}
