//! One resident wired with the defaults.

use std::{fs, path::Path};

use dormouse_contracts::Words;
use dormouse_engine::WakeError;
use dormouse_host::{ContinuityError, HostError, Mismatch};
use dormouse_sandbox::Act;

use crate::tea_house::{Folder, admit_alice, alice, key, open};

/// A visit in which Alice says `lines` things.
async fn visit(folder: &Path, lines: usize) {
    let host = open(folder).await.unwrap();
    let resident = host.wake(&key("dormouse")).await.unwrap();
    admit_alice(&host).await;
    for _ in 0..lines {
        let words = Words::try_new("nice weather").unwrap();
        let acted = host.world().act(&alice(), Act::Say(words)).await.unwrap();
        resident.heard(&acted.deliveries).await.unwrap();
    }
    host.close().await;
}

async fn refused(folder: &Path) -> HostError {
    let host = open(folder).await.unwrap();
    let refused = host.wake(&key("dormouse")).await.unwrap_err();
    host.close().await;
    refused
}

#[tokio::test]
async fn a_world_older_than_the_log_is_refused_before_a_message_is_taken_for_an_old_one() {
    let folder = Folder::new();
    let folder = folder.path();
    let (world, old) = (folder.join("world.redb"), folder.join("old.redb"));
    visit(folder, 0).await;
    fs::copy(&world, &old).unwrap();
    visit(folder, 3).await;
    fs::copy(&old, &world).unwrap();
    for _ in 0..2 {
        let refused = refused(folder).await;
        assert!(
            matches!(
                refused,
                HostError::Continuity(ContinuityError::OldWorld { .. })
            ),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn a_resident_that_moves_sees_the_new_room_without_another_act_of_anybody() {
    let folder = Folder::new();
    let host = open(folder.path()).await.unwrap();
    let resident = host.wake(&key("dormouse")).await.unwrap();
    admit_alice(&host).await;
    let call = Act::SayTo {
        to: "Dormouse".to_owned(),
        words: Words::try_new("go up").unwrap(),
    };
    let acted = host.world().act(&alice(), call).await.unwrap();
    resident.heard(&acted.deliveries).await.unwrap();
    resident.handle().at_rest().await;
    let state = resident.handle().inspect().await.unwrap();
    let done = format!("{:?}", state.history);
    assert!(
        done.contains("moved_to") && done.contains("round window"),
        "{done}"
    );
    host.close().await;
}

#[tokio::test]
async fn a_lost_memory_is_rebuilt_from_the_log_and_one_without_its_log_is_refused() {
    let folder = Folder::new();
    let folder = folder.path();
    visit(folder, 2).await;
    fs::remove_file(folder.join("memory-dormouse.redb")).unwrap();
    {
        let host = open(folder).await.unwrap();
        let resident = host.wake(&key("dormouse")).await.unwrap();
        let heard = resident.memory().stats().await.unwrap().records;
        assert!(heard >= 2, "{heard}");
        host.close().await;
    }
    fs::remove_file(folder.join("log.redb")).unwrap();
    let refused = refused(folder).await;
    assert!(
        matches!(&refused, HostError::Mismatch(mismatch) if is_named(mismatch, folder))
            || matches!(refused, HostError::Wake(WakeError::Memory(_))),
        "{refused:?}"
    );
    assert!(
        !folder.join("log.redb").exists(),
        "a failed start leaves nothing behind"
    );
}

fn is_named(mismatch: &Mismatch, folder: &Path) -> bool {
    mismatch.memory == folder.join("memory-dormouse.redb")
        && mismatch.log == folder.join("log.redb")
}
