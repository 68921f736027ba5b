//! Taking in an outside log.

use dormouse_entities::{Change, EntityType, Name};
use dormouse_memory::{Intake, Taken};

use crate::{at, ephemeral, found, open, said};

fn note(seq: i64, text: &str) -> Intake {
    Intake::Note(Box::new(
        said("Alice", seq, text).from_origin(format!("log:{seq}")),
    ))
}

fn met(name: &str) -> Intake {
    let change = Change::Created {
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
    let taken = memory.take_log(0, 2, part()).await.unwrap();
    assert_eq!(
        taken,
        Taken::Through {
            through: 2,
            refused: 0
        }
    );
    let again = memory.take_log(0, 2, part()).await.unwrap();
    assert_eq!(again, Taken::Moved { through: 2 });
    let ahead = memory.take_log(5, 6, vec![note(6, "key")]).await.unwrap();
    assert_eq!(ahead, Taken::Moved { through: 2 });
    assert_eq!(memory.log_through().await.unwrap(), 2);
    assert_eq!(memory.stats().await.unwrap().records, 2);
    assert_eq!(memory.entities().profiles().count(), 1);
}

#[tokio::test]
async fn a_refused_change_of_an_entity_is_skipped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let memory = open(&path).await;
    let part = vec![met("alice"), met("alice"), note(1, "tea")];
    let taken = memory.take_log(0, 1, part).await.unwrap();
    assert_eq!(
        taken,
        Taken::Through {
            through: 1,
            refused: 1
        }
    );
    drop(memory);
    let memory = open(&path).await;
    assert_eq!(memory.entities().profiles().count(), 1);
    assert_eq!(found(&memory, "tea").await.len(), 1);
}

#[tokio::test]
async fn a_part_that_does_not_fit_changes_nothing() {
    let memory = ephemeral();
    let part = vec![met("alice"), note(1, "tea"), note(2, " ")];
    assert!(memory.take_log(0, 2, part).await.is_err());
    assert_eq!(memory.log_through().await.unwrap(), 0);
    assert_eq!(memory.entities().profiles().count(), 0);
    memory.take_log(0, 2, vec![met("alice")]).await.unwrap();
    assert_eq!(memory.entities().profiles().count(), 1);
    assert!(found(&memory, "tea").await.is_empty());
}
