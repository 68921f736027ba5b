//! Checks what becomes of appends whose outcome was unknown.

use dormouse_contracts::{AppendErrorKind, EventLog, Seq};

use super::{
    AnswerLoss,
    stream::{Stream, events},
};

/// Appends the number 1, and then 2 to 4, of which the log says that it does not know whether it has them. Before that, a log may
/// have to look where the life ends, and knows that nothing was written if this fails.
async fn doubt(stream: &Stream<'_>, loss: &dyn AnswerLoss) {
    stream.write(0, events([1])).await;
    loss.lose_answers();
    let answer = stream.append(1, events(2..=4)).await;
    loss.mend();
    let unknown = Err(AppendErrorKind::Unknown);
    let said = "an append whose answer is lost is not known to be written or not";
    assert_eq!(answer, unknown, "{said}");
}

fn conflict(expected: u64, actual: u64) -> Result<u64, AppendErrorKind> {
    Err(AppendErrorKind::Conflict {
        expected: Seq(expected),
        actual: Seq(actual),
    })
}

pub(super) async fn the_same_request_writes_nothing_twice(
    log: &dyn EventLog,
    loss: &dyn AnswerLoss,
) {
    let stream = Stream::of(log, "conformance-doubt");
    doubt(&stream, loss).await;
    let again = stream.append(1, events(2..=4)).await;
    assert_eq!(
        again,
        Ok(4),
        "the same request finds out that it was written"
    );
    stream.assert_holds(&events(1..=4)).await;
    stream.write(4, events([5])).await;
    let late = stream.append(1, events(2..=4)).await;
    let said = "once it is known, the request is an old one";
    assert_eq!(late, conflict(1, 5), "{said}");
}

pub(super) async fn more_events_at_its_end_are_written_after_it(
    log: &dyn EventLog,
    loss: &dyn AnswerLoss,
) {
    let stream = Stream::of(log, "conformance-doubt-more");
    doubt(&stream, loss).await;
    loss.lose_answers();
    let again = stream.append(1, events(2..=5)).await;
    loss.mend();
    assert_eq!(
        again,
        Err(AppendErrorKind::Unknown),
        "a part may be written"
    );
    let again = stream.append(1, events(2..=6)).await;
    let said = "events that came later are written behind those in doubt";
    assert_eq!(again, Ok(6), "{said}");
    stream.assert_holds(&events(1..=6)).await;
}

pub(super) async fn what_was_not_written_is_written_by_the_same_request(
    log: &dyn EventLog,
    loss: &dyn AnswerLoss,
) {
    let stream = Stream::of(log, "conformance-doubt-lost");
    stream.write(0, events([1])).await;
    loss.lose_requests();
    let answer = stream.append(1, events(2..=4)).await;
    loss.mend();
    let is_honest = matches!(
        answer,
        Err(AppendErrorKind::Unknown | AppendErrorKind::Storage)
    );
    let said = "an append that is lost is not acknowledged";
    assert!(is_honest, "{said}: {answer:?}");
    stream.write(1, events(2..=5)).await;
    stream.assert_holds(&events(1..=5)).await;
}

pub(super) async fn a_writer_that_came_between_is_a_conflict(
    log: &dyn EventLog,
    loss: &dyn AnswerLoss,
) {
    let stream = Stream::of(log, "conformance-doubt-other");
    doubt(&stream, loss).await;
    let other = stream.append(1, events([9])).await;
    let said = "another request does not pass for the one in doubt";
    assert_eq!(other, conflict(1, 4), "{said}");
    stream.assert_holds(&events(1..=4)).await;
}
