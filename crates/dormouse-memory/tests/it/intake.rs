//! Taking in an outside log.

use dormouse_entities::{EntityChange, EntityType, Name};
use dormouse_memory::{Intake, LogPosition, MemoryOpenError, RecordId, Taken};

use crate::{at, ephemeral, found, open, said};

/// A position in a log that was written a second an event.
fn event(seq: u64) -> LogPosition {
    LogPosition {
        seq,
        at: at(i64::try_from(seq).unwrap()),
    }
}

fn note(seq: i64, text: &str) -> Intake {
    Intake::Note(Box::new(
        said("Alice", seq, text).from_origin(format!("log:{seq}")),
    ))
}

fn met(name: &str) -> Intake {
    let change = EntityChange::Created {
        entity: name.parse().unwrap(),
        entity_type: EntityType::Player,
        name: Name::try_new(name).unwrap(),
    };
    Intake::Entity(Box::new(change), at(1))
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
async fn a_part_with_an_invalid_note_changes_nothing() {
    let memory = ephemeral();
    let part = vec![met("alice"), note(1, "tea"), note(2, " ")];
    assert!(memory.take_log(0, event(2), part).await.is_err());
    assert_eq!(memory.log_position().await.unwrap().seq, 0);
    assert_eq!(memory.entities().profiles().count(), 0);
    memory
        .take_log(0, event(2), vec![met("alice")])
        .await
        .unwrap();
    assert_eq!(memory.entities().profiles().count(), 1);
    assert!(found(&memory, "tea").await.is_empty());
}

#[tokio::test]
async fn a_memory_bound_to_another_log_never_confuses_its_records_with_the_events_of_that_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let memory = open(&path).await;
    let part = vec![note(1, "tea"), note(2, "boat")];
    memory.take_log(0, event(2), part).await.unwrap();
    let boat = RecordId(2);
    let bound = memory.rebind_log(event(1), vec![boat], "the log was set back");
    let change = bound.await.unwrap();
    assert!(memory.revert(change, "by mistake").await.is_err());
    let again = memory.rebind_log(event(1), vec![RecordId(9)], "no such record");
    assert!(again.await.is_err());
    assert_eq!(memory.log_position().await.unwrap(), event(1));

    let other = vec![note(2, "kettle")];
    memory.take_log(1, event(2), other).await.unwrap();
    drop(memory);
    let memory = open(&path).await;
    // What was said a second before and after in the same thread is recalled with it.
    assert_eq!(found(&memory, "boat").await.first(), Some(&boat));
    assert_eq!(found(&memory, "kettle").await.first(), Some(&RecordId(3)));
    let why = memory.why(boat).await.unwrap().unwrap();
    assert_eq!(why.record.provenance.origin.as_deref(), Some("m2/log:2"));
    assert_eq!(why.changes.last().unwrap().seq, change);
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
