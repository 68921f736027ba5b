use std::{
    error::Error,
    io::Write,
    sync::{Arc, Mutex},
    time::Duration,
};

use dormouse_contracts::{Message, ModelError, ModelErrorKind, complete};
use dormouse_providers::{OpenAiConfig, OpenAiModel};

use crate::{
    replying::HELLO,
    server::{Answer, STREAM, Server, Then, guarded, hello, model_at},
};

/// Everything that an error and its sources print.
fn shown(error: &ModelError) -> String {
    let mut shown = format!("{error:?} {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        shown.push_str(&format!(": {error}"));
        cause = error.source();
    }
    shown
}

/// Everything that is logged on this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn subscriber(&self) -> impl tracing::Subscriber + Send + Sync + use<> {
        let log = self.clone();
        tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || log.clone())
            .finish()
    }

    fn text(&self) -> String {
        tracing::error!("the log is read");
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The error that this answer leads to, after exactly one request and without the key in it.
async fn error(answer: Answer) -> ModelError {
    let server = Server::answering(vec![answer]).await;
    let error = server.reply().await.unwrap_err();
    assert_eq!(server.requests().len(), 1, "it was sent again");
    assert!(
        !shown(&error).contains("sk-secret-key"),
        "{}",
        shown(&error)
    );
    error
}

const JSON: &str = "content-type: application/json\r\n";

#[tokio::test]
async fn a_rejected_key_is_auth_and_never_printed() {
    let body = r#"{"error":{"message":"Incorrect API key provided: sk-secret-key","code":"invalid_api_key"}}"#;
    let error = error(Answer::status("401 Unauthorized", JSON, body)).await;
    assert_eq!(error.kind(), ModelErrorKind::Auth);
    assert!(
        shown(&error).contains("Incorrect API key provided: *** (invalid_api_key)"),
        "{}",
        shown(&error)
    );
}

#[tokio::test]
async fn a_moderators_refusal_is_about_the_prompt_and_not_about_the_key() {
    let flagged = r#"{"error":{"code":403,"message":"Your input was flagged","metadata":{"reasons":["violence"],"flagged_input":"…"}}}"#;
    let error_of_prompt = error(Answer::status("403 Forbidden", JSON, flagged)).await;
    assert_eq!(error_of_prompt.kind(), ModelErrorKind::Refused);
    let revoked = r#"{"error":{"type":"permission_error","message":"The key may not do this"}}"#;
    let error_of_key = error(Answer::status("403 Forbidden", JSON, revoked)).await;
    assert_eq!(error_of_key.kind(), ModelErrorKind::Auth);
}

#[tokio::test]
async fn a_key_repeated_by_the_server_is_neither_printed_nor_logged() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.subscriber());
    let events = [
        r#"data: {"error":{"message":"bad key sk-secret-key","code":401}}"#,
        r#"data: {"error":{"message":"bad key","type":"sk-secret-key"}}"#,
        r#"data: {"error":["\u0073k-secret-key"]}"#,
        "data: sk-secret-key",
        r#"data: "sk-secret-key""#,
        "data: {\ndata: \"error\": sk-secret-key}",
        r#"data: {"error":null,"error":"sk-secret-key"}"#,
        "sk-secret-key",
    ];
    let plain = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
    let mut answers: Vec<Answer> = events
        .iter()
        .map(|event| Answer::stream(&format!("{event}\n\n"), Then::Close))
        .collect();
    answers.extend([
        Answer::raw(
            format!("{plain}{{\"error\":\"bad key sk-secret-key\"}}"),
            Then::Close,
        ),
        // What is shown of it ends within the key.
        Answer::raw(
            format!("{plain}{}sk-secret-key", "<  ".repeat(338)),
            Then::Close,
        ),
        Answer::status("200 OK", "content-type: text/sk-secret-key\r\n", "x"),
        Answer::status("200 OK", "content-type: text/SK-SECRET-KEY\r\n", "x"),
        Answer::status("500 Oops", "", "<p>SK-secret-KEY</p>"),
        Answer::status(
            "400 Bad Request",
            "",
            &format!("{}sk-secret-key", " ".repeat(16_375)),
        ),
    ]);
    for answer in answers {
        let error = error(answer).await;
        let shown = shown(&error).to_lowercase();
        assert!(!shown.contains("sk-sec"), "{shown}");
    }
    let logged = log.text();
    assert!(logged.contains("the log is read"), "{logged}");
    assert!(!logged.to_lowercase().contains("secret"), "{logged}");
}

