//! After any damage to the write-ahead file, what was acknowledged is in the log, or opening it is an error.

use dormouse_contracts::{
    Append, AppendError, AppendRequest, AssistantId, NewEvent, ReadEvents, SaveSnapshot, Seq,
    Snapshot, Timestamp,
};
use dormouse_testing::effort;
use proptest::prelude::*;

use super::*;
use crate::{
    LogOpenError, RedbLog,
    flaky::{Flaky, Part, Plan},
    rows::encode_event,
};

fn alice() -> AssistantId {
    AssistantId::try_new("alice").unwrap()
}

fn event(payload: &[u8]) -> NewEvent {
    NewEvent {
        at: Timestamp::EPOCH,
        kind: "heard",
        schema: 1,
        payload: payload.to_vec(),
    }
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(work)
}

fn append(log: &RedbLog, expected: usize, payload: &[u8]) -> Result<Seq, AppendError> {
    run(log.append(AppendRequest {
        assistant: alice(),
        expected: Seq(expected as u64),
        events: vec![event(payload)],
    }))
}

fn payloads(log: &RedbLog) -> Vec<Vec<u8>> {
    let events = run(log.read(&alice(), Seq::ZERO, 10_000)).unwrap();
    events.into_iter().map(|event| event.payload).collect()
}

fn payload(number: usize) -> Vec<u8> {
    format!("event {number}").into_bytes()
}

/// An open log with this many events. All but the first are in the write-ahead file.
fn with_events(count: usize) -> (Flaky, RedbLog) {
    let disk = Flaky::default();
    let log = disk.log();
    for number in 0..count {
        append(&log, number, &payload(number)).unwrap();
    }
    (disk, log)
}

/// The two files as a kill leaves them now.
fn files(disk: &Flaky) -> [Vec<u8>; 2] {
    [Part::Log, Part::WriteAhead].map(|part| disk.part(part).bytes())
}

fn expected(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(payload).collect()
}

