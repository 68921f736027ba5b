use dormouse_contracts::{
    Append, AppendErrorKind, AppendRequest, AssistantId, LoadSnapshot, NewEvent, ReadErrorKind,
    ReadEvents, SaveSnapshot, Seq, Snapshot, Timestamp,
};

use crate::{
    LogOpenError, RedbLog,
    fault::Fault,
    flaky::Flaky,
    frame::{self, Magic},
    rows::{EVENTS, HEADS, META, SNAPSHOTS, encode_head, key},
};

fn name(text: &str) -> AssistantId {
    AssistantId::try_new(text).unwrap()
}

/// Five events of alice, one of bob, two snapshots of alice.
async fn disk() -> Flaky {
    let disk = Flaky::default();
    let log = disk.log();
    for (who, count) in [("alice", 5), ("bob", 1)] {
        let event = NewEvent {
            at: Timestamp::EPOCH,
            kind: "heard",
            schema: 1,
            payload: b"{}".to_vec(),
        };
        let request = AppendRequest {
            assistant: name(who),
            expected: Seq::ZERO,
            events: vec![event; count],
        };
        log.append(request).await.unwrap();
    }
    for seq in [2, 4] {
        let snapshot = Snapshot {
            seq: Seq(seq),
            schema: 1,
            payload: vec![7],
        };
        log.save_snapshot(&name("alice"), snapshot).await.unwrap();
    }
    disk
}

/// Changes an open log directly, like damage that the database does not notice.
fn tamper(log: &RedbLog, work: impl FnOnce(&redb::WriteTransaction)) {
    let tampered = log.database().write(|transaction| {
        work(&transaction);
        Ok::<_, Fault>(transaction.commit()?)
    });
    tampered.unwrap();
}

fn replace(log: &RedbLog, seq: u64, change: impl FnOnce(Vec<u8>) -> Option<Vec<u8>>) {
    tamper(log, |transaction| {
        let mut table = transaction.open_table(EVENTS).unwrap();
        let key = key(&name("alice"), Seq(seq));
        let old = table
            .remove(key.as_slice())
            .unwrap()
            .unwrap()
            .value()
            .to_vec();
        if let Some(new) = change(old) {
            table.insert(key.as_slice(), new.as_slice()).unwrap();
        }
    });
}

async fn read_kind(log: &RedbLog) -> ReadErrorKind {
    let error = log.read(&name("alice"), Seq::ZERO, 100).await.unwrap_err();
    error.kind()
}

async fn assert_found(log: &RedbLog, intact: u64, kind: ReadErrorKind) {
    assert_eq!(read_kind(log).await, kind);
    let report = log.verify().unwrap();
    assert!(!report.is_intact());
    assert_eq!(report.assistants[0].intact, intact);
    assert_eq!(report.assistants[0].damage, Some(kind));
    assert_eq!(report.assistants[1].damage, None, "bob is not concerned");
    let before = usize::try_from(intact).unwrap();
    let page = log.read(&name("alice"), Seq::ZERO, before).await.unwrap();
    assert_eq!(page.len(), before, "what is before it can be read");
}

#[tokio::test]
async fn a_changed_event_is_corrupt_at_its_place_and_the_events_before_it_can_be_read() {
    let log = disk().await.log();
    replace(&log, 3, |mut bytes| {
        *bytes.last_mut().unwrap() ^= 1;
        Some(bytes)
    });
    assert_found(&log, 2, ReadErrorKind::Corrupt { at: Seq(3) }).await;
}

#[tokio::test]
async fn an_event_in_the_place_of_another_is_corrupt() {
    let log = disk().await.log();
    let mut second = Vec::new();
    replace(&log, 2, |bytes| {
        second.clone_from(&bytes);
        Some(bytes)
    });
    replace(&log, 4, |_| Some(second));
    assert_found(&log, 3, ReadErrorKind::Corrupt { at: Seq(4) }).await;
}

#[tokio::test]
async fn a_lost_event_is_missing_also_when_it_was_the_last() {
    let log = disk().await.log();
    replace(&log, 2, |_| None);
    assert_found(&log, 1, ReadErrorKind::Missing { at: Seq(2) }).await;
    let log = disk().await.log();
    replace(&log, 5, |_| None);
    assert_found(&log, 4, ReadErrorKind::Missing { at: Seq(5) }).await;
}

