//! The suite every event log passes.

use dormouse_store::RedbLog;
use dormouse_testing::conformance;

#[tokio::test]
async fn the_log_conforms_before_and_after_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let log = RedbLog::open(&path).unwrap();
    conformance::event_log(&log).await;
    drop(log);
    let log = RedbLog::open_existing(&path).unwrap();
    conformance::event_log_reopened(&log).await;
}
