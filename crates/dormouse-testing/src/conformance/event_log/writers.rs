//! Checks that the events of several writers do not interleave, and that no append is half written.

use dormouse_contracts::{AppendErrorKind, EventLog, NewEvent, Seq};
use futures_util::{FutureExt, future::join_all};

use super::stream::{Stream, event, events};

const STALE: &str = "conformance-stale";

fn conflict(expected: u64, actual: u64) -> Result<u64, AppendErrorKind> {
    Err(AppendErrorKind::Conflict {
        expected: Seq(expected),
        actual: Seq(actual),
    })
}

pub(super) async fn stale_writers_get_the_end_of_the_log(log: &dyn EventLog) {
    let stream = Stream::of(log, STALE);
    let early = stream.append(1, events([9])).await;
    assert_eq!(
        early,
        conflict(1, 0),
        "the expected end is after the end of an empty log"
    );
    stream.write(0, events(1..=3)).await;
    stale_writers_still_get_a_conflict(log).await;
}

pub(super) async fn stale_writers_still_get_a_conflict(log: &dyn EventLog) {
    let stream = Stream::of(log, STALE);
    for expected in [0, 2, 4, u64::MAX] {
        let answer = stream.append(expected, events([9])).await;
        let said = "a writer that expects another end gets a conflict";
        assert_eq!(answer, conflict(expected, 3), "{said}");
    }
    stream.assert_holds(&events(1..=3)).await;
}

pub(super) async fn a_request_is_appended_whole_or_not_at_all(log: &dyn EventLog) {
    let stream = Stream::of(log, "conformance-whole");
    stream.write(0, events([1])).await;
    const TOO_LONG: &str = "a.kind-whose-name_is.exactly-65_bytes.long-and.thus-one-byte.more";
    for kind in [TOO_LONG, "schläft", ""] {
        let bad = NewEvent { kind, ..event(3) };
        let answer = stream.append(1, vec![event(2), bad, event(4)]).await;
        let refused = Err(AppendErrorKind::Unacceptable);
        assert_eq!(answer, refused, "{kind:?} is not a short ASCII name");
        stream.assert_holds(&events([1])).await;
    }
    stream.write(1, events([2])).await;
    stream.assert_holds(&events(1..=2)).await;
}

pub(super) async fn an_empty_append_changes_nothing(log: &dyn EventLog) {
    let stream = Stream::of(log, "conformance-nothing");
    stream.write(0, Vec::new()).await;
    stream.write(0, events(1..=2)).await;
    stream.write(2, Vec::new()).await;
    let stale = stream.append(1, Vec::new()).await;
    assert_eq!(
        stale,
        conflict(1, 2),
        "the expected end is checked even without events"
    );
    stream.assert_holds(&events(1..=2)).await;
}

pub(super) async fn one_of_several_racing_writers_wins(log: &dyn EventLog) {
    let stream = Stream::of(log, "conformance-race");
    let writers = (0..8).map(|number| stream.append(0, events([number, number])));
    let answers = join_all(writers).await;
    let won: Vec<u64> = (0..)
        .zip(&answers)
        .filter(|(_, a)| a.is_ok())
        .map(|(n, _)| n)
        .collect();
    let [winner] = *won.as_slice() else {
        let said = "exactly one of several writers that expect the same end succeeds";
        assert_eq!(won.len(), 1, "{said}: {answers:?}");
        return;
    };
    let lost = answers.iter().filter(|answer| **answer == conflict(0, 2));
    assert_eq!(lost.count(), 7, "all others get a conflict: {answers:?}");
    stream.assert_holds(&events([winner, winner])).await;
}

pub(super) async fn dropping_an_append_does_not_take_it_back(log: &dyn EventLog) {
    let stream = Stream::of(log, "conformance-dropped");
    // One poll starts the append; then its future is dropped.
    if let Some(answer) = stream.append(0, events([1])).now_or_never() {
        assert_eq!(answer, Ok(1), "an append that fits is written");
    }
    let next = append_once_it_follows(&stream).await;
    assert_eq!(
        next,
        Ok(2),
        "an append whose future is dropped is still written"
    );
    stream.assert_holds(&events(1..=2)).await;
}

/// Appends the second event. Retries on a conflict, because the first event may not be written yet.
async fn append_once_it_follows(stream: &Stream<'_>) -> Result<u64, AppendErrorKind> {
    let mut answer = stream.append(1, events([2])).await;
    for _ in 0..1000 {
        if answer != conflict(1, 0) {
            break;
        }
        answer = stream.append(1, events([2])).await;
    }
    answer
}
