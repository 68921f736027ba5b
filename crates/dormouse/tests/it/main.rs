//! A resident wired with the defaults, in a folder of its own.
#![cfg(feature = "resident")]
#![expect(clippy::unwrap_used, reason = "what tests share fails like a test")]

use std::{fs, path::Path};

use dormouse::{
    ContinuityError, Resident, ResidentError,
    contracts::{AssistantId, EntityId, Words},
    engine::{Accepted, WakeError},
    sandbox::{Act, Character, CharacterKind},
};

async fn start(folder: &Path) -> Result<Resident, ResidentError> {
    let key = AssistantId::try_new("dormouse").unwrap();
    Resident::builder(folder, key).start().await
}

/// A visit of Alice's in which she says so many things.
async fn visit(folder: &Path, lines: usize) {
    let mut resident = start(folder).await.unwrap();
    let alice = EntityId::try_new("player:alice").unwrap();
    let character = Character {
        id: alice.clone(),
        name: "Alice".to_owned(),
        kind: CharacterKind::Player,
    };
    resident.world().join(character).await.unwrap();
    for _ in 0..lines {
        let words = Words::try_new("nice weather").unwrap();
        resident.act(&alice, Act::Say(words)).await.unwrap();
    }
    resident.shut_down().await.unwrap();
}

#[tokio::test]
async fn a_world_older_than_the_log_is_refused_before_a_message_is_taken_for_an_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (world, old) = (folder.join("world.redb"), folder.join("old.redb"));
    visit(folder, 0).await;
    fs::copy(&world, &old).unwrap();
    visit(folder, 3).await;
    fs::copy(&old, &world).unwrap();
    for _ in 0..2 {
        let refused = start(folder).await;
        assert!(
            matches!(
                refused,
                Err(ResidentError::Continuity(ContinuityError::OldWorld { .. }))
            ),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn a_resident_that_moves_sees_the_new_room_without_another_act_of_anybody() {
    let folder = tempfile::tempdir().unwrap();
    let key = AssistantId::try_new("dormouse").unwrap();
    let mut resident = Resident::builder(folder.path(), key).start().await.unwrap();
    let alice = EntityId::try_new("player:alice").unwrap();
    let character = Character {
        id: alice.clone(),
        name: "Alice".to_owned(),
        kind: CharacterKind::Player,
    };
    resident.world().join(character).await.unwrap();
    let call = Act::SayTo {
        to: "dormouse".to_owned(),
        words: Words::try_new("go up").unwrap(),
    };
    let accepted = resident.act(&alice, call).await.unwrap();
    assert!(
        matches!(accepted[..], [Accepted::Logged { .. }]),
        "{accepted:?}"
    );
    resident.handle().at_rest().await;
    let state = resident.handle().inspect().await.unwrap();
    let done = format!("{:?}", state.history);
    assert!(
        done.contains("moved_to") && done.contains("round window"),
        "{done}"
    );
    resident.shut_down().await.unwrap();
}

#[tokio::test]
async fn a_lost_memory_is_rebuilt_from_the_log_and_one_without_its_log_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    visit(folder, 2).await;
    fs::remove_file(folder.join("memory-dormouse.redb")).unwrap();
    let resident = start(folder).await.unwrap();
    let heard = resident.memory().stats().await.unwrap().records;
    assert!(heard >= 2, "{heard}");
    resident.shut_down().await.unwrap();

    fs::remove_file(folder.join("log.redb")).unwrap();
    let refused = start(folder).await;
    assert!(
        matches!(refused, Err(ResidentError::Wake(WakeError::Memory(_)))),
        "{refused:?}"
    );
}
