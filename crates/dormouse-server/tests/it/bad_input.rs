//! Invalid and hostile requests.

use std::time::Duration;

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::{
    client::Answer,
    service::{ALL, Service},
};

/// Every path that takes a body, with its method.
const WITH_BODY: [(&str, &str); 40] = [
    ("POST", ""),
    ("PATCH", "dormouse/"),
    ("POST", "dormouse/clone/"),
    ("POST", "dormouse/fork/"),
    ("POST", "dormouse/emergency/trigger/"),
    ("POST", "dormouse/interact/"),
    ("PATCH", "dormouse/config/"),
    ("POST", "dormouse/goals/"),
    ("PATCH", "dormouse/goals/1/"),
    ("POST", "dormouse/journal/"),
    ("POST", "dormouse/sleep/"),
    ("POST", "dormouse/memory/"),
    ("POST", "dormouse/memory/undo/"),
    ("POST", "dormouse/memory/1/supersede/"),
    ("POST", "dormouse/memory/1/withdraw/"),
    ("POST", "dormouse/memory/1/publish/"),
    ("POST", "dormouse/memory/1/erase/"),
    ("POST", "dormouse/entities/"),
    ("PATCH", "dormouse/entities/player:ann/"),
    ("POST", "dormouse/entities/player:ann/observations/"),
    ("POST", "dormouse/entities/player:ann/merge/"),
    ("POST", "dormouse/entities/player:ann/unmerge/"),
    ("POST", "dormouse/entities/player:ann/restore/"),
    ("POST", "dormouse/conversations/player:ann/end/"),
    ("POST", "dormouse/pending-actions/"),
    ("POST", "dormouse/pending-actions/1/complete/"),
    ("POST", "dormouse/approvals/1/"),
    ("PATCH", "dormouse/contexts/tick_event/"),
    ("POST", "dormouse/components/reorder/"),
    ("PATCH", "dormouse/components/goals/"),
    ("POST", "dormouse/templates/"),
    ("POST", "dormouse/templates/default/clone/"),
    ("POST", "dormouse/projects/"),
    ("PATCH", "dormouse/projects/1/"),
    ("POST", "dormouse/projects/1/swap/"),
    ("POST", "dormouse/session-memory/"),
    ("POST", "dormouse/reflection/"),
    ("POST", "../world/perceptions/"),
    ("POST", "../world/receipts/"),
    ("POST", "../world/tools/"),
];

#[tokio::test]
async fn every_body_is_checked_before_anything_happens() {
    let service = Service::open().await;
    for (method, path) in WITH_BODY {
        let path = match path.strip_prefix("../") {
            Some(path) => format!("/api/ai/{path}"),
            None => format!("{ALL}{path}"),
        };
        let call = || {
            service
                .raw(method, &path)
                .by(&service.secret)
                .with("if-match", "\"x\"")
        };
        call().send().await.problem(415, "content_type");
        let text = call().bytes("{}").with("content-type", "text/plain");
        text.send().await.problem(415, "content_type");
        for broken in ["", "{", "[]", "[1]", "null", "\"text\"", "7"] {
            let answer = call().bytes(broken).send().await;
            answer.problem(400, "invalid_request");
        }
        let broken_utf8 = call().bytes(b"{\"\xff\xfe\": 1}".to_vec());
        assert!(matches!(broken_utf8.send().await.status, 400 | 422));
        let unknown = call().json(&json!({"no_such_field": 1})).send().await;
        unknown.problem(422, "invalid_value");
        let deep = "[".repeat(100_000);
        let deep = call().bytes(format!("{{\"words\": {deep}")).send().await;
        assert!(matches!(deep.status, 400 | 422), "{}", deep.status);
        let large = call().bytes(vec![b' '; 300 * 1024]).send().await;
        large.problem(413, "too_large");
    }
    service.close().await;
}

