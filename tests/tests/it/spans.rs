//! Spans of a life, read by a collector with the messages of another project.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use dormouse_otel::{Collector, ExportRange, SpanContent, export};
use dormouse_store::LogView;
use dormouse_testing::FixedRandom;
use dormouse_tests::{Child, Program, otlp_collector};
use serde_json::{Value, json};

/// The attributes of a span, by name.
fn attributes(span: &Value) -> BTreeMap<&str, &Value> {
    let attributes = span["attributes"].as_array().unwrap().iter();
    let named = attributes.map(|it| (it["key"].as_str().unwrap(), &it["value"]));
    named.collect()
}

fn text<'a>(span: &'a Value, name: &str) -> &'a str {
    attributes(span)[name]["stringValue"].as_str().unwrap()
}

#[tokio::test]
async fn a_collector_of_another_project_reads_the_spans_of_a_life() {
    let Some(collector) = otlp_collector() else {
        return;
    };
    let mut collector = Child::spawn(collector);
    let url = collector.json().await.unwrap()["url"].clone();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = Program::over(folder.path());
    let mut visit = program.start(&["play", "--json", "--provider", "offline"]);
    visit
        .write("Good evening, Dormouse! Remember that I like tea.")
        .await;
    let (_, status) = visit.finish().await;
    assert!(status.success(), "{}", program.complaints());
    let log = LogView::open(&folder.path().join("log.redb")).unwrap();
    let known = log.assistants().unwrap();
    let range = ExportRange {
        assistants: known.into_iter().map(|(key, _)| key).collect(),
        since: None,
        content: SpanContent::Digest,
    };
    let mut read = Vec::new();

    // Twice, as after a kill.
    for _ in 0..2 {
        let to = Collector::try_new(url.as_str().unwrap()).unwrap();
        let random = Arc::new(FixedRandom::new(0.0));
        let report = export(&log, &range, to, random).await.unwrap();
        let taken = collector.json().await.unwrap();
        assert_eq!(taken["path"], "/v1/traces");
        let resource = &taken["request"]["resourceSpans"][0];
        let spans = resource["scopeSpans"][0]["spans"]
            .as_array()
            .unwrap()
            .clone();
        assert_eq!(spans.len() as u64, report.spans);
        read.push((resource["resource"].clone(), spans));
    }

    let [(resource, spans), again] = read.try_into().unwrap();
    assert_eq!(again.1, spans, "the same spans at every replay");
    assert_eq!(
        resource["attributes"][0]["value"]["stringValue"],
        json!("dormouse")
    );
    let ids: BTreeSet<_> = spans
        .iter()
        .map(|span| span["spanId"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), spans.len());
    let roots = spans
        .iter()
        .filter(|span| span.get("parentSpanId").is_none());
    let roots: BTreeMap<_, _> = roots
        .map(|span| (span["traceId"].as_str().unwrap(), span))
        .collect();
    let operations: BTreeSet<_> = spans
        .iter()
        .map(|span| text(span, "gen_ai.operation.name"))
        .collect();
    for operation in ["invoke_agent", "chat", "execute_tool", "search_memory"] {
        assert!(operations.contains(operation), "{operations:?}");
    }
    let nanos = |span: &Value, name: &str| -> u64 { span[name].as_str().unwrap().parse().unwrap() };
    for span in &spans {
        let [began, ended] = ["startTimeUnixNano", "endTimeUnixNano"].map(|name| nanos(span, name));
        assert!(began <= ended, "{span}");
        let root = roots[span["traceId"].as_str().unwrap()];
        if let Some(parent) = span.get("parentSpanId") {
            assert_eq!(parent, &root["spanId"]);
        }
        assert_eq!(text(span, "gen_ai.agent.name"), "dormouse");
    }
    let everything = serde_json::to_string(&spans).unwrap();
    assert!(!everything.contains("tea"), "no words without being asked");
    collector.kill().await;
}

#[tokio::test]
async fn a_program_without_the_feature_says_how_to_get_it() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = Program::over(folder.path());
    let to = ["otel", "export", "--to", "http://127.0.0.1:4318"];
    let (_, status) = program.start(&to).finish().await;
    assert_eq!(status.code(), Some(2));
    let why = program.complaints();
    assert!(why.contains("build it again with --features otel"), "{why}");
}