/// Opens these files; the payloads of the events, or the fault of the write-ahead file.
fn open(log: &[u8], ahead: &[u8]) -> Result<Vec<Vec<u8>>, WalFault> {
    let disk = Flaky::with(log.to_vec(), ahead.to_vec());
    match disk.open() {
        Ok(opened) => {
            let log = RedbLog::over(opened).unwrap();
            assert!(log.verify().unwrap().is_intact());
            assert_eq!(disk.part(Part::WriteAhead).bytes(), b"", "it is removed");
            Ok(payloads(&log))
        }
        Err(LogOpenError::WriteAhead { source, .. }) => {
            assert!(files(&disk)[1] == ahead, "it is left as it was");
            Err(source.downcast_ref::<WalFault>().unwrap().clone())
        }
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn an_append_costs_one_sync_and_leaves_the_file_of_the_log_alone() {
    let (disk, log) = with_events(1);
    let snapshot = Snapshot {
        seq: Seq(1),
        schema: 1,
        payload: b"state".to_vec(),
    };
    for number in 1..40 {
        let (before, syncs) = (log.stats(), disk.syncs());
        append(&log, number, &payload(number)).unwrap();
        assert_eq!(disk.syncs() - syncs, 1);
        let after = log.stats();
        assert_eq!(after.syncs - before.syncs, 1);
        assert_eq!(after.commits - before.commits, 1);
        // A snapshot can be made again.
        run(log.save_snapshot(&alice(), snapshot.clone())).unwrap();
        assert_eq!(disk.syncs() - syncs, 1);
    }
    let stats = log.stats();
    assert!(u64::from(disk.syncs()) >= stats.syncs, "{stats:?}");
    log.close();
    assert_eq!(disk.part(Part::WriteAhead).bytes(), b"");
    assert_eq!(payloads(&disk.log()), expected(40));
}

#[test]
fn many_appends_and_large_ones_go_through_several_generations_and_none_is_lost() {
    let (disk, log) = with_events(1);
    let mut all = expected(1);
    let mut generations = Vec::new();
    for number in 1..200 {
        let bytes = match number % 50 {
            0 => 2 * MOST_RECORD_BYTES,
            _ => 30_000,
        };
        let payload = vec![u8::try_from(number).unwrap(); bytes];
        append(&log, number, &payload).unwrap();
        all.push(payload);
        if number % 20 == 0 {
            for left in [disk.after_kill(), disk.after_power_failure()] {
                assert!(payloads(&left.log()) == all, "after {number} appends");
            }
        }
        let reading = log.database().begin_read().unwrap();
        let generation = crate::signature::generation(&reading).unwrap().unwrap();
        if !generations.contains(&generation) {
            generations.push(generation);
        }
    }
    assert!((4..20).contains(&generations.len()), "{generations:?}");
    assert!(files(&disk)[1].len() <= MOST_BYTES);
}

/// The bytes of the two copies of the last record: where they are, and how long each is.
fn last_record(ahead: &[u8]) -> [std::ops::Range<usize>; 2] {
    let mut found = Vec::new();
    let mut at = 0;
    while at < ahead.len() {
        match record_at(&ahead[at..]).unwrap() {
            Some(record) => {
                found.push(at..at + record.length);
                at += record.length.next_multiple_of(PAGE_BYTES);
            }
            None => at += PAGE_BYTES,
        }
    }
    found.split_off(found.len() - 2).try_into().unwrap()
}

#[test]
fn a_last_record_that_is_written_up_to_any_byte_takes_nothing_acknowledged_with_it() {
    let (disk, log) = with_events(5);
    let [_, before] = files(&disk);
    append(&log, 5, &payload(5)).unwrap();
    let [file, after] = files(&disk);
    let [first, second] = last_record(&after);
    let mut both = 0;
    for cut in (first.clone()).chain(second.clone()).chain([second.end]) {
        for former in [0, 0xA5] {
            // What was not written yet is zeros, or what an earlier generation left.
            let mut torn = before.clone();
            torn[first.start..].fill(former);
            torn[..cut].copy_from_slice(&after[..cut]);
            let found = open(&file, &torn).unwrap();
            let is_written = cut >= first.end;
            assert_eq!(found, expected(5 + usize::from(is_written)), "{cut}");
            both += u32::from(is_written);
        }
    }
    assert!(both > 100, "the second copy is tried, too");
    // Half of each copy is not a record.
    let mut halves = after.clone();
    for copy in [first, second] {
        halves[copy.start + copy.len() / 2] ^= 1;
    }
    assert_eq!(open(&file, &halves).unwrap(), expected(5));
}

#[test]
fn a_shorter_or_missing_file_is_an_error() {
    let (disk, _log) = with_events(3);
    let [file, ahead] = files(&disk);
    for length in [1, PAGE_BYTES, FIRST_BYTES - 1] {
        let fault = open(&file, &ahead[..length]).unwrap_err();
        assert!(matches!(fault, WalFault::Truncated { .. }), "{fault:?}");
    }
    assert_eq!(open(&file, b"").unwrap_err(), WalFault::Missing);
}

#[test]
fn a_record_without_an_intact_copy_before_another_one_is_an_error_that_names_it() {
    let (disk, _log) = with_events(9);
    let [file, mut ahead] = files(&disk);
    // Records are numbered from 1, and each of these takes a page for each copy.
    for copy in [6, 7] {
        ahead[copy * PAGE_BYTES + 60] ^= 0x10;
    }
    let fault = open(&file, &ahead).unwrap_err();
    let damaged = WalFault::Damaged { number: 4, last: 8 };
    assert_eq!(fault, damaged);
    assert_eq!(
        fault.to_string(),
        "both copies of append 4 in the write-ahead file are damaged, and append 8 is intact"
    );
}

#[test]
fn records_of_another_log_or_of_a_newer_format_are_an_error() {
    let (disk, _log) = with_events(3);
    let [file, ahead] = files(&disk);
    let (others, _others) = with_events(7);
    let [_, foreign] = files(&others);
    let fault = open(&file, &foreign).unwrap_err();
    let beyond = WalFault::Foreign {
        assistant: alice(),
        seq: Seq(2),
        end: Seq(1),
    };
    assert_eq!(fault, beyond);

    // Its events would fit into the log, but they are not the same.
    let mut same_place = vec![0; FIRST_BYTES];
    let other = encode_event(&alice(), Seq(1), &event(b"another"));
    let record = encode_record(Generation::new(), 1, &other);
    same_place[..record.len()].copy_from_slice(&record);
    let fault = open(&file, &same_place).unwrap_err();
    assert!(matches!(fault, WalFault::Contradiction { .. }), "{fault:?}");

    let mut newer = ahead.clone();
    let record = frame::seal_as(Magic::WriteAhead, 2, b"of a later version");
    newer[10 * PAGE_BYTES..][..record.len()].copy_from_slice(&record);
    assert_eq!(
        open(&file, &newer).unwrap_err(),
        WalFault::Newer { found: 2 }
    );
}

#[test]
fn a_file_that_a_closed_log_left_is_removed_unless_it_has_more_than_the_log() {
    let (disk, log) = with_events(6);
    let [_, ahead] = files(&disk);
    drop(log);
    let [closed, removed] = files(&disk);
    assert_eq!(removed, b"");
    // As after a power failure before the folder was written.
    assert_eq!(open(&closed, &ahead).unwrap(), expected(6));
    // A kill during its creation.
    assert_eq!(open(&closed, &[0; PAGE_BYTES]).unwrap(), expected(6));

    let (shorter, log) = with_events(2);
    drop(log);
    let fault = open(&files(&shorter)[0], &ahead).unwrap_err();
    assert!(matches!(fault, WalFault::Foreign { .. }), "{fault:?}");
}

#[test]
fn records_of_the_generation_before_are_ignored() {
    let (disk, log) = with_events(6);
    let [_, former] = files(&disk);
    append(&log, 6, &vec![b'x'; 2 * MOST_RECORD_BYTES]).unwrap();
    let [file, ahead] = files(&disk);
    assert!(former == ahead, "nothing is written into it");
    assert_eq!(open(&file, &ahead).unwrap().len(), 7);
    append(&log, 7, &payload(7)).unwrap();
    let [file, ahead] = files(&disk);
    let found = open(&file, &ahead).unwrap();
    assert_eq!((found.len(), &found[7]), (8, &payload(7)));
}

#[test]
fn without_room_for_a_larger_file_appends_go_on_and_none_is_lost() {
    let (disk, log) = with_events(1);
    let mut all = expected(1);
    let free = disk.length().max(FIRST_BYTES) + 4 * 1024 * 1024;
    let is_room = |is_room: bool| {
        disk.part(Part::WriteAhead).plan(Plan {
            capacity: (!is_room).then_some(FIRST_BYTES),
            ..Plan::default()
        });
    };
    for number in 1..120 {
        // The log's file does not grow while the other one finds no room.
        assert!(disk.length() < free);
        is_room(number % 40 < 20 || disk.part(Part::WriteAhead).length() < FIRST_BYTES);
        let payload = vec![u8::try_from(number).unwrap(); 9_000];
        if let Ok(end) = append(&log, number, &payload) {
            assert_eq!(end, Seq(number as u64 + 1));
        } else {
            is_room(true);
            append(&log, number, &payload).unwrap();
        }
        all.push(payload);
        if number % 10 == 0 {
            assert!(payloads(&disk.after_power_failure().log()) == all);
        }
    }
    assert!(payloads(&log) == all);
}

/// What a process does until it dies; how many events were acknowledged, and how many attempted.
fn live(disk: &Flaky) -> (usize, usize) {
    let mut count = 0;
    for life in 0..2 {
        let Ok(opened) = disk.open() else {
            return (count, count);
        };
        let log = RedbLog::over(opened).unwrap();
        for step in 0..4 {
            let large = vec![b'x'; MOST_RECORD_BYTES + 1];
            let payload = match (life, step) {
                (0, 2) => large,
                _ => payload(count),
            };
            if append(&log, count, &payload).is_err() {
                return (count, count + 1);
            }
            count += 1;
        }
    }
    (count, count)
}

#[test]
fn killed_at_any_change_of_its_files_the_log_has_all_that_was_acknowledged() {
    let every = 1_000 / effort(1_000);
    for changes in (0..).step_by(every as usize) {
        let disk = Flaky::default();
        disk.log().close();
        disk.plan(Plan {
            changes_before_death: Some(changes),
            ..Plan::default()
        });
        let (acknowledged, attempted) = live(&disk);
        for left in [
            disk.after_kill(),
            disk.after_power_failure(),
            disk.after_torn_writes(u64::from(changes)),
        ] {
            let log = left.log();
            let found = payloads(&log);
            let possible = acknowledged..=attempted;
            assert!(possible.contains(&found.len()), "killed after {changes}");
            assert!(log.verify().unwrap().is_intact());
        }
        if acknowledged == 8 {
            assert!(changes > 50, "only {changes} changes");
            return;
        }
    }
}

#[derive(Clone, Debug)]
enum Harm {
    Bit(usize, u8),
    /// A sector with other content.
    Sector(usize, u8),
    Page(usize, u8),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        (any::<usize>(), 0_u8..8).prop_map(|(at, bit)| Harm::Bit(at, bit)),
        (any::<usize>(), any::<u8>()).prop_map(|(at, fill)| Harm::Sector(at, fill)),
        (any::<usize>(), any::<u8>()).prop_map(|(at, fill)| Harm::Page(at, fill)),
    ]
}

impl Harm {
    fn inflict(&self, bytes: &mut [u8]) {
        let mut fill = |at: usize, unit: usize, content: u8| {
            let at = at % (bytes.len() / unit) * unit;
            bytes[at..at + unit].fill(content);
        };
        match *self {
            Self::Sector(at, content) => fill(at, 512, content),
            Self::Page(at, content) => fill(at, PAGE_BYTES, content),
            Self::Bit(at, bit) => {
                let at = at % bytes.len();
                bytes[at] ^= 1 << bit;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_damaged_place_loses_nothing_and_two_lose_nothing_silently(
        sizes in proptest::collection::vec(0_usize..9_000, 2..6),
        one in harm(),
        other in harm(),
    ) {
        let (disk, log) = with_events(1);
        let mut all = expected(1);
        for size in sizes {
            append(&log, all.len(), &vec![b'x'; size]).unwrap();
            all.push(vec![b'x'; size]);
        }
        let [file, mut ahead] = files(&disk);
        let used = last_record(&ahead)[1].end.next_multiple_of(PAGE_BYTES);
        one.inflict(&mut ahead[..used]);
        prop_assert!(open(&file, &ahead).unwrap() == all, "one damaged place");
        other.inflict(&mut ahead[..used]);
        match open(&file, &ahead) {
            // Both copies of the last record: this cannot be told from a record that was never finished.
            Ok(found) => prop_assert!(found == all || found == all[..all.len() - 1]),
            Err(fault) => prop_assert!(matches!(fault, WalFault::Damaged { .. }), "{:?}", fault),
        }
    }
}