#[tokio::test]
async fn wrong_types_and_values_are_named() {
    let service = Service::open().await;
    for (method, path, body, status) in [
        ("POST", "", json!({"key": 7}), 422),
        ("POST", "", json!({"key": "../../etc"}), 400),
        ("POST", "", json!({"key": ""}), 400),
        ("POST", "", json!({"key": "x".repeat(65)}), 400),
        ("POST", "", json!({"key": "hare", "tags": "red"}), 422),
        ("POST", "", json!({"key": "hare", "name": "you"}), 422),
        ("POST", "dormouse/interact/", json!({"words": ["a"]}), 422),
        ("POST", "dormouse/interact/", json!({"words": ""}), 422),
        (
            "POST",
            "dormouse/interact/",
            json!({"words": "x".repeat(70_000)}),
            422,
        ),
        (
            "POST",
            "dormouse/interact/",
            json!({"words": "a", "wait_seconds": -1}),
            422,
        ),
        (
            "POST",
            "dormouse/interact/",
            json!({"words": "a", "wait_seconds": 1e300}),
            422,
        ),
        (
            "POST",
            "dormouse/goals/",
            json!({"text": "tea", "priority": 11}),
            422,
        ),
        (
            "POST",
            "dormouse/goals/",
            json!({"text": "tea", "priority": 300}),
            422,
        ),
        (
            "POST",
            "dormouse/goals/",
            json!({"text": "tea", "parent": 99}),
            404,
        ),
        (
            "POST",
            "dormouse/goals/",
            json!({"text": "tea", "due": "soon"}),
            422,
        ),
        (
            "POST",
            "dormouse/goals/",
            json!({"text": "tea", "every": "often"}),
            422,
        ),
        ("PATCH", "dormouse/goals/1/", json!({"status": "lost"}), 422),
        (
            "PATCH",
            "dormouse/goals/99/",
            json!({"status": "done"}),
            404,
        ),
        (
            "POST",
            "dormouse/journal/",
            json!({"content": "a", "importance": 11}),
            422,
        ),
        (
            "POST",
            "dormouse/journal/",
            json!({"content": "a", "source_type": "gossip"}),
            422,
        ),
        (
            "POST",
            "dormouse/sleep/",
            json!({"until": "1970-01-01T00:00:00Z"}),
            422,
        ),
        ("POST", "dormouse/memory/", json!({"text": " "}), 422),
        (
            "POST",
            "dormouse/memory/",
            json!({"text": "a", "kind": "rumour"}),
            422,
        ),
        (
            "POST",
            "dormouse/memory/",
            json!({"text": "a", "at": "noon"}),
            422,
        ),
        (
            "POST",
            "dormouse/memory/",
            json!({"text": "a", "trust": 1.5}),
            422,
        ),
        ("POST", "dormouse/memory/undo/", json!({"event": 0}), 409),
        ("POST", "dormouse/memory/undo/", json!({"event": -1}), 422),
        ("POST", "dormouse/memory/9999/withdraw/", json!({}), 404),
        ("POST", "dormouse/memory/9999/erase/", json!({}), 404),
        (
            "POST",
            "dormouse/entities/",
            json!({"entity": "", "name": "A"}),
            422,
        ),
        (
            "POST",
            "dormouse/entities/",
            json!({"entity": "a", "name": "a\nb"}),
            422,
        ),
        (
            "PATCH",
            "dormouse/entities/player:eve/",
            json!({"name": "Eve"}),
            404,
        ),
        (
            "POST",
            "dormouse/entities/player:eve/merge/",
            json!({"into": "player:eve"}),
            404,
        ),
        (
            "POST",
            "dormouse/approvals/1/",
            json!({"allow": "yes"}),
            422,
        ),
        ("POST", "dormouse/approvals/1/", json!({"allow": true}), 404),
        (
            "POST",
            "dormouse/components/reorder/",
            json!({"order": ["system_prompt"]}),
            422,
        ),
        (
            "PATCH",
            "dormouse/components/mine/",
            json!({"text": "no number"}),
            422,
        ),
        (
            "PATCH",
            "dormouse/components/a.b%22/",
            json!({"number": 1200, "text": "x"}),
            422,
        ),
        (
            "POST",
            "dormouse/templates/",
            json!({"name": "a", "text": "{nobody}"}),
            422,
        ),
        ("POST", "dormouse/projects/", json!({"summary": " "}), 422),
        (
            "POST",
            "dormouse/session-memory/",
            json!({"kind": "rumour", "text": "a"}),
            422,
        ),
        (
            "POST",
            "dormouse/session-memory/",
            json!({"kind": "fact", "text": "x".repeat(201)}),
            422,
        ),
    ] {
        let answer = service.call(method, path).json(&body).send().await;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(answer.status, status, "{method} {path} {body}: {text}");
        assert!(answer.json()["code"].is_string());
    }
    service.close().await;
}

