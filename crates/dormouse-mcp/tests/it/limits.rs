use std::collections::BTreeSet;

use dormouse_contracts::{EntityId, Trust};
use dormouse_mcp::MemoryLimits;
use serde_json::json;
use tempfile::TempDir;

use crate::line::Line;

fn only_for(listener: &str) -> MemoryLimits {
    MemoryLimits {
        listeners: Some(BTreeSet::from([EntityId::try_new(listener).unwrap()])),
        ..MemoryLimits::default()
    }
}

/// A folder with a whisper of Alice to Bob, and what Carol said to everybody here.
async fn whispered() -> (TempDir, String) {
    let mut line = Line::new().await;
    let all = ["person:alice", "person:bob", "person:carol"];
    let whisper = json!({
        "text": "The treasure is behind the mill.", "said_by": "Alice", "speaker": "person:alice",
        "known_to": all[..2],
    });
    let told = line.calls("remember", whisper).await;
    let aloud = json!({
        "text": "Everybody looks for the treasure of the mill.", "said_by": "Carol",
        "speaker": "person:carol", "known_to": all,
    });
    line.calls("remember", aloud).await;
    (line.ends().await, told["id"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_call_that_names_listeners_recalls_what_each_of_them_heard() {
    let (folder, _) = whispered().await;
    let mut line = Line::begun(folder, MemoryLimits::default()).await;
    let ask =
        |listeners: &[&str]| json!({ "query": "Where is the treasure?", "listeners": listeners });
    assert_eq!(
        line.recalls(json!({ "query": "Where is the treasure?" }))
            .await
            .len(),
        2
    );
    assert_eq!(line.recalls(ask(&["person:bob"])).await.len(), 2);
    let carol = "Everybody looks for the treasure of the mill.";
    assert_eq!(
        line.recalls(ask(&["person:bob", "person:carol"])).await,
        [carol]
    );
    line.ends().await;
}

#[tokio::test]
async fn no_call_reaches_what_the_operators_listeners_did_not_hear() {
    let (folder, whisper) = whispered().await;
    let mut line = Line::begun(folder, only_for("person:carol")).await;
    let carol = "Everybody looks for the treasure of the mill.";
    let question = json!({ "query": "Where is the treasure?" });
    assert_eq!(line.recalls(question.clone()).await, [carol]);
    let widened =
        json!({ "query": "Where is the treasure?", "listeners": ["person:alice", "person:bob"] });
    assert_eq!(line.recalls(widened).await, [carol]);
    for tool in ["why", "forget", "restore"] {
        let refusal = line.is_refused(tool, json!({ "id": whisper })).await;
        assert_eq!(refusal, format!("there is no memory {whisper}"));
    }
    let folder = line.ends().await;

    let mut bob = Line::begun(folder, only_for("person:bob")).await;
    assert_eq!(bob.recalls(question).await.len(), 2);
    bob.ends().await;
}

#[tokio::test]
async fn neither_a_reason_nor_a_key_tells_listeners_what_they_did_not_hear() {
    let (folder, _) = whispered().await;
    let mut line = Line::begun(folder, MemoryLimits::default()).await;
    let told = json!({ "text": "The mill is old.", "speaker": "person:carol", "known_to": ["person:carol"], "key": "mill" });
    let id = line.calls("remember", told.clone()).await["id"].clone();
    let reason = "Alice whispered that the treasure is under it";
    line.calls("forget", json!({ "id": id, "reason": reason }))
        .await;
    let folder = line.ends().await;

    let mut carol = Line::begun(folder, only_for("person:carol")).await;
    let why = carol.calls("why", json!({ "id": id })).await;
    assert!(!why.to_string().contains("treasure"), "{why}");
    let changes = why["changes"].as_array().unwrap();
    assert!(
        changes.iter().any(|it| it["change"] == "withdrawn"),
        "{why}"
    );
    let own = carol.calls("remember", told.clone()).await;
    assert_eq!(own["new"], true);
    assert_ne!(own["id"], id);
    let again = carol.calls("remember", told).await;
    assert_eq!((&again["new"], &again["id"]), (&json!(false), &own["id"]));
    carol.ends().await;
}

#[tokio::test]
async fn nothing_is_believed_more_than_the_operator_allows() {
    let limits = MemoryLimits {
        trust: Trust::try_new(0.3).unwrap(),
        ..MemoryLimits::default()
    };
    let mut line = Line::begun(TempDir::new().unwrap(), limits).await;
    let note = json!({ "text": "The bridge is closed on Sundays.", "trust": 1.0 });
    let told = line.calls("remember", note).await;
    let why = line.calls("why", json!({ "id": told["id"] })).await;
    assert!(why["record"]["trust"].as_f64().unwrap() < 0.31, "{why}");
    // A note that is hardly believed is no answer.
    assert!(
        line.recalls(json!({ "query": "When is the bridge closed?" }))
            .await
            .is_empty()
    );
    line.ends().await;
}
