use dormouse_contracts::Timestamp;
use proptest::prelude::*;

use super::*;

fn dormouse() -> AssistantId {
    AssistantId::try_new("dormouse").unwrap()
}

fn request(expected: u64, count: usize) -> AppendRequest {
    let event = NewEvent {
        at: Timestamp::EPOCH,
        kind: "noted",
        schema: 1,
        payload: b"{}".to_vec(),
    };
    AppendRequest {
        assistant: dormouse(),
        expected: Seq(expected),
        events: vec![event; count],
    }
}

async fn append(log: &MemoryLog, expected: u64) -> Result<Seq, AppendErrorKind> {
    let answer = log.append(request(expected, 1)).await;
    answer.map_err(|error| error.kind())
}

fn snapshot(seq: u64) -> Snapshot {
    Snapshot {
        seq: Seq(seq),
        schema: 1,
        payload: Vec::new(),
    }
}

#[tokio::test]
async fn an_append_that_fails_on_request_writes_nothing() {
    let log = MemoryLog::new();
    log.fail_next_appends(2, AppendErrorKind::Storage);
    assert_eq!(append(&log, 0).await, Err(AppendErrorKind::Storage));
    assert_eq!(append(&log, 0).await, Err(AppendErrorKind::Storage));
    assert_eq!(log.events(&dormouse()), []);
    assert_eq!(append(&log, 0).await, Ok(Seq(1)));
    assert_eq!(log.appends(), 3);
}

#[tokio::test]
async fn reads_and_snapshots_fail_on_request_too() {
    let log = MemoryLog::new();
    let damaged = ReadErrorKind::Corrupt { at: Seq(1) };
    log.fail_next_reads(2, damaged);
    let read = log.read(&dormouse(), Seq::ZERO, 1).await;
    assert_eq!(read.unwrap_err().kind(), damaged);
    let loaded = log.load_snapshot(&dormouse(), Seq::ZERO).await;
    assert_eq!(loaded.unwrap_err().kind(), damaged);

    log.fail_next_snapshots(1, AppendErrorKind::Storage);
    let saved = log.save_snapshot(&dormouse(), snapshot(1)).await;
    assert_eq!(saved.unwrap_err().kind(), AppendErrorKind::Storage);
    log.save_snapshot(&dormouse(), snapshot(2)).await.unwrap();
    assert_eq!(log.snapshots(&dormouse()), [snapshot(2)]);
    log.lose_snapshots();
    assert_eq!(log.snapshots(&dormouse()), []);
}

#[tokio::test]
async fn a_closed_log_fails_everything_until_it_is_opened() {
    let log = MemoryLog::new();
    log.close_after(1);
    assert_eq!(append(&log, 0).await, Ok(Seq(1)));
    assert_eq!(append(&log, 1).await, Err(AppendErrorKind::Closed));
    let read = log.read(&dormouse(), Seq::ZERO, 1).await;
    assert_eq!(read.unwrap_err().kind(), ReadErrorKind::Closed);
    let saved = log.save_snapshot(&dormouse(), snapshot(1)).await;
    assert_eq!(saved.unwrap_err().kind(), AppendErrorKind::Closed);

    log.clone().reopen();
    assert_eq!(append(&log, 1).await, Ok(Seq(2)));
}

#[tokio::test]
async fn an_append_that_a_log_on_disk_would_refuse_is_unacceptable() {
    let log = MemoryLog::new();
    let sized = |bytes| {
        let mut request = request(0, 2);
        request.events[1].payload = vec![b' '; bytes];
        request
    };
    let answer = log.append(sized(MemoryLog::PAYLOAD_LIMIT + 1)).await;
    assert_eq!(answer.unwrap_err().kind(), AppendErrorKind::Unacceptable);
    assert_eq!(log.events(&dormouse()), [], "nothing of it is written");
    let answer = log.append(sized(MemoryLog::PAYLOAD_LIMIT)).await;
    assert_eq!(answer.unwrap(), Seq(2));

    let sized = |bytes| Snapshot {
        payload: vec![0; bytes],
        ..snapshot(2)
    };
    let large = sized(MemoryLog::SNAPSHOT_LIMIT + 1);
    let answer = log.save_snapshot(&dormouse(), large).await;
    assert_eq!(answer.unwrap_err().kind(), AppendErrorKind::Unacceptable);
    let largest = sized(MemoryLog::SNAPSHOT_LIMIT);
    log.save_snapshot(&dormouse(), largest).await.unwrap();
}

#[test]
fn an_append_takes_place_when_it_is_called() {
    let log = MemoryLog::new();
    drop(log.append(request(0, 2)));
    assert_eq!(log.events(&dormouse()).len(), 2);
}

proptest! {
    #[test]
    fn positions_never_have_a_gap_and_a_stale_writer_never_writes(
        writes in prop::collection::vec((0_u64..12, 0_usize..4), 0..24),
    ) {
        let log = MemoryLog::new();
        let mut length = 0_u64;
        for (expected, count) in writes {
            let answer = log.state().append(request(expected, count));
            if expected == length {
                length += count as u64;
                prop_assert_eq!(answer, Ok(Seq(length)));
            } else {
                let actual = Seq(length);
                let expected = Seq(expected);
                prop_assert_eq!(answer, Err(AppendErrorKind::Conflict { expected, actual }));
            }
            let places: Vec<u64> = log.events(&dormouse()).iter().map(|e| e.seq.0).collect();
            prop_assert_eq!(places, (1..=length).collect::<Vec<_>>());
        }
    }
}