#[tokio::test]
async fn unknown_paths_methods_keys_and_queries_are_problems() {
    let service = Service::open().await;
    let call = |method: &str, path: &str| service.call(method, path).send();
    call("GET", "nobody/")
        .await
        .problem(404, "unknown_assistant");
    for path in [
        "nobody/status/",
        "nobody/audit/",
        "nobody/memory/?q=x",
        "nobody/events/",
        "nobody/health/",
        "nobody/audit/state/",
        "nobody/execution/",
        "nobody/execution/log/",
        "nobody/history/",
        "nobody/entities/",
        "nobody/prompt/preview/",
        "nobody/tools/",
        "nobody/contexts/",
    ] {
        call("GET", path).await.problem(404, "unknown_assistant");
    }
    for path in ["nobody/start/", "nobody/wake/", "nobody/emergency/clear/"] {
        call("POST", path).await.problem(404, "unknown_assistant");
    }
    for key in [
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e%2f",
        "a%20b",
        "%00",
        &"x".repeat(65),
    ] {
        call("GET", &format!("{key}/"))
            .await
            .problem(400, "invalid_key");
    }
    call("GET", "%ff/").await.problem(400, "invalid_request");
    for path in [
        "dormouse",
        "dormouse/nothing/",
        "dormouse/status",
        "../../../etc/passwd",
        "dormouse//",
    ] {
        let answer = call("GET", path).await;
        assert!(
            matches!(answer.status, 400 | 404),
            "{path}: {}",
            answer.status
        );
    }
    let answer = call("PUT", "dormouse/").await;
    answer.problem(405, "method_not_allowed");
    assert!(
        answer
            .header("allow")
            .is_some_and(|allow| allow.contains("PATCH"))
    );
    for query in [
        "?limit=0",
        "?limit=1001",
        "?limit=x",
        "?after=-1",
        "?after=9223372036854775808",
        "?nothing=1",
    ] {
        call("GET", &format!("dormouse/audit/{query}"))
            .await
            .problem(400, "invalid_request");
    }
    let last = call("GET", "dormouse/audit/?after=9223372036854775807").await;
    assert_eq!(last.ok(200)["next"], json!(i64::MAX));
    for path in ["events/", "interact/"] {
        call("GET", &format!("dormouse/{path}?after=9223372036854775808"))
            .await
            .problem(400, "invalid_request");
    }
    call("GET", "dormouse/memory/")
        .await
        .problem(400, "invalid_request");
    call("GET", "dormouse/memory/x/why/")
        .await
        .problem(400, "invalid_request");
    call("GET", "dormouse/memory/99999/why/")
        .await
        .problem(404, "unknown_item");
    call("GET", "dormouse/interact/99999/")
        .await
        .problem(404, "unknown_item");
    call("GET", "dormouse/interact/0/")
        .await
        .problem(404, "unknown_item");
    // The requests created no assistant.
    assert_eq!(service.host.known().unwrap().len(), 1);
    service.close().await;
}

#[tokio::test]
async fn a_client_that_sends_slowly_or_too_much_is_ended() {
    let service = Service::with("patience = 1").await;
    let limit = Duration::from_secs(60);
    // Headers that never end.
    let mut slow = TcpStream::connect(service.address).await.unwrap();
    slow.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ")
        .await
        .unwrap();
    let mut bytes = Vec::new();
    drop(
        timeout(limit, slow.read_to_end(&mut bytes))
            .await
            .expect("it is closed"),
    );
    // A body that never ends.
    let mut text = format!(
        "POST /api/ai/assistants/dormouse/interact/ HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n",
        service.address, service.secret
    );
    text += "content-type: application/json\r\ncontent-length: 1000\r\n\r\n{\"wor";
    let mut slow = TcpStream::connect(service.address).await.unwrap();
    slow.write_all(text.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    drop(
        timeout(limit, slow.read_to_end(&mut bytes))
            .await
            .expect("it is answered"),
    );
    Answer::of(&bytes).problem(408, "too_slow");
    // Headers that are too large.
    let call = service.call("GET", "").with("x-long", &"x".repeat(100_000));
    assert_eq!(call.send().await.status, 431);
    // A body without a declared length.
    let mut text = text.replace("content-length: 1000", "transfer-encoding: chunked");
    text.truncate(text.rfind("{\"wor").unwrap());
    let mut much = TcpStream::connect(service.address).await.unwrap();
    much.write_all(text.as_bytes()).await.unwrap();
    for _ in 0..64 {
        let chunk = format!("2000\r\n{}\r\n", " ".repeat(0x2000));
        if much.write_all(chunk.as_bytes()).await.is_err() {
            break;
        }
    }
    let mut bytes = Vec::new();
    drop(
        timeout(limit, much.read_to_end(&mut bytes))
            .await
            .expect("it is answered"),
    );
    if !bytes.is_empty() {
        Answer::of(&bytes).problem(413, "too_large");
    }
    service.raw("GET", "/healthz").send().await.ok(200);
    service.close().await;
}

#[tokio::test]
async fn a_text_is_measured_as_it_was_sent_although_secrets_in_it_are_masked() {
    let service = Service::open().await;
    let card = "4111 1111 1111 1111 ";
    let long = json!({"summary": card.repeat(11)});
    let made = service.call("POST", "dormouse/projects/").json(&long);
    made.send().await.problem(422, "invalid_value");
    service.close().await;
}
