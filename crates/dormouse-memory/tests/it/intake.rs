//! Taking in an outside log.

use dormouse_contracts::Seq;

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
    let id = RecordId::event(Seq(u64::try_from(seq).unwrap()));
    Intake::Note(id, Box::new(said("Alice", seq, text)))
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
