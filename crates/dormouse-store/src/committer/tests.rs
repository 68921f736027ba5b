use dormouse_contracts::{
    Append, AppendError, AppendErrorKind, AppendRequest, AssistantId, LoadSnapshot, NewEvent,
    ReadErrorKind, ReadEvents, SaveSnapshot, Seq, Snapshot, Timestamp,
};

use crate::{
    RedbLog,
    flaky::{Flaky, Plan},
    wal::MOST_RECORD_BYTES,
};

fn new_log() -> (Flaky, RedbLog) {
    let disk = Flaky::default();
    // Closed and opened again, so that a test begins with a file like any other.
    drop(disk.log());
    let log = disk.log();
    (disk, log)
}

fn alice() -> AssistantId {
    AssistantId::try_new("alice").unwrap()
}

async fn append(log: &RedbLog, expected: Seq, payload: Vec<u8>) -> Result<Seq, AppendError> {
    let event = NewEvent {
        at: Timestamp::EPOCH,
        kind: "heard",
        schema: 1,
        payload,
    };
    log.append(AppendRequest {
        assistant: alice(),
        expected,
        events: vec![event],
    })
    .await
}

/// What the log has. Reading on from any place finds the same.
async fn payloads(log: &RedbLog) -> Vec<Vec<u8>> {
    let events = log.read(&alice(), Seq::ZERO, 1000).await.unwrap();
    for (read, left) in (0..).zip((0..=events.len()).map(|at| &events[at..])) {
        let found = log.read(&alice(), Seq(read), 1000).await.unwrap();
        assert_eq!(found, left);
    }
    events.into_iter().map(|event| event.payload).collect()
}

#[tokio::test]
async fn a_full_disk_refuses_the_append_keeps_the_log_and_recovers_when_there_is_room() {
    let (disk, log) = new_log();
    append(&log, Seq(0), b"before".to_vec()).await.unwrap();
    disk.plan(Plan {
        capacity: Some(disk.length()),
        ..Plan::default()
    });
    let large = vec![b'x'; 4 * 1024 * 1024];
    for _ in 0..3 {
        let error = append(&log, Seq(1), large.clone()).await.unwrap_err();
        assert_eq!(error.kind(), AppendErrorKind::Storage);
        assert!(std::error::Error::source(&error).is_some());
        assert_eq!(payloads(&log).await, [b"before"]);
    }
    disk.heal();
    assert_eq!(append(&log, Seq(1), large.clone()).await.unwrap(), Seq(2));
    assert_eq!(payloads(&log).await, [b"before".to_vec(), large]);
    assert!(log.verify().unwrap().is_intact());
}

/// What the disk does while an event of this size is appended, and how many events are in the write-ahead file then.
#[derive(Clone, Copy, Debug)]
struct Failing {
    plan: Plan,
    written_ahead: u64,
    bytes: usize,
}

/// What the answer said, the log must show: now, and after a power failure. Only if the log could not be opened again at once
/// may an append be in it that was answered as failed. The next append gets a conflict then.
async fn check_failure(failing: Failing) -> bool {
    let (disk, log) = new_log();
    let mut expected = Vec::new();
    // The first append of all is a durable commit of redb.
    for number in 0..=failing.written_ahead {
        let payload = format!("before {number}").into_bytes();
        append(&log, Seq(number), payload.clone()).await.unwrap();
        expected.push(payload);
    }
    let before = expected.len() as u64;
    let during = vec![b'x'; failing.bytes];
    disk.plan(failing.plan);
    let answer = append(&log, Seq(before), during.clone()).await;
    disk.heal();
    let failed = match answer {
        Ok(end) => {
            assert_eq!(end, Seq(before + 1), "{failing:?}");
            expected.push(during.clone());
            false
        }
        Err(error) => {
            assert_eq!(error.kind(), AppendErrorKind::Storage, "{failing:?}");
            true
        }
    };
    let may_be_there = failed && failing.plan.further_failures > 0;
    let mut found = payloads(&disk.after_power_failure().log()).await;
    if may_be_there && found.len() > expected.len() {
        assert!(found.pop().unwrap() == during, "{failing:?}");
    }
    assert!(found == expected, "{failing:?}");

    let end = Seq(expected.len() as u64);
    match append(&log, end, b"after".to_vec()).await {
        Err(error) if may_be_there => {
            let conflict = AppendErrorKind::Conflict {
                expected: end,
                actual: end.next(),
            };
            assert_eq!(error.kind(), conflict, "{failing:?}");
            expected.push(during);
            append(&log, end.next(), b"after".to_vec()).await.unwrap();
        }
        appended => assert_eq!(appended.unwrap(), end.next(), "{failing:?}"),
    }
    expected.push(b"after".to_vec());
    assert!(payloads(&log).await == expected, "{failing:?}");
    let survivor = disk.after_power_failure().log();
    assert!(payloads(&survivor).await == expected, "{failing:?}, later");
    failed
}