#[tokio::test]
async fn a_rate_limit_has_the_pause_of_the_server() {
    let body = r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#;
    for (headers, pause) in [
        ("", None),
        ("retry-after: 7\r\n", Some(7)),
        (
            "date: Sat, 21 Nov 2026 10:15:00 GMT\r\nretry-after: Sat, 21 Nov 2026 10:15:30 GMT\r\n",
            Some(30),
        ),
        ("retry-after: 10000000000\r\n", Some(60 * 60)),
        ("retry-after: soon\r\n", None),
    ] {
        let error = error(Answer::status("429 Too Many Requests", headers, body)).await;
        assert_eq!(
            error.kind(),
            ModelErrorKind::RateLimited(pause.map(Duration::from_secs)),
            "{headers}"
        );
    }
}

#[tokio::test]
async fn a_server_error_is_unavailable_and_not_retried() {
    for status in [
        "500 Internal Server Error",
        "502 Bad Gateway",
        "503 Service Unavailable",
    ] {
        let error = error(Answer::status(status, "", "<h1>oops</h1>")).await;
        assert_eq!(error.kind(), ModelErrorKind::Unavailable, "{status}");
    }
}

#[tokio::test]
async fn an_invalid_request_is_refused_and_a_long_prompt_is_context_exceeded() {
    let too_long = r#"{"error":{"code":400,"message":"request exceeds the available context size","type":"exceed_context_size_error"}}"#;
    for (status, body, kind) in [
        (
            "404 Not ChoiceReason",
            "<html>nothing here</html>",
            ModelErrorKind::NotFound,
        ),
        (
            "422 Unprocessable",
            r#"{"detail":[{"msg":"field required"}]}"#,
            ModelErrorKind::Refused,
        ),
        ("400 Bad Request", too_long, ModelErrorKind::ContextExceeded),
        ("307 Temporary Redirect", "", ModelErrorKind::NotFound),
    ] {
        let headers = "location: http://127.0.0.1:1/elsewhere\r\n";
        assert_eq!(
            error(Answer::status(status, headers, body)).await.kind(),
            kind,
            "{status}"
        );
    }
}

#[tokio::test]
async fn an_endless_error_body_is_read_up_to_a_bound() {
    let head = "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n";
    let body = "no ".repeat(100_000);
    let error = error(Answer::raw(format!("{head}{body}"), Then::Hang)).await;
    assert_eq!(error.kind(), ModelErrorKind::Auth);
    assert!(shown(&error).len() < 2_000, "{}", shown(&error).len());
}

#[tokio::test]
async fn half_a_character_is_replaced_and_the_reply_kept() {
    let events = "data: {\"choices\":[{\"delta\":{\"content\":\"a\\ud83d\"}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"content\":\"\\ude00b\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let server = Server::answering(vec![Answer::stream(events, Then::Close)]).await;
    assert_eq!(server.reply().await.unwrap().content, "a\u{fffd}\u{fffd}b");
}

#[tokio::test]
async fn an_event_of_a_million_lines_is_malformed() {
    let event = format!("data: {{\"choices\":[0\n{}", "data: ,0\n".repeat(1 << 19));
    let error = error(Answer::stream(&event, Then::Hang)).await;
    assert_eq!(error.kind(), ModelErrorKind::Malformed);
    assert!(
        shown(&error).contains("bytes in one event"),
        "{}",
        shown(&error)
    );
}