#[tokio::test]
async fn an_event_of_a_later_format_is_newer() {
    let log = disk().await.log();
    replace(&log, 5, |_| {
        Some(frame::seal_as(Magic::Event, 9, b"from the future"))
    });
    let kind = ReadErrorKind::Newer {
        at: Seq(5),
        found: 9,
        known: 1,
    };
    assert_found(&log, 4, kind).await;
}

#[tokio::test]
async fn a_log_with_a_doubtful_end_takes_no_events_and_does_not_reopen() {
    let heads: [&dyn Fn() -> Option<Vec<u8>>; 4] = [
        &|| None,
        &|| Some(b"nonsense".to_vec()),
        &|| Some(encode_head(&name("alice"), Seq(3))),
        &|| Some(encode_head(&name("alice"), Seq(7))),
    ];
    for head in heads {
        let disk = disk().await;
        let log = disk.log();
        tamper(&log, |transaction| {
            let mut table = transaction.open_table(HEADS).unwrap();
            match head() {
                Some(bytes) => drop(table.insert(&b"alice"[..], bytes.as_slice()).unwrap()),
                None => drop(table.remove(&b"alice"[..]).unwrap()),
            }
        });
        for expected in [0, 3, 5, 7] {
            let append = |who| {
                let event = NewEvent {
                    at: Timestamp::EPOCH,
                    kind: "said",
                    schema: 1,
                    payload: Vec::new(),
                };
                log.append(AppendRequest {
                    assistant: name(who),
                    expected: Seq(expected),
                    events: vec![event],
                })
            };
            let error = append("alice").await.unwrap_err();
            assert_eq!(error.kind(), AppendErrorKind::Storage);
            let bob = append("bob").await;
            assert!(
                !matches!(bob, Err(e) if e.kind() == AppendErrorKind::Storage),
                "bob is not concerned"
            );
        }
        assert!(!log.verify().unwrap().is_intact());
        drop(log);
        let error = disk.open().unwrap_err();
        assert!(matches!(error, LogOpenError::Corrupt { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_damaged_snapshot_counts_as_absent() {
    let log = disk().await.log();
    tamper(&log, |transaction| {
        let mut table = transaction.open_table(SNAPSHOTS).unwrap();
        let newest = key(&name("alice"), Seq(4));
        drop(table.insert(newest.as_slice(), &b"damaged"[..]).unwrap());
    });
    let found = log.load_snapshot(&name("alice"), Seq(5)).await.unwrap();
    assert_eq!(found.map(|snapshot| snapshot.seq), Some(Seq(2)));
    let report = log.verify().unwrap();
    assert!(report.is_intact());
    assert_eq!(report.assistants[0].snapshots_intact, 1);
    assert_eq!(report.assistants[0].snapshots_damaged, 1);
}

fn with_meta(disk: &Flaky, format: Option<Vec<u8>>) -> LogOpenError {
    tamper(&disk.log(), |transaction| match format {
        Some(bytes) => {
            let mut table = transaction.open_table(META).unwrap();
            drop(table.insert(&b"format"[..], bytes.as_slice()).unwrap());
        }
        None => drop(transaction.delete_table(META).unwrap()),
    });
    disk.open().unwrap_err()
}

#[tokio::test]
async fn a_later_format_is_newer_and_a_file_without_a_format_is_not_a_log() {
    let body = |format: u16| [&[6][..], b"format", &format.to_le_bytes()].concat();
    let said = with_meta(&disk().await, Some(frame::seal(Magic::Meta, &body(3))));
    assert!(
        matches!(
            said,
            LogOpenError::Newer {
                found: 3,
                known: 2,
                ..
            }
        ),
        "{said:?}"
    );
    let framed = with_meta(&disk().await, Some(frame::seal_as(Magic::Meta, 3, b"?")));
    assert!(
        matches!(framed, LogOpenError::Newer { found: 3, .. }),
        "{framed:?}"
    );
    let none = with_meta(&disk().await, None);
    assert!(matches!(none, LogOpenError::NotALog { .. }), "{none:?}");
    let damaged = with_meta(&disk().await, Some(vec![1, 2, 3]));
    assert!(
        matches!(damaged, LogOpenError::Corrupt { .. }),
        "{damaged:?}"
    );
}