/// Tries failures of different lengths at every call in turn, until one comes too late to matter.
async fn check_failures(most: u32, plan: impl Fn(u32) -> Plan) {
    for (written_ahead, bytes) in [(0, 9), (3, 9), (3, MOST_RECORD_BYTES)] {
        let mut failures = 0;
        for further_failures in [0, 2] {
            for calls in 0..most {
                let plan = Plan {
                    further_failures,
                    ..plan(calls)
                };
                let failing = Failing {
                    plan,
                    written_ahead,
                    bytes,
                };
                failures += u32::from(check_failure(failing).await);
            }
        }
        assert!(failures > 0, "no failure made an append fail");
    }
}

#[tokio::test]
async fn after_any_failed_sync_the_answer_is_true_and_the_log_goes_on() {
    let plan = |syncs| Plan {
        syncs_before_failure: Some(syncs),
        ..Plan::default()
    };
    check_failures(12, plan).await;
}

#[tokio::test]
async fn after_any_failed_write_the_answer_is_true_and_the_log_goes_on() {
    let plan = |writes| Plan {
        writes_before_failure: Some(writes),
        ..Plan::default()
    };
    check_failures(24, plan).await;
}

/// Kills the process at every change in turn while a log that was killed before is opened, and opens it again.
/// Answers how many of the files that were left say that they were closed, and point at an older transaction.
async fn check_kills_while_opening(dirty: &Flaky, expected: &[Vec<u8>]) {
    for changes in 0..500 {
        let disk = dirty.after_kill();
        disk.plan(Plan {
            changes_before_death: Some(changes),
            ..Plan::default()
        });
        let opened = disk.open();
        let died = opened.is_err();
        let killed = disk.after_kill();
        drop(opened);
        for left in [killed, disk.after_power_failure()] {
            let log = left.log();
            let found = payloads(&log).await;
            assert_eq!(found, expected, "killed after {changes} changes");
            assert!(log.verify().unwrap().is_intact());
        }
        if !died {
            assert!(changes > 3, "opening a log that was killed writes");
            return;
        }
    }
    panic!("opening never ends");
}

#[tokio::test]
async fn killed_at_any_moment_of_an_opening_after_a_kill_the_log_still_opens_whole() {
    let (disk, log) = new_log();
    let mut expected = Vec::new();
    for number in 0..5_u64 {
        let payload = format!("event {number}").into_bytes();
        append(&log, Seq(number), payload.clone()).await.unwrap();
        expected.push(payload);
        check_kills_while_opening(&disk.after_kill(), &expected).await;
    }
}

#[tokio::test]
async fn a_failed_read_is_an_error_and_the_log_recovers_by_itself() {
    let (disk, log) = new_log();
    for seq in 0..20 {
        append(&log, Seq(seq), vec![b'x'; 5000]).await.unwrap();
    }
    let fail = || {
        disk.plan(Plan {
            reads_before_failure: Some(0),
            ..Plan::default()
        });
    };
    fail();
    let error = log.read(&alice(), Seq::ZERO, 100).await.unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::Storage);
    disk.heal();
    // The reader has asked the writer thread to open the database again, before it answered.
    append(&log, Seq(20), b"next".to_vec()).await.unwrap();
    assert_eq!(payloads(&log).await.len(), 21);

    fail();
    let answer = append(&log, Seq(21), b"and on".to_vec()).await;
    assert_eq!(answer.unwrap(), Seq(22), "one failure is tried again");
    assert_eq!(payloads(&log).await.len(), 22);
}

#[tokio::test]
async fn an_append_is_written_even_if_its_caller_is_dropped() {
    let (disk, log) = new_log();
    let mut abandoned = Box::pin(append(&log, Seq(0), b"left".to_vec()));
    let polled = std::future::poll_fn(|context| {
        std::task::Poll::Ready(abandoned.as_mut().poll(context).is_ready())
    })
    .await;
    drop(abandoned);
    log.close();
    let log = disk.log();
    assert_eq!(
        payloads(&log).await,
        [b"left"],
        "polled to the end: {polled}"
    );
}

