//! Checks that a log finds saved snapshots, and never returns a later one than requested.

use dormouse_contracts::{EventLog, Seq, Snapshot};

use super::stream::{Stream, events, mebibyte};

const KEPT: &str = "conformance-snapshots";

fn snapshot(seq: u64, payload: &[u8]) -> Snapshot {
    Snapshot {
        seq: Seq(seq),
        schema: 3,
        payload: payload.to_vec(),
    }
}

pub(super) async fn the_newest_one_that_is_not_too_new_is_found(log: &dyn EventLog) {
    let stream = Stream::of(log, KEPT);
    stream.write(0, events(1..=6)).await;
    stream.save(snapshot(2, b"two")).await;
    assert_eq!(stream.load(6).await, Some(snapshot(2, b"two")));
    stream.save(snapshot(5, &[5, 0, 0xff])).await;
    the_newest_one_is_kept(log).await;
}

pub(super) async fn the_newest_one_is_kept(log: &dyn EventLog) {
    let stream = Stream::of(log, KEPT);
    let newest = snapshot(5, &[5, 0, 0xff]);
    for up_to in [5, 6, u64::MAX] {
        let found = stream.load(up_to).await;
        assert_eq!(found.as_ref(), Some(&newest), "the newest up to {up_to}");
    }
    // The log may have deleted the older snapshot when it saved the newer one, but it must not return a wrong one.
    for up_to in 2..=4 {
        let found = stream.load(up_to).await;
        let older = snapshot(2, b"two");
        assert!(
            found.is_none() || found.as_ref() == Some(&older),
            "up to {up_to}, nothing newer may be found: {found:?}"
        );
    }
    for up_to in [0, 1] {
        assert_eq!(
            stream.load(up_to).await,
            None,
            "no snapshot is older than event 2"
        );
    }
    stream.assert_holds(&events(1..=6)).await;
}

pub(super) async fn saving_again_replaces(log: &dyn EventLog) {
    let stream = Stream::of(log, "conformance-replaced");
    stream.write(0, events(1..=2)).await;
    stream.save(snapshot(2, b"first")).await;
    stream.save(snapshot(2, b"")).await;
    assert_eq!(
        stream.load(2).await,
        Some(snapshot(2, b"")),
        "of two snapshots with one number, the later one is kept"
    );
}

pub(super) async fn assistants_have_snapshots_of_their_own(log: &dyn EventLog) {
    let keys = ["conformance-own", "conformance-own-", "conformance-own.1"];
    for (number, key) in (1_u8..).zip(keys) {
        let stream = Stream::of(log, key);
        stream.write(0, events([1])).await;
        stream.save(snapshot(1, &[number])).await;
    }
    for (number, key) in (1_u8..).zip(keys) {
        let found = Stream::of(log, key).load(u64::MAX).await;
        assert_eq!(found, Some(snapshot(1, &[number])), "the snapshot of {key}");
    }
}

pub(super) async fn large_ones_come_back_whole(log: &dyn EventLog) {
    let stream = Stream::of(log, "conformance-large-snapshot");
    stream.write(0, events([1])).await;
    let large = snapshot(1, &mebibyte(3));
    stream.save(large.clone()).await;
    assert!(
        stream.load(1).await == Some(large),
        "a snapshot of a mebibyte comes back whole"
    );
}
