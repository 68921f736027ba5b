//! The promises of an event log.

mod in_doubt;
mod order;
mod snapshots;
mod stream;
mod writers;

use dormouse_contracts::EventLog;

/// Checks the promises of [`Append`](dormouse_contracts::Append), [`ReadEvents`](dormouse_contracts::ReadEvents),
/// [`SaveSnapshot`](dormouse_contracts::SaveSnapshot) and [`LoadSnapshot`](dormouse_contracts::LoadSnapshot).
///
/// Writes about five megabytes for assistants whose keys begin with `conformance`; the log must not contain them yet.
/// To check that a crash loses nothing, close and open the log, and then await [`event_log_reopened`].
///
/// # Panics
///
/// If the log breaks a promise.
pub async fn event_log(log: &dyn EventLog) {
    order::unwritten_logs_are_empty(log).await;
    order::events_come_back_as_they_were_appended(log).await;
    order::pages_follow_each_other_without_a_gap(log).await;
    order::many_events_fit_into_one_append(log).await;
    order::large_payloads_come_back_whole(log).await;
    order::assistants_have_logs_of_their_own(log).await;
    writers::stale_writers_get_the_end_of_the_log(log).await;
    writers::a_request_is_appended_whole_or_not_at_all(log).await;
    writers::an_empty_append_changes_nothing(log).await;
    writers::one_of_several_racing_writers_wins(log).await;
    writers::dropping_an_append_does_not_take_it_back(log).await;
    snapshots::the_newest_one_that_is_not_too_new_is_found(log).await;
    snapshots::saving_again_replaces(log).await;
    snapshots::assistants_have_snapshots_of_their_own(log).await;
    snapshots::large_ones_come_back_whole(log).await;
}

/// Makes answers of a log get lost, for [`event_log_in_doubt`].
pub trait AnswerLoss: Send + Sync {
    /// From now on appends are written, and answered with [`AppendErrorKind::Unknown`](dormouse_contracts::AppendErrorKind).
    fn lose_answers(&self);

    /// From now on nothing is written. An append is answered with `Unknown` or an error that says so.
    fn lose_requests(&self);

    /// From now on everything works.
    fn mend(&self);
}

/// Checks what a log promises after it has answered an append with [`Unknown`](dormouse_contracts::AppendErrorKind::Unknown).
/// `loss` makes that happen. Logs that always know need not pass it.
///
/// # Panics
///
/// If the log breaks a promise.
pub async fn event_log_in_doubt(log: &dyn EventLog, loss: &dyn AnswerLoss) {
    in_doubt::the_same_request_writes_nothing_twice(log, loss).await;
    in_doubt::more_events_at_its_end_are_written_after_it(log, loss).await;
    in_doubt::what_was_not_written_is_written_by_the_same_request(log, loss).await;
    in_doubt::a_writer_that_came_between_is_a_conflict(log, loss).await;
}

/// Checks that a log that was closed and opened again contains everything that [`event_log`] wrote.
///
/// # Panics
///
/// If something is missing or different.
pub async fn event_log_reopened(log: &dyn EventLog) {
    order::events_are_as_they_were_appended(log).await;
    order::large_payloads_are_whole(log).await;
    writers::stale_writers_still_get_a_conflict(log).await;
    snapshots::the_newest_one_is_kept(log).await;
}