#[tokio::test]
async fn a_failed_commit_is_answered_to_all_who_shared_it_and_none_is_applied() {
    let (disk, log) = new_log();
    disk.plan(Plan {
        capacity: Some(disk.length()),
        ..Plan::default()
    });
    let snapshot = Snapshot {
        seq: Seq(0),
        schema: 1,
        payload: vec![1; 4 * 1024 * 1024],
    };
    let id = alice();
    let (saved, appended) = tokio::join!(
        log.save_snapshot(&id, snapshot),
        append(&log, Seq(0), vec![b'x'; 4 * 1024 * 1024]),
    );
    assert_eq!(saved.unwrap_err().kind(), AppendErrorKind::Storage);
    assert_eq!(appended.unwrap_err().kind(), AppendErrorKind::Storage);
    assert_eq!(log.load_snapshot(&id, Seq(9)).await.unwrap(), None);
    assert!(payloads(&log).await.is_empty());
}

/// The disk fails at one change after the other, first while a snapshot is saved.
#[tokio::test]
async fn a_snapshot_that_fails_at_any_point_loses_no_event() {
    for errno in [5, 28, 30] {
        let mut failures = 0;
        for changes in 0..20 {
            let (disk, log) = new_log();
            append(&log, Seq(0), b"before".to_vec()).await.unwrap();
            let before = snapshot_of(1, b"older");
            log.save_snapshot(&alice(), before.clone()).await.unwrap();
            append(&log, Seq(1), b"between".to_vec()).await.unwrap();
            disk.plan(Plan {
                changes_before_death: Some(changes),
                last_words: Some(errno),
                ..Plan::default()
            });
            // Too large to be committed in memory only.
            let after = snapshot_of(2, &vec![b'x'; 2 * 1024 * 1024]);
            let saved = log.save_snapshot(&alice(), after.clone()).await;
            disk.heal();
            let newest = log.load_snapshot(&alice(), Seq(9)).await.unwrap();
            if saved.is_ok() {
                assert!(newest == Some(after), "{errno}, {changes} changes");
            } else {
                failures += 1;
                // The older one was in memory only. It can be made again.
                let possible = [None, Some(before), Some(after)];
                assert!(possible.contains(&newest), "{changes} changes");
            }
            let end = append(&log, Seq(2), b"later".to_vec()).await.unwrap();
            assert_eq!(end, Seq(3));
            let survivor = disk.after_power_failure().log();
            let kept: [&[u8]; 3] = [b"before", b"between", b"later"];
            assert_eq!(payloads(&survivor).await, kept, "{errno}, {changes}");
        }
        assert!(failures > 0, "no change that failed made a snapshot fail");
    }
}

fn snapshot_of(seq: u64, payload: &[u8]) -> Snapshot {
    Snapshot {
        seq: Seq(seq),
        schema: 1,
        payload: payload.to_vec(),
    }
}

/// An error with everything that led to it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

#[tokio::test]
async fn a_log_on_a_failing_disk_stays_readable_and_every_refusal_has_its_cause() {
    for (errno, said) in [
        (5, "Input/output error"),
        (28, "No space left on device"),
        (30, "Read-only file system"),
    ] {
        let mut refused = 0;
        for changes in 0..20 {
            let (disk, log) = new_log();
            append(&log, Seq(0), b"before".to_vec()).await.unwrap();
            disk.plan(Plan {
                changes_before_death: Some(changes),
                last_words: Some(errno),
                ..Plan::default()
            });
            let Err(first) = append(&log, Seq(1), b"during".to_vec()).await else {
                continue;
            };
            refused += 1;
            assert!(chain(&first).contains(said), "{}", chain(&first));
            let there = payloads(&log).await;
            assert_eq!(there[0], b"before", "{changes} changes");
            let end = Seq(there.len() as u64);
            let again = append(&log, end, b"again".to_vec()).await.unwrap_err();
            assert!(chain(&again).contains(said), "{}", chain(&again));
            disk.heal();
            append(&log, end, b"after".to_vec()).await.unwrap();
            assert_eq!(payloads(&log).await.last().unwrap(), b"after");
        }
        assert!(refused > 0);
    }
}
