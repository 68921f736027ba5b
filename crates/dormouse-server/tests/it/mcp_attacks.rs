//! Attacks on `/mcp`: by pages of other sites, by callers without rights, and by clients that break the protocol.

use std::time::Duration;

use dormouse_contracts::Clock;
use dormouse_server::{NewToken, Right, TokenSecret};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use crate::{
    client::Call,
    mcp::{ERAS, Era, message, tool},
    service::{Service, key},
};

/// A message that would be carried out.
fn stop() -> Value {
    json!({ "name": "stop", "arguments": { "reason": "attack" } })
}

async fn is_stopped(service: &Service) -> bool {
    let status = service.call("GET", "dormouse/status/").send().await.ok(200);
    status["emergency_stop"] == true
}

#[tokio::test]
async fn nobody_gets_past_the_guard_of_the_service() {
    let service = Service::open().await;
    for era in ERAS {
        let call = || message(&service, era, "tools/call", stop());
        for (name, value, status, code) in [
            ("origin", "https://evil.example", 403, "origin"),
            ("origin", "null", 403, "origin"),
            ("origin", "http://127.0.0.1:1", 403, "origin"),
            ("sec-fetch-site", "cross-site", 403, "origin"),
            ("host", "evil.example", 421, "wrong_host"),
            ("authorization", "", 401, "token_missing"),
            ("authorization", "Bearer", 401, "token_missing"),
            ("authorization", "Bearer x", 401, "token_invalid"),
            ("authorization", "Basic x", 401, "token_missing"),
        ] {
            let refused = call().with(name, value).send().await;
            refused.problem(status, code);
        }
        let short = &service.secret[..service.secret.len() - 1];
        call().by(short).send().await.problem(401, "token_invalid");
        for method in ["GET", "DELETE", "PUT"] {
            let other = service.raw(method, "/mcp").by(&service.secret);
            let other = other.with("accept", "text/event-stream").send().await;
            other.problem(405, "method_not_allowed");
        }
        let huge = call().bytes(vec![b' '; 2 << 20]).send().await;
        huge.problem(413, "too_large");
    }
    assert!(!is_stopped(&service).await);
    service.close().await;
}

#[tokio::test]
async fn a_revoked_token_and_one_that_asks_too_often_are_refused() {
    let service = Service::with("requests_per_minute = 60\nburst = 3").await;
    let bob = service.token("Bob", &[Right::Talk], None);
    let call = || message(&service, Era::New, "tools/list", json!({})).by(&bob);
    for _ in 0..3 {
        assert_eq!(call().send().await.status, 200);
    }
    let refused = call().send().await;
    assert!(refused.header("retry-after").is_some());
    refused.problem(429, "rate_limited");
    let eve = service.token("Eve", &[Right::Talk], None);
    service.tokens().revoke("Eve").unwrap();
    let call = message(&service, Era::New, "tools/list", json!({})).by(&eve);
    call.send().await.problem(401, "token_invalid");
    service.close().await;
}

#[tokio::test]
async fn garbage_is_answered_with_an_error_and_changes_nothing() {
    let service = Service::open().await;
    let end = || service.host.log().end_of(&key("dormouse")).unwrap();
    let known = end();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in [
        "",
        "{",
        "null",
        "[]",
        "7",
        "\"tools/list\"",
        "{}",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        "\u{0}\u{1}",
        &deep,
    ] {
        let call = message(&service, Era::Old, "tools/list", json!({}));
        let answer = call.bytes(body).send().await;
        let is_error = answer.status >= 400 || answer.text().contains("\"error\"");
        let start: String = body.chars().take(60).collect();
        assert!(is_error, "{start}: {} {}", answer.status, answer.text());
        assert!(answer.status < 500, "{start}: {}", answer.text());
    }
    for (name, value) in [
        ("mcp-protocol-version", "1999-01-01"),
        ("mcp-method", "tools/list"),
        ("mcp-name", "status"),
        ("accept", "text/html"),
        ("content-type", "text/plain"),
    ] {
        // The headers contradict the body, or cannot be served.
        let call = message(&service, Era::New, "tools/call", stop()).with(name, value);
        let answer = call.send().await;
        assert!(
            (400..500).contains(&answer.status),
            "{name}: {}",
            answer.text()
        );
    }
    assert_eq!(end(), known);
    service.close().await;
}