#[tokio::test]
async fn a_body_that_is_not_an_event_stream_is_malformed() {
    let html = "<!doctype html><title>Log in</title>";
    for answer in [
        Answer::status("200 OK", "content-type: text/html\r\n", html),
        Answer::status(
            "200 OK",
            JSON,
            r#"{"choices":[{"delta":{"content":"hi"}}]}"#,
        ),
        Answer::status("200 OK", JSON, r#"{"choices":[{"message":"hi"}]}"#),
        Answer::status("200 OK", JSON, r#"{"choices":[{"mess"#),
        Answer::status("200 OK", JSON, "[]"),
        Answer::status("200 OK", JSON, "{}"),
        Answer::status(
            "200 OK",
            JSON,
            &format!("{{\"x\":\"{}", "x".repeat(2 << 20)),
        ),
        Answer::status("200 OK", "", html),
        Answer::stream(html, Then::Close),
        Answer::stream("data: {\"choices\": [{\"delta\": {\"cont\n\n", Then::Hang),
        Answer::stream("data: nonsense\n\n", Then::Close),
        Answer::stream("data: 7\n\n", Then::Close),
        Answer::stream(
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"{}\"}}]}}]}\n\n",
            Then::Close,
        ),
    ] {
        let error = error(answer).await;
        assert_eq!(error.kind(), ModelErrorKind::Malformed, "{}", shown(&error));
    }
    let invalid = [STREAM.as_bytes(), b"data: \xff\xfe{}\n\n", HELLO.as_bytes()].concat();
    assert_eq!(
        error(Answer::raw(invalid, Then::Close)).await.kind(),
        ModelErrorKind::Malformed
    );
}

#[tokio::test]
async fn a_whole_reply_in_json_is_accepted_and_its_error_reported() {
    let body = r#"
        {"id":"c-1", "model":"m", "choices":[{"index":0, "message":{"role":"assistant", "content":"hi", "tool_calls":[
            {"id":"a", "type":"function", "function":{"name":"say", "arguments":"{}"}},
            {"id":"b", "type":"function", "function":{"name":"look", "arguments":"{\"n\":1}"}}]}}],
         "usage":{"prompt_tokens":3, "completion_tokens":2}}"#;
    for answer in [
        Answer::status("200 OK", JSON, body),
        Answer::status("200 OK", JSON, body).bytes(),
        Answer::stream(body, Then::Close),
    ] {
        let server = Server::answering(vec![answer]).await;
        let reply = server.reply().await.unwrap();
        assert_eq!(reply.content, "hi");
        let calls = reply.tool_calls.iter();
        let calls: Vec<_> = calls
            .map(|call| (call.id.as_str(), &*call.name, &*call.arguments))
            .collect();
        assert_eq!(calls, [("a", "say", "{}"), ("b", "look", "{\"n\":1}")]);
        assert_eq!(reply.finish, dormouse_contracts::FinishReason::ToolCalls);
        assert_eq!(reply.usage.unwrap().prompt_tokens, 3);
    }
    let slow = r#"{"error":{"message":"slow down","code":429}}"#;
    assert_eq!(
        error(Answer::status("200 OK", JSON, slow)).await.kind(),
        ModelErrorKind::RateLimited(None)
    );
}

#[tokio::test]
async fn a_reply_without_bounds_is_malformed() {
    let line = format!("data: {}", "x".repeat(2 << 20));
    let error_of_line = error(Answer::stream(&line, Then::Hang)).await;
    assert_eq!(error_of_line.kind(), ModelErrorKind::Malformed);
    assert!(
        shown(&error_of_line).contains("bytes in one line"),
        "{}",
        shown(&error_of_line)
    );
    let event = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
        "x".repeat(1 << 16)
    );
    let error_of_text = error(Answer::stream(&event.repeat(5), Then::Hang)).await;
    assert_eq!(error_of_text.kind(), ModelErrorKind::Malformed);
    assert!(
        shown(&error_of_text).contains("262144 bytes"),
        "{}",
        shown(&error_of_text)
    );
}

#[tokio::test]
async fn a_connection_that_ends_before_the_reply_does_is_interrupted() {
    let begun = HELLO
        .split("data: {\"choices\":[{\"finish_reason\":\"stop\"")
        .next()
        .unwrap();
    let cut = &begun[..begun.len() - 9];
    let chunked =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let in_chunk = format!("{chunked}{:x}\r\n{begun}", begun.len() + 100);
    for answer in [
        Answer::stream(begun, Then::Close),
        Answer::stream(cut, Then::Close),
        Answer::stream("", Then::Close),
        Answer::stream("data: [DONE]\n\n", Then::Close),
        Answer::raw(in_chunk, Then::Close),
    ] {
        let error = error(answer).await;
        assert_eq!(
            error.kind(),
            ModelErrorKind::Interrupted,
            "{}",
            shown(&error)
        );
    }
}

#[tokio::test]
async fn an_error_during_a_reply_is_reported() {
    let begun = HELLO
        .split("data: {\"choices\":[{\"finish_reason\":\"stop\"")
        .next()
        .unwrap();
    let broken =
        format!("{begun}data: {{\"error\":{{\"code\":502,\"message\":\"upstream died\"}}}}\n\n");
    let error = error(Answer::stream(&broken, Then::Close)).await;
    assert_eq!(error.kind(), ModelErrorKind::Unavailable);
    assert!(shown(&error).contains("upstream died"), "{}", shown(&error));
}

#[tokio::test]
async fn a_missing_server_is_unreachable_and_a_hung_up_connection_is_unavailable() {
    assert_eq!(
        error(Answer::raw("", Then::Close)).await.kind(),
        ModelErrorKind::Unavailable
    );
    assert_eq!(
        error(Answer::raw("I am no web server.\r\n\r\n", Then::Close))
            .await
            .kind(),
        ModelErrorKind::Unavailable
    );
    let nobody = {
        let server = Server::answering(vec![]).await;
        server.url.clone()
    };
    let error = guarded(complete(&model_at(&nobody), &hello()))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Unreachable);
    assert_eq!(
        error.to_string(),
        "the provider could not be reached (provider local)"
    );
}

