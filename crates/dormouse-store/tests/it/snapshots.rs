//! Snapshots through the ports.

use dormouse_contracts::{AppendErrorKind, LoadSnapshot, SaveSnapshot, Seq, Snapshot};
use dormouse_store::{MAX_SNAPSHOT_BYTES, RedbLog};

use crate::assistant;

fn snapshot(seq: u64) -> Snapshot {
    Snapshot {
        seq: Seq(seq),
        schema: 2,
        payload: format!("state after {seq}").into_bytes(),
    }
}

#[tokio::test]
async fn the_newest_two_snapshots_are_kept_and_the_newest_fitting_one_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let (alice, bob) = (assistant("alice"), assistant("bob"));
    let log = RedbLog::open(&path).unwrap();
    assert_eq!(log.load_snapshot(&alice, Seq(9)).await.unwrap(), None);
    for seq in [3, 10, 20] {
        log.save_snapshot(&alice, snapshot(seq)).await.unwrap();
    }
    log.save_snapshot(&bob, snapshot(4)).await.unwrap();
    drop(log);

    let log = RedbLog::open(&path).unwrap();
    let load = async |who, up_to| log.load_snapshot(who, Seq(up_to)).await.unwrap();
    assert_eq!(load(&alice, u64::MAX).await, Some(snapshot(20)));
    assert_eq!(load(&alice, 19).await, Some(snapshot(10)));
    assert_eq!(load(&alice, 9).await, None, "the third newest is gone");
    assert_eq!(load(&bob, 4).await, Some(snapshot(4)));
}

#[tokio::test]
async fn a_snapshot_beyond_all_bounds_is_unacceptable() {
    let folder = tempfile::tempdir().unwrap();
    let log = RedbLog::open(&folder.path().join("log.redb")).unwrap();
    let huge = Snapshot {
        payload: vec![0; MAX_SNAPSHOT_BYTES + 1],
        ..snapshot(1)
    };
    let error = log
        .save_snapshot(&assistant("alice"), huge)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), AppendErrorKind::Unacceptable);
}