#[tokio::test]
async fn arguments_that_do_not_fit_reach_nothing() {
    let service = Service::open().await;
    for era in ERAS {
        for (name, arguments) in [
            ("shutdown", json!({})),
            ("Talk", json!({ "words": "Hello" })),
            ("talk\u{200b}", json!({ "words": "Hello" })),
            ("../talk", json!({ "words": "Hello" })),
        ] {
            let mut call = tool(&service, era, name, &arguments);
            if !name.is_ascii() {
                // A header holds such a name in Base64.
                call = call.with("mcp-name", "=?base64?dGFsa+KAiw==?=");
            }
            let answer = call.send().await.json();
            assert_eq!(answer["error"]["code"], -32602, "{name}: {answer}");
        }
        for (name, arguments, named) in [
            ("talk", json!({}), "words"),
            ("talk", json!({ "words": 7 }), "words"),
            ("talk", json!({ "words": "Hello", "as": "Alice" }), "as"),
            (
                "talk",
                json!({ "words": "Hello", "wait_seconds": -1 }),
                "wait_seconds",
            ),
            ("listen", json!({ "after": "1 OR 1=1" }), "after"),
            ("stop", json!({}), "reason"),
        ] {
            let answer = tool(&service, era, name, &arguments).send().await.json();
            assert_eq!(answer["result"]["isError"], true, "{name}: {answer}");
            let why = answer["result"]["content"][0]["text"].as_str().unwrap();
            let is_named = [format!("the argument {named} "), format!("field `{named}`")];
            assert!(is_named.iter().any(|it| why.contains(it)), "{why}");
        }
        for assistant in [
            "..",
            "../dormouse",
            "dormouse/../hare",
            "dormouse/",
            "%2e%2e",
            "",
            "dor\u{200b}mouse",
            "a\u{0}b",
            "nobody",
            &"x".repeat(10_000),
        ] {
            let arguments = json!({ "assistant": assistant });
            let answer = tool(&service, era, "status", &arguments)
                .send()
                .await
                .json();
            assert_eq!(answer["result"]["isError"], true, "{assistant:?}: {answer}");
        }
        for uri in [
            "dormouse://dormouse/../../tokens.json",
            "dormouse://../tokens.json",
            "dormouse://dormouse/memory/../../x",
            "dormouse://dormouse/config",
            "file:///etc/passwd",
            "http://127.0.0.1/",
            "dormouse://",
            "",
        ] {
            let call = message(&service, era, "resources/read", json!({ "uri": uri }));
            let answer = call.send().await.json();
            assert!(answer["error"].is_object(), "{uri:?}: {answer}");
        }
        let names = json!({ "name": "ask", "arguments": { "question": "x", "other": "y" } });
        let answer = message(&service, era, "prompts/get", names)
            .send()
            .await
            .json();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    assert!(!is_stopped(&service).await);
    service.close().await;
}

#[tokio::test]
async fn nobody_can_pass_for_somebody_else_by_a_name_that_looks_the_same() {
    let service = Service::open().await;
    let words = json!({ "words": "Hello" });
    let said = tool(&service, Era::New, "talk", &words).send().await;
    assert_eq!(said.json()["result"]["isError"], false);
    for name in [
        "Ann\u{200b}",
        "\u{202e}nnA",
        "\u{410}nn",
        "Ann ",
        "ANN\u{e0041}",
    ] {
        let new = NewToken {
            name: name.to_owned(),
            rights: [Right::Talk].into(),
            assistants: None,
            attests: None,
            expires_at: None,
            created_by: "a test".to_owned(),
        };
        let secret = TokenSecret::generate().unwrap();
        let refused = service.tokens().create(new, &secret, service.clock.now());
        assert!(refused.is_err(), "{name:?}");
    }
    service.close().await;
}

#[tokio::test]
async fn hidden_characters_in_words_do_not_reach_the_text_that_a_model_reads() {
    let service = Service::open().await;
    let goal = json!({ "text": "Keep\u{202e} the\u{200b} tea warm\u{e0041}" });
    service
        .call("POST", "dormouse/goals/")
        .json(&goal)
        .send()
        .await
        .ok(201);
    let shown = tool(&service, Era::New, "goals", &json!({}))
        .send()
        .await
        .json();
    let text = shown["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("tea warm"), "{text}");
    assert!(
        !text.contains(['\u{202e}', '\u{200b}', '\u{e0041}']),
        "{text:?}"
    );
    service.close().await;
}

#[tokio::test]
async fn a_subscription_hears_only_what_its_holder_may_and_ends_with_its_token() {
    let service = Service::open().await;
    let hare = json!({"key": "hare", "name": "March Hare"});
    service.call("POST", "").json(&hare).send().await.ok(201);
    let bob = service.token("Bob", &[Right::Talk], Some(&["dormouse"]));
    let uris = ["dormouse", "hare", "nobody"].map(|key| format!("dormouse://{key}/heard"));
    let filter = json!({ "notifications": { "resourceSubscriptions": uris } });
    let listen = message(&service, Era::New, "subscriptions/listen", filter);
    let mut stream = listen.by(&bob).open().await;
    let mut heard = String::new();
    read_until(&mut stream, &mut heard, "subscriptions/acknowledged").await;
    assert!(heard.contains("dormouse://dormouse/heard"), "{heard}");
    assert!(!heard.contains("hare"), "{heard}");
    assert!(!heard.contains("nobody"), "{heard}");

    // Ann is answered, and Bob does not hear it.
    let words = json!({ "words": "Hello, it is me, Ann." , "assistant": "dormouse" });
    let anns = tool(&service, Era::New, "talk", &words).send().await;
    assert_eq!(anns.json()["result"]["isError"], false);
    let bobs = tool(&service, Era::New, "talk", &words)
        .by(&bob)
        .send()
        .await;
    assert_eq!(bobs.json()["result"]["isError"], false);
    read_until(&mut stream, &mut heard, "resources/updated").await;
    service.tokens().revoke("Bob").unwrap();
    let anns = tool(&service, Era::New, "talk", &words).send().await;
    assert_eq!(anns.json()["result"]["isError"], false);
    read_until(&mut stream, &mut heard, "\"result\"").await;
    assert_eq!(heard.matches("resources/updated").count(), 1, "{heard}");
    service.close().await;
}

/// Begins a session of the older generation, and returns its id.
async fn session(service: &Service, secret: &str) -> String {
    let client = json!({ "name": "a test", "version": "1" });
    let begin =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let begin = message(service, Era::Old, "initialize", begin).by(secret);
    let begun = begin.send().await;
    begun.header("mcp-session-id").unwrap().to_owned()
}

/// Sends a request about the resource in this session: the result, or the error.
async fn about(service: &Service, secret: &str, session: &str, method: &str, uri: &str) -> Value {
    let asked = message(service, Era::Old, method, json!({ "uri": uri })).by(secret);
    asked.with("mcp-session-id", session).send().await.json()
}

fn stream_of(service: &Service, secret: &str, session: &str) -> Call {
    let stream = service.raw("GET", "/mcp").by(secret);
    stream
        .with("accept", "text/event-stream")
        .with("mcp-session-id", session)
}

/// Says something, and is answered.
async fn talk(service: &Service, secret: &str) {
    let words = json!({ "words": "Hello, where is the kettle?", "assistant": "dormouse" });
    let said = tool(service, Era::Old, "talk", &words)
        .by(secret)
        .send()
        .await;
    assert_eq!(said.json()["result"]["isError"], false);
}

#[tokio::test]
async fn an_older_client_is_notified_in_its_session_and_in_no_other() {
    let service = Service::open().await;
    let hare = json!({"key": "hare", "name": "March Hare"});
    service.call("POST", "").json(&hare).send().await.ok(201);
    let bob = service.token("Bob", &[Right::Talk], Some(&["dormouse"]));
    let bobs = session(&service, &bob).await;
    let heard_of = "dormouse://dormouse/heard";
    let subscribe = "resources/subscribe";
    for uri in ["hare/heard", "nobody/heard", "dormouse/status", "../heard"] {
        let uri = format!("dormouse://{uri}");
        let refused = about(&service, &bob, &bobs, subscribe, &uri).await;
        assert_eq!(refused["error"]["code"], -32002, "{refused}");
    }
    let asked = message(&service, Era::Old, subscribe, json!({ "uri": heard_of })).by(&bob);
    let refused = asked.clone().with("mcp-session-id", "unknown").send().await;
    assert_eq!(refused.ok(404)["code"], "unknown_session");
    let refused = asked.send().await.ok(200);
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("begin one with `initialize`"), "{refused}");
    let begun = about(&service, &bob, &bobs, subscribe, heard_of).await;
    assert_eq!(begun["result"], json!({}), "{begun}");

    let mut stream = stream_of(&service, &bob, &bobs).open().await;
    let mut heard = String::new();
    read_until(&mut stream, &mut heard, "text/event-stream").await;
    talk(&service, &service.secret).await;
    talk(&service, &bob).await;
    read_until(&mut stream, &mut heard, "resources/updated").await;
    drop(stream);
    assert!(heard.contains(heard_of), "{heard}");
    assert_eq!(heard.matches("updated").count(), 1, "not Ann's: {heard}");

    // What happens while nobody reads is sent with the next stream, which ends the one before.
    talk(&service, &bob).await;
    let mut stream = stream_of(&service, &bob, &bobs).open().await;
    let mut heard = String::new();
    read_until(&mut stream, &mut heard, "resources/updated").await;
    let mut newer = stream_of(&service, &bob, &bobs).open().await;
    let read = timeout(Duration::from_secs(30), stream.read_to_string(&mut heard)).await;
    read.unwrap().unwrap();
    assert_eq!(heard.matches("updated").count(), 1, "once: {heard}");

    // A session belongs to its token.
    for (method, secret, session) in [
        ("GET", &service.secret, bobs.as_str()),
        ("DELETE", &service.secret, &bobs),
        ("GET", &bob, "unknown"),
    ] {
        let others = stream_of(&service, secret, session);
        let others = others.method(method);
        assert_eq!(others.send().await.ok(404)["code"], "unknown_session");
    }
    let ended = about(&service, &bob, &bobs, "resources/unsubscribe", heard_of).await;
    assert_eq!(ended["result"], json!({}), "{ended}");
    talk(&service, &bob).await;
    let begun = about(&service, &bob, &bobs, subscribe, heard_of).await;
    assert_eq!(begun["result"], json!({}), "{begun}");
    talk(&service, &bob).await;
    let mut heard = String::new();
    read_until(&mut newer, &mut heard, "resources/updated").await;
    service.tokens().revoke("Bob").unwrap();
    talk(&service, &service.secret).await;
    let read = timeout(Duration::from_secs(30), newer.read_to_string(&mut heard)).await;
    read.unwrap().unwrap();
    assert_eq!(heard.matches("updated").count(), 1, "{heard}");
    service.close().await;
}

#[tokio::test]
async fn a_session_can_be_ended_and_the_oldest_of_many_ends_by_itself() {
    let service = Service::with("requests_per_minute = 100000\nburst = 1000").await;
    let secret = service.secret.clone();
    let end = |session: &str| stream_of(&service, &secret, session).method("DELETE");
    let first = session(&service, &secret).await;
    let mut stream = stream_of(&service, &secret, &first).open().await;
    read_until(&mut stream, &mut String::new(), "text/event-stream").await;
    assert_eq!(end(&first).send().await.status, 204);
    let mut rest = String::new();
    let ended = timeout(Duration::from_secs(30), stream.read_to_string(&mut rest)).await;
    ended.unwrap().unwrap();
    assert_eq!(end(&first).send().await.status, 404);
    // It can still talk.
    talk(&service, &secret).await;

    let second = session(&service, &secret).await;
    for _ in 0..16 {
        assert_ne!(session(&service, &secret).await, second);
    }
    assert_eq!(end(&second).send().await.status, 404);
    service.close().await;
}

/// Reads until this text arrives.
async fn read_until(stream: &mut tokio::net::TcpStream, heard: &mut String, text: &str) {
    let mut bytes = vec![0; 4_096];
    while !heard.contains(text) {
        let read = timeout(Duration::from_secs(30), stream.read(&mut bytes)).await;
        let read = read
            .unwrap_or_else(|_| panic!("{text} does not come: {heard}"))
            .unwrap();
        assert!(read > 0, "{text} does not come: {heard}");
        heard.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
}

#[tokio::test]
async fn clients_that_never_read_take_no_places_from_others() {
    let service = Service::with(
        "requests_per_minute = 100000\nburst = 1000\nstreams = 2\nreader_patience = 1",
    )
    .await;
    let filter =
        json!({ "notifications": { "resourceSubscriptions": ["dormouse://dormouse/heard"] } });
    let mut idle = Vec::new();
    for _ in 0..4 {
        let listen = message(&service, Era::New, "subscriptions/listen", filter.clone());
        idle.push(listen.open().await);
    }
    // More subscriptions than places: these end at once, and nobody else waits for them.
    let words = json!({ "words": "Hello, where is the kettle?" });
    let said = tool(&service, Era::New, "talk", &words).send().await.json();
    assert_eq!(
        said["result"]["structuredContent"]["outcome"], "answered",
        "{said}"
    );
    let ended = async {
        let mut ended = 0;
        for stream in &mut idle[2..] {
            let mut heard = String::new();
            read_until(stream, &mut heard, "\"result\"").await;
            ended += 1;
        }
        ended
    };
    assert_eq!(ended.await, 2);
    // A client that breaks off in the middle of its message.
    let mut broken = message(&service, Era::New, "tools/list", json!({}))
        .open()
        .await;
    broken.shutdown().await.unwrap();
    drop(idle);
    service.close().await;
}

#[tokio::test]
async fn definitions_take_a_bounded_part_of_a_window() {
    let service = Service::open().await;
    let bob = service.token("Bob", &[Right::Talk], None);
    for (secret, limit) in [(&service.secret, 6_400), (&bob, 2_400)] {
        let listed = message(&service, Era::New, "tools/list", json!({})).by(secret);
        // About four characters are a token.
        let characters = listed.send().await.json()["result"]["tools"]
            .to_string()
            .len();
        println!("{characters} characters of definitions");
        assert!(characters < limit, "{characters}");
    }
    service.close().await;
}
