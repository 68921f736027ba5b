use std::{fs, path::Path};

use dormouse_testing::FixedRandom;
use tokio::{sync::mpsc, task::JoinSet};

use super::*;
use crate::testing::{TestCollector, TestLogs};

/// A running follower, which ends when this is dropped.
struct Following {
    notices: mpsc::UnboundedReceiver<FollowNotice>,
    _task: JoinSet<()>,
}

async fn open(
    logs: &TestLogs,
    collector: &TestCollector,
    file: &Path,
) -> Result<Follower<TestLogs>, FollowError> {
    let settings = FollowSettings {
        collector: Collector::try_new(&collector.address).unwrap(),
        interval: Duration::from_millis(5),
        content: SpanContent::Digest,
        file: file.to_owned(),
    };
    Follower::open(logs.clone(), settings, Arc::new(FixedRandom::new(0.0))).await
}

async fn follow(logs: &TestLogs, collector: &TestCollector, file: &Path) -> Following {
    let follower = open(logs, collector, file).await.unwrap();
    let (sender, notices) = mpsc::unbounded_channel();
    let mut task = JoinSet::new();
    task.spawn(follower.run(move |notice| drop(sender.send(notice))));
    Following {
        notices,
        _task: task,
    }
}

/// Waits until the file says that the first log is sent up to here.
async fn sent_up_to(file: &Path, end: Seq) {
    let key = AssistantId::try_new("ann").unwrap();
    loop {
        if sent::read(file).unwrap().unwrap().get(&key) == Some(&end) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn it_begins_with_what_happens_from_now_on_and_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("telemetry.json");
    let mut collector = TestCollector::start(|_, _| (200, "", Vec::new())).await;
    let logs = TestLogs::of(&["ann"]);
    logs.ticks(2).await;

    let following = follow(&logs, &collector, &file).await;
    logs.ticks(1).await;
    let (_, first) = collector.next().await;
    sent_up_to(&file, Seq(9)).await;
    drop(following);
    // While nobody follows.
    logs.ticks(2).await;
    let _following = follow(&logs, &collector, &file).await;
    let (_, second) = collector.next().await;

    assert_eq!(first.len(), 1, "the ticks of before are not sent");
    assert_eq!(first[0].start_time_unix_nano, 7_000_000_000);
    let began: Vec<_> = second
        .iter()
        .map(|span| span.start_time_unix_nano)
        .collect();
    assert_eq!(began, [10_000_000_000, 13_000_000_000]);
}

#[tokio::test]
async fn an_outage_is_reported_once_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("telemetry.json");
    let mut collector = TestCollector::start(|number, _| match number {
        0..3 => (500, "", b"down".to_vec()),
        _ => (200, "", Vec::new()),
    })
    .await;
    let logs = TestLogs::of(&["ann"]);
    let mut following = follow(&logs, &collector, &file).await;
    logs.ticks(1).await;

    let mut requests = Vec::new();
    for _ in 0..4 {
        requests.push(collector.next().await);
    }

    assert!(requests.iter().all(|(_, spans)| *spans == requests[0].1));
    let notice = following.notices.recv().await.unwrap();
    let FollowNotice::Failing(error) = notice else {
        panic!("{notice}")
    };
    assert_eq!(
        error.to_string(),
        "the collector is busy or failing (HTTP status 500): down"
    );
    assert!(matches!(
        following.notices.recv().await,
        Some(FollowNotice::Working)
    ));
    sent_up_to(&file, Seq(3)).await;
}

#[tokio::test]
async fn what_was_sent_but_not_written_down_is_sent_again_under_the_same_ids() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("telemetry.json");
    let mut collector = TestCollector::start(|_, _| (200, "", Vec::new())).await;
    let logs = TestLogs::of(&["ann"]);
    let following = follow(&logs, &collector, &file).await;
    // What a kill right after the request leaves.
    let before = fs::read(&file).unwrap();
    logs.ticks(1).await;
    let (_, first) = collector.next().await;
    sent_up_to(&file, Seq(3)).await;
    drop(following);
    fs::write(&file, before).unwrap();

    let _following = follow(&logs, &collector, &file).await;

    assert_eq!(collector.next().await.1, first);
}

#[tokio::test]
async fn a_file_that_is_not_its_own_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("telemetry.json");
    let collector = TestCollector::start(|_, _| (200, "", Vec::new())).await;
    let logs = TestLogs::of(&["ann"]);
    for (content, expected) in [
        ("{", "remove it"),
        ("{\"format\": 1, \"sent\": {\"ann\": -1}}", "remove it"),
        ("{\"format\": 2, \"sent\": []}", "newer program"),
    ] {
        fs::write(&file, content).unwrap();
        let error = open(&logs, &collector, &file).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            content,
            "it is left as it is"
        );
    }
}
