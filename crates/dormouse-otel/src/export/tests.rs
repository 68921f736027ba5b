use std::collections::BTreeSet;

use dormouse_testing::FixedRandom;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use prost::Message;

use super::*;
use crate::{
    collector::{CollectorError, SendErrorKind},
    testing::{TestCollector, TestLogs},
};

async fn exported(
    logs: &TestLogs,
    since: Option<Timestamp>,
    address: &str,
) -> Result<ExportReport, SpanExportError> {
    let range = ExportRange {
        assistants: logs.keys(),
        since,
        content: SpanContent::Digest,
    };
    let to = Collector::try_new(address).unwrap();
    // No pauses between attempts.
    export(logs, &range, to, Arc::new(FixedRandom::new(0.0))).await
}

#[tokio::test]
async fn a_busy_collector_is_asked_again_with_the_same_spans() {
    let mut collector = TestCollector::start(|number, _| match number {
        0 => (503, "", Vec::new()),
        1 => (429, "retry-after: 0\r\n", Vec::new()),
        _ => (200, "", Vec::new()),
    })
    .await;
    let logs = TestLogs::of(&["ann", "bob"]);
    logs.ticks(3).await;

    let report = exported(&logs, None, &collector.address).await.unwrap();

    assert_eq!((report.spans, report.left_out), (3, 0));
    let requests = collector.so_far();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|(_, spans)| *spans == requests[0].1));
}

#[tokio::test]
async fn a_long_log_is_sent_in_requests_of_bounded_size_each_span_once() {
    let mut collector = TestCollector::start(|_, _| (200, "", Vec::new())).await;
    let logs = TestLogs::of(&["ann"]);
    logs.ticks(1_500).await;

    let report = exported(&logs, None, &collector.address).await.unwrap();

    assert_eq!(report.spans, 1_500);
    let requests = collector.so_far();
    assert!(requests.iter().all(|(_, spans)| spans.len() <= 512));
    let ids: BTreeSet<_> = requests
        .iter()
        .flat_map(|(_, spans)| spans.iter().map(|span| &span.span_id))
        .collect();
    assert_eq!(ids.len(), 1_500);
}

#[tokio::test]
async fn only_what_began_since_then_is_sent() {
    let mut collector = TestCollector::start(|_, _| (200, "", Vec::new())).await;
    let logs = TestLogs::of(&["ann"]);
    logs.ticks(4).await;

    // In the midst of the third tick: its end is at 8 s, its beginning at 7 s.
    let since = Timestamp::from_micros(8_000_000);
    let report = exported(&logs, Some(since), &collector.address)
        .await
        .unwrap();

    assert_eq!(report.spans, 1);
    let (_, spans) = collector.next().await;
    assert_eq!(spans[0].start_time_unix_nano, 10_000_000_000);
}

#[tokio::test]
async fn a_collector_that_refuses_is_not_asked_again_and_what_it_says_is_reported() {
    let mut collector =
        TestCollector::start(|_, _| (401, "", b"no token\x1b[2J here".to_vec())).await;
    let logs = TestLogs::of(&["ann"]);
    logs.ticks(1).await;

    let error = exported(&logs, None, &collector.address).await.unwrap_err();

    assert_eq!(
        error.to_string(),
        "the collector refused the spans (HTTP status 401): no token [2J here"
    );
    assert_eq!(collector.so_far().len(), 1);
}

#[tokio::test]
async fn a_request_that_is_too_large_is_divided_and_a_span_that_is_too_large_is_left_out() {
    let mut collector = TestCollector::start(|_, spans| match spans {
        0..4 => (200, "", Vec::new()),
        _ => (413, "", Vec::new()),
    })
    .await;
    let logs = TestLogs::of(&["ann"]);
    logs.ticks(10).await;
    let report = exported(&logs, None, &collector.address).await.unwrap();
    assert_eq!((report.spans, report.left_out), (10, 0));
    let taken = collector
        .so_far()
        .into_iter()
        .filter(|(status, _)| *status == 200);
    let taken = taken
        .flat_map(|(_, spans)| spans)
        .map(|span| span.start_time_unix_nano);
    assert!(taken.is_sorted(), "the oldest come first");

    let none = TestCollector::start(|_, _| (413, "", Vec::new())).await;
    let report = exported(&logs, None, &none.address).await.unwrap();
    assert_eq!((report.spans, report.left_out), (0, 10));
    assert!(report.why.unwrap().contains("413"));
}

#[tokio::test]
async fn spans_that_a_collector_leaves_out_are_counted() {
    let collector = TestCollector::start(|_, _| {
        let answer = ExportTraceServiceResponse {
            partial_success: Some(ExportTracePartialSuccess {
                rejected_spans: 2,
                error_message: "too old".to_owned(),
            }),
        };
        (200, "", answer.encode_to_vec())
    })
    .await;
    let logs = TestLogs::of(&["ann"]);
    logs.ticks(5).await;

    let report = exported(&logs, None, &collector.address).await.unwrap();

    assert_eq!((report.spans, report.left_out), (3, 2));
    assert_eq!(report.why.as_deref(), Some("too old"));
}

#[tokio::test]
async fn where_nobody_listens_the_error_says_so() {
    let logs = TestLogs::of(&["ann"]);
    logs.ticks(1).await;

    // Nobody has this port.
    let error = exported(&logs, None, "http://127.0.0.1:1")
        .await
        .unwrap_err();

    let SpanExportError::Send(error) = error else {
        panic!("{error}")
    };
    assert_eq!(error.kind(), SendErrorKind::Unreachable);
}

#[test]
fn an_address_that_is_not_one_of_a_collector_is_refused_without_repeating_it() {
    for address in ["", "localhost:4318", "ftp://host/", "4318"] {
        let refused = Collector::try_new(address);
        assert!(matches!(refused, Err(CollectorError::Address)), "{address}");
    }
    let refused = Collector::try_new("http://ann:secret@host/").unwrap_err();
    assert!(!refused.to_string().contains("secret"));
}