#[tokio::test]
async fn a_model_over_tls_needs_no_setup() {
    let model = OpenAiModel::try_new(OpenAiConfig {
        provider: "local".parse().unwrap(),
        base_url: "https://127.0.0.1:1".to_owned(),
        api_key: None,
        model: "tiny".parse().unwrap(),
    });
    let error = guarded(complete(&model.unwrap(), &hello()))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Unreachable);
}

#[test]
fn debug_output_of_a_model_has_its_address_and_not_its_key() {
    let printed = format!("{:?}", model_at("http://127.0.0.1:8080/"));
    assert!(
        printed.contains("http://127.0.0.1:8080/v1/chat/completions\"")
            && printed.contains("Sensitive"),
        "{printed}"
    );
    assert!(!printed.contains("sk-secret-key"), "{printed}");
}

#[tokio::test]
async fn a_413_is_a_refusal_for_a_short_request_and_context_exceeded_for_a_long_one() {
    let too_large = || {
        let body = "<html><title>413 Request Entity Too Large</title></html>";
        Answer::status("413 Payload Too Large", "content-type: text/html\r\n", body)
    };
    let error = error(too_large()).await;
    assert_eq!(error.kind(), ModelErrorKind::Refused);
    assert!(shown(&error).contains("Request Entity Too Large"));

    let server = Server::answering(vec![too_large()]).await;
    let mut long = hello();
    long.messages = vec![Message::User {
        content: "tea ".repeat(64 * 1024),
    }];
    let model = model_at(&server.url);
    let error = complete(&model, &long).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::ContextExceeded);
}

#[tokio::test]
async fn a_413_that_mentions_length_is_context_exceeded_even_for_a_short_request() {
    for message in [
        "This model's maximum context length is 8 tokens",
        "Request too large for model `tiny` on tokens per minute (TPM): Limit 6, Requested 7",
    ] {
        let body = format!(r#"{{"error":{{"message":"{message}"}}}}"#);
        let error = error(Answer::status("413 Payload Too Large", JSON, &body)).await;
        assert_eq!(error.kind(), ModelErrorKind::ContextExceeded, "{message}");
    }
}
