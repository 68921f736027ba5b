use serde_json::{Value, json};
use tempfile::TempDir;

use crate::line::Line;
use dormouse_mcp::MemoryLimits;
use dormouse_memory::TEXT_LIMIT;

#[tokio::test]
async fn both_generations_of_the_protocol_see_the_same_tools() {
    let mut old = Line::new().await;
    let listed = old.asks("tools/list", json!({})).await;
    let mut new = Line::silent(TempDir::new().unwrap(), MemoryLimits::default()).await;
    new.without_sessions();
    let found = new.asks("server/discover", json!({})).await;
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let listed_too = new.asks("tools/list", json!({})).await;

    let tools = &listed["result"]["tools"];
    assert_eq!(tools, &listed_too["result"]["tools"]);
    let names: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["remember", "recall", "why", "forget", "restore"]);
    assert_eq!(
        new.recalls(json!({ "query": "anything" })).await,
        Vec::<String>::new()
    );
    old.ends().await;
    new.ends().await;
}

#[tokio::test]
async fn definitions_take_a_bounded_part_of_a_window() {
    let mut line = Line::new().await;
    let listed = line.asks("tools/list", json!({})).await;
    // About four characters are a token.
    let characters = listed["result"]["tools"].to_string().len();
    assert!(characters < 6_000, "{characters}");
    line.ends().await;
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_named() {
    let mut line = Line::new().await;
    // A tool that does not exist is a fault of the client; all else is for the model, which can call again.
    let absent = line.tries("wake_up", json!({})).await;
    let why = absent["error"]["message"].as_str().unwrap();
    assert!(why.contains("there is no tool \"wake_up\""), "{absent}");
    assert_eq!(absent["error"]["code"], -32_602);
    for (tool, arguments, names) in [
        ("remember", json!({ "txt": "x" }), "unknown field `txt`"),
        ("remember", json!({}), "missing field `text`"),
        (
            "recall",
            json!({ "query": 7 }),
            "the argument query does not fit: invalid type: integer `7`, expected a text",
        ),
        (
            "remember",
            json!({ "text": "x", "known_to": "person:alice" }),
            "the argument known_to does not fit: invalid type: string \"person:alice\", expected a list",
        ),
        (
            "remember",
            json!({ "text": "x", "trust": "full" }),
            "the argument trust does not fit: invalid type: string \"full\", expected a number",
        ),
        (
            "recall",
            json!({ "query": "x", "tokens": -1 }),
            "the argument tokens does not fit: invalid value: integer `-1`, expected a whole number",
        ),
        (
            "recall",
            json!({ "query": "x", "kinds": ["fact", "rumour"] }),
            "the argument kinds[1] does not fit: unknown variant `rumour`, expected one of `event`",
        ),
        (
            "recall",
            json!({ "query": "x", "kinds": ["fact", 7] }),
            "the argument kinds[1] does not fit: invalid type: integer `7`, expected a text",
        ),
        (
            "forget",
            json!({ "id": "1", "for_good": "yes" }),
            "the argument for_good does not fit: invalid type: string \"yes\", expected true or false",
        ),
        (
            "recall",
            json!({ "query": "x", "tokens": 0 }),
            "tokens is 0; expected 1 to 16384",
        ),
        (
            "recall",
            json!({ "query": "x", "since": "yesterday" }),
            "since is not valid",
        ),
        (
            "recall",
            json!({ "query": "x", "listeners": ["a\nb"] }),
            "listeners is not valid",
        ),
        ("remember", json!({ "text": "  " }), "empty"),
        (
            "remember",
            json!({ "text": "x", "trust": 1.5 }),
            "trust is not valid",
        ),
        (
            "remember",
            json!({ "text": "x".repeat(TEXT_LIMIT + 1) }),
            "the text",
        ),
        ("why", json!({ "id": "first" }), "id is not valid"),
        ("why", json!({ "id": "999" }), "there is no memory 999"),
        ("forget", json!({ "id": "999" }), "there is no memory 999"),
    ] {
        let refusal = line.is_refused(tool, arguments).await;
        assert!(refusal.contains(names), "{refusal}");
    }
    line.ends().await;
}

#[tokio::test]
async fn broken_lines_do_not_end_the_server() {
    let mut line = Line::new().await;
    for broken in [
        "",
        "{",
        "[]",
        "null",
        "{\"jsonrpc\":\"1.0\",\"id\":1}",
        "\u{0}",
    ] {
        line.says(broken).await;
    }
    line.says(&json!({ "jsonrpc": "2.0", "id": "last", "method": "tools/list" }).to_string())
        .await;
    loop {
        let answer = line.hears().await;
        if answer["id"] == "last" {
            assert!(answer["result"]["tools"].is_array());
            break;
        }
        assert_ne!(answer["error"], Value::Null, "{answer}");
    }
    line.ends().await;
}
