//! Many writers at once.

use dormouse_contracts::{AppendErrorKind, ReadEvents, Seq};
use dormouse_store::{MAX_PAYLOAD_BYTES, RedbLog};
use tokio::task::JoinSet;

use crate::{append, assistant, event, read_all};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_writers_share_commits_and_syncs() {
    let folder = tempfile::tempdir().unwrap();
    let log = RedbLog::open(&folder.path().join("log.redb")).unwrap();
    let mut writers = JoinSet::new();
    for writer in 0..16 {
        let log = log.clone();
        writers.spawn(async move {
            let id = assistant(&format!("writer-{writer}"));
            for seq in 0..50 {
                append(&log, &id, seq, vec![event(seq.to_string())])
                    .await
                    .unwrap();
            }
        });
    }
    writers.join_all().await;
    let stats = log.stats();
    assert_eq!(stats.events, 16 * 50);
    assert!(stats.commits < stats.events / 2, "{stats:?}");
    assert!(stats.syncs < stats.events, "{stats:?}");
    assert!(
        stats.syncs >= stats.commits,
        "a commit without a sync is not durable: {stats:?}"
    );
    assert_eq!(log.assistants().unwrap().len(), 16);
    assert!(log.verify().unwrap().is_intact());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_writers_who_expect_the_same_end_one_gets_a_conflict() {
    let folder = tempfile::tempdir().unwrap();
    let log = RedbLog::open(&folder.path().join("log.redb")).unwrap();
    let id = assistant("alice");
    for round in 0..20 {
        let first = append(&log, &id, round, vec![event("from the first")]);
        let second = append(&log, &id, round, vec![event("from the second")]);
        let answers = tokio::join!(first, second);
        let (won, lost) = match answers {
            (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (won, lost),
            other => panic!("one must win and one must lose: {other:?}"),
        };
        assert_eq!(won, Seq(round + 1));
        assert_eq!(
            lost.kind(),
            AppendErrorKind::Conflict {
                expected: Seq(round),
                actual: Seq(round + 1)
            }
        );
    }
    assert_eq!(read_all(&log, &id).await.unwrap().len(), 20);
}

#[tokio::test]
async fn a_conflict_does_not_disturb_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let log = RedbLog::open(&folder.path().join("log.redb")).unwrap();
    let (alice, bob) = (assistant("alice"), assistant("bob"));
    let (a, b, c) = tokio::join!(
        append(&log, &alice, 0, vec![event("a")]),
        append(&log, &bob, 5, vec![event("b")]),
        append(&log, &alice, 1, vec![event("c")]),
    );
    assert_eq!(a.unwrap(), Seq(1));
    assert!(matches!(
        b.unwrap_err().kind(),
        AppendErrorKind::Conflict { .. }
    ));
    assert_eq!(c.unwrap(), Seq(2));
    assert!(read_all(&log, &bob).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_event_too_large_or_without_a_proper_kind_is_unacceptable() {
    let folder = tempfile::tempdir().unwrap();
    let log = RedbLog::open(&folder.path().join("log.redb")).unwrap();
    let id = assistant("alice");
    let mut nameless = event("x");
    nameless.kind = "";
    let large = event(vec![b'x'; MAX_PAYLOAD_BYTES + 1]);
    for bad in [nameless, large] {
        let error = append(&log, &id, 0, vec![event("fine"), bad])
            .await
            .unwrap_err();
        assert_eq!(error.kind(), AppendErrorKind::Unacceptable);
    }
    let largest = event(vec![b'x'; MAX_PAYLOAD_BYTES]);
    assert_eq!(append(&log, &id, 0, vec![largest]).await.unwrap(), Seq(1));
    assert_eq!(
        read_all(&log, &id).await.unwrap()[0].payload.len(),
        MAX_PAYLOAD_BYTES
    );
}

#[tokio::test]
async fn after_closing_every_call_reports_it_and_waiting_appends_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let log = RedbLog::open(&path).unwrap();
    let id = assistant("alice");
    let other = log.clone();
    append(&log, &id, 0, vec![event("kept")]).await.unwrap();
    log.close();
    let error = append(&other, &id, 1, vec![event("late")])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), AppendErrorKind::Closed);
    for at in 0..=1 {
        let error = other.read(&id, Seq(at), 10).await.unwrap_err();
        assert_eq!(error.kind(), dormouse_contracts::ReadErrorKind::Closed);
    }
    assert!(other.verify().is_err());

    let again = RedbLog::open_existing(&path).unwrap();
    assert_eq!(read_all(&again, &id).await.unwrap().len(), 1);
}
