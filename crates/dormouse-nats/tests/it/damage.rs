//! The stream is not what the writer left: every case is loud, and nothing is written on top of it.

use dormouse_contracts::{
    AppendErrorKind, LoadSnapshot, ReadErrorKind, ReadEvents, SaveSnapshot, Seq, Snapshot,
};
use dormouse_nats::{ChainBreak, NatsFault, NatsLog};

use crate::{
    SHORT, append, assistant, fault, read_all,
    server::{Cluster, Settings, ask},
};

/// A server, and a connection that gives up soon.
async fn impatient() -> Option<(Cluster, NatsLog)> {
    let cluster = Cluster::start(1, Settings::default())?;
    let log = connect(&cluster).await;
    Some((cluster, log))
}

async fn connect(cluster: &Cluster) -> NatsLog {
    let mut config = cluster.config();
    config.patience = SHORT;
    NatsLog::connect(&config).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_message_stops_the_owner_and_the_events_before_it_are_read() {
    let Some((cluster, log)) = impatient().await else {
        return;
    };
    let alice = assistant("alice");
    for seq in 0..3 {
        append(&log, &alice, seq, "mine").await.unwrap();
    }
    let client = cluster.client().await;
    ask(&client, "DORMOUSE.alice", "not a message of this log")
        .await
        .unwrap();
    for _ in 0..2 {
        let error = append(&log, &alice, 3, "mine").await.unwrap_err();
        assert_eq!(error.kind(), AppendErrorKind::Closed);
        let broken = ChainBreak::Damaged {
            at: Seq(4),
            stream_seq: 4,
        };
        assert!(matches!(fault(&error), NatsFault::Broken(found) if *found == broken));
    }
    for log in [log, connect(&cluster).await] {
        assert_eq!(log.read(&alice, Seq::ZERO, 9).await.unwrap().len(), 3);
        let error = log.read(&alice, Seq(3), 9).await.unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::Corrupt { at: Seq(4) });
        let report = log.verify(&alice).await.unwrap();
        assert_eq!(report.last, Seq(3));
        assert!(report.broken.is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_stream_stops_the_writer() {
    let Some((cluster, log)) = impatient().await else {
        return;
    };
    let alice = assistant("alice");
    append(&log, &alice, 0, "one").await.unwrap();
    let client = cluster.client().await;
    // The streams cannot be purged, but their owner can delete them.
    let purged = ask(&client, "$JS.API.STREAM.PURGE.DORMOUSE", "").await;
    assert!(purged.unwrap().get("error").is_some());
    ask(&client, "$JS.API.STREAM.DELETE.DORMOUSE", "")
        .await
        .unwrap();
    let gone = append(&log, &alice, 1, "two").await.unwrap_err();
    assert_eq!(gone.kind(), AppendErrorKind::Storage, "{:?}", fault(&gone));
    // Somebody makes it again.
    connect(&cluster).await;
    let error = append(&log, &alice, 1, "two").await.unwrap_err();
    assert_eq!(error.kind(), AppendErrorKind::Closed);
    let shortened = ChainBreak::Shortened {
        known: Seq(1),
        found: Seq(0),
    };
    assert!(matches!(fault(&error), NatsFault::Broken(found) if *found == shortened));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_was_restored_from_an_older_copy_stops_the_writer() {
    let Some((mut cluster, log)) = impatient().await else {
        return;
    };
    let alice = assistant("alice");
    for seq in 0..2 {
        append(&log, &alice, seq, "old").await.unwrap();
    }
    let copy = tempfile::tempdir().unwrap();
    let older = copy.path().join("older");
    cluster.nodes[0].kill();
    cluster.nodes[0].copy_store(&older);
    cluster.nodes[0].start();
    for seq in 2..5 {
        append(&log, &alice, seq, "new").await.unwrap();
    }
    let snapshot = Snapshot {
        seq: Seq(5),
        schema: 1,
        payload: b"five".to_vec(),
    };
    log.save_snapshot(&alice, snapshot).await.unwrap();
    cluster.nodes[0].kill();
    cluster.nodes[0].restore(&older);
    cluster.nodes[0].start();

    let error = append(&log, &alice, 5, "lost").await.unwrap_err();
    assert_eq!(error.kind(), AppendErrorKind::Closed);
    let shortened = ChainBreak::Shortened {
        known: Seq(5),
        found: Seq(2),
    };
    assert!(
        matches!(fault(&error), NatsFault::Broken(found) if *found == shortened),
        "{:?}",
        fault(&error)
    );
    assert_eq!(
        read_all(&connect(&cluster).await, &alice)
            .await
            .unwrap()
            .len(),
        2
    );

    // Another host writes on top of the old copy: the messages do not follow from those that the writer knows.
    let other = connect(&cluster).await;
    for seq in 2..9 {
        append(&other, &alice, seq, "other").await.unwrap();
    }
    let error = append(&log, &alice, 5, "lost").await.unwrap_err();
    assert_eq!(error.kind(), AppendErrorKind::Closed);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_past_is_found_by_a_writer_that_knows_its_own() {
    let Some((mut cluster, log)) = impatient().await else {
        return;
    };
    let alice = assistant("alice");
    append(&log, &alice, 0, "old").await.unwrap();
    let copy = tempfile::tempdir().unwrap();
    let older = copy.path().join("older");
    cluster.nodes[0].kill();
    cluster.nodes[0].copy_store(&older);
    cluster.nodes[0].start();
    append(&log, &alice, 1, "mine").await.unwrap();
    cluster.nodes[0].kill();
    cluster.nodes[0].restore(&older);
    cluster.nodes[0].start();
    let other = connect(&cluster).await;
    for seq in 1..4 {
        append(&other, &alice, seq, "other").await.unwrap();
    }
    let error = append(&log, &alice, 2, "mine").await.unwrap_err();
    assert_eq!(error.kind(), AppendErrorKind::Closed);
    let broken = ChainBreak::OtherPast {
        at: Seq(3),
        stream_seq: 3,
    };
    assert!(
        matches!(
            fault(&error),
            NatsFault::Broken(ChainBreak::Gap { .. } | ChainBreak::OtherPast { .. })
        ),
        "expected {broken:?}: {:?}",
        fault(&error)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_of_events_that_are_gone_is_an_error_for_a_new_process() {
    let Some((cluster, log)) = impatient().await else {
        return;
    };
    let alice = assistant("alice");
    append(&log, &alice, 0, "one").await.unwrap();
    let snapshot = Snapshot {
        seq: Seq(1),
        schema: 1,
        payload: b"one".to_vec(),
    };
    log.save_snapshot(&alice, snapshot).await.unwrap();
    let client = cluster.client().await;
    ask(&client, "$JS.API.STREAM.DELETE.DORMOUSE", "")
        .await
        .unwrap();
    let new = connect(&cluster).await;
    let error = new.load_snapshot(&alice, Seq(u64::MAX)).await.unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::Missing { at: Seq(1) });
    let error = append(&new, &alice, 0, "again").await.unwrap_err();
    assert_eq!(error.kind(), AppendErrorKind::Closed);
}
