use dormouse_contracts::{
    ChatReply, ChatRequest, FinishReason, ModelError, ModelErrorKind, ReasoningEffort,
    RequestField, ToolDefinition, Usage, complete,
};
use dormouse_providers::{OllamaConfig, OllamaModel, OllamaModelConfig, Secret};
use serde_json::{Value, json};

use crate::server::{Answer, Seen, Server, Then, guarded, hello};

/// A short reply as Ollama streams it.
const HELLO: &str = concat!(
    r#"{"model":"tiny","created_at":"2026-11-20T10:00:00.1Z","message":{"role":"assistant","content":"","thinking":"A greeting."},"done":false}"#,
    "\n",
    r#"{"model":"tiny","created_at":"2026-11-20T10:00:00.2Z","message":{"role":"assistant","content":"Good "},"done":false}"#,
    "\n",
    r#"{"model":"tiny","created_at":"2026-11-20T10:00:00.3Z","message":{"role":"assistant","content":"day, schöner Tag."},"done":false}"#,
    "\n",
    r#"{"model":"tiny","created_at":"2026-11-20T10:00:00.4Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":4883583458,"prompt_eval_count":11,"eval_count":4}"#,
    "\n",
);

const NDJSON: &str = "content-type: application/x-ndjson\r\n";
const JSON: &str = "content-type: application/json; charset=utf-8\r\n";

fn good_day() -> ChatReply {
    ChatReply {
        content: "Good day, schöner Tag.".to_owned(),
        reasoning: "A greeting.".to_owned(),
        finish: FinishReason::Stop,
        usage: Some(Usage {
            prompt_tokens: 11,
            completion_tokens: 4,
            ..Usage::default()
        }),
        ..ChatReply::default()
    }
}

/// A stream of lines whose end is the end of the connection.
fn lines(lines: &str, then: Then) -> Answer {
    let head = format!("HTTP/1.1 200 OK\r\n{NDJSON}connection: close\r\n\r\n");
    Answer::raw(head + lines, then)
}

fn model(server: &Server) -> OllamaModel {
    let at = OllamaConfig {
        base_url: server.url.clone(),
        api_key: Some(Secret::try_new("sk-secret-key").unwrap()),
        model: "tiny".parse().unwrap(),
    };
    OllamaModel::try_new(OllamaModelConfig::from(at)).unwrap()
}

async fn reply(model: &OllamaModel, request: &ChatRequest) -> Result<ChatReply, ModelError> {
    guarded(complete(model, request)).await
}

/// The same without its metadata.
async fn said(server: &Server) -> Result<ChatReply, ModelError> {
    let reply = reply(&model(server), &hello()).await?;
    Ok(ChatReply {
        info: None,
        ..reply
    })
}

/// The body of a request that the server got.
fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

fn with_tools() -> ChatRequest {
    ChatRequest {
        tools: vec![ToolDefinition {
            name: "say".parse().unwrap(),
            description: "Says it.".to_owned(),
            parameters: json!({"type": "object"}),
        }]
        .into(),
        ..hello()
    }
}

#[tokio::test]
async fn a_reply_is_the_same_in_one_piece_and_byte_by_byte() {
    let whole = lines(HELLO, Then::Close);
    let single = lines(HELLO, Then::Close).bytes();
    let endless = lines(HELLO, Then::Hang);
    let without_an_end = lines(HELLO.trim_end(), Then::Close);
    let server = Server::answering(vec![whole, single, without_an_end, endless]).await;
    for _ in 0..4 {
        assert_eq!(said(&server).await.unwrap(), good_day());
    }
}

#[tokio::test]
async fn a_request_goes_to_ollamas_own_path_with_the_key_and_names_the_model() {
    let server = Server::answering(vec![lines(HELLO, Then::Close)]).await;
    let shown = reply(&model(&server), &hello()).await.unwrap();
    let info = shown.info.unwrap();
    assert_eq!(
        (info.provider.as_str(), info.model.as_str()),
        ("ollama", "tiny")
    );
    assert_eq!(info.served_model.as_deref(), Some("tiny"));
    let [sent] = &server.requests()[..] else {
        panic!("not one request")
    };
    let head = sent.to_ascii_lowercase();
    assert!(head.starts_with("post /api/chat http/1.1\r\n"), "{head}");
    assert!(
        head.contains("authorization: bearer sk-secret-key"),
        "{head}"
    );
    assert_eq!(
        body(sent),
        json!({
            "model": "tiny", "stream": true, "truncate": false, "shift": false,
            "messages": [{"role": "user", "content": "Hello?"}],
        })
    );
}

#[tokio::test]
async fn tools_are_left_out_after_the_first_rejection_and_reported() {
    let refusal = r#"{"error":"registry.ollama.ai/library/tiny:latest does not support tools"}"#;
    let refused = Answer::status("400 Bad Request", JSON, refusal);
    let (first, second) = (lines(HELLO, Then::Close), lines(HELLO, Then::Close));
    let server = Server::answering(vec![refused, first, second]).await;
    let model = model(&server);
    for _ in 0..2 {
        let reply = reply(&model, &with_tools()).await.unwrap();
        assert_eq!(reply.info.unwrap().left_out, [RequestField::Tools]);
    }
    let sent = server.requests();
    let offered = sent.iter().map(|sent| body(sent).get("tools").is_some());
    assert_eq!(offered.collect::<Vec<_>>(), [true, false, false]);
}

#[tokio::test]
async fn thinking_is_left_out_for_a_model_without_it_and_reported() {
    for refusal in [
        r#"{"error":"\"tiny\" does not support thinking"}"#,
        r#"{"error":"think value \"low\" is not supported for this model"}"#,
    ] {
        let refused = Answer::status("400 Bad Request", JSON, refusal);
        let server = Server::answering(vec![refused, lines(HELLO, Then::Close)]).await;
        let request = ChatRequest {
            reasoning_effort: Some(ReasoningEffort::Low),
            ..hello()
        };
        let reply = reply(&model(&server), &request).await.unwrap();
        let left_out = reply.info.unwrap().left_out;
        assert_eq!(left_out, [RequestField::ReasoningEffort], "{refusal}");
    }
}

#[tokio::test]
async fn every_rejection_has_its_kind_and_message_without_the_key() {
    let too_long = r#"{"error":"{\"error\":{\"code\":400,\"message\":\"request (8889 tokens) exceeds the available context size (4096 tokens), try increasing it\",\"type\":\"exceed_context_size_error\"}}"}"#;
    for (status, body, kind, words) in [
        (
            "404 Not ChoiceReason",
            r#"{"error":"model 'tiny' not found, try pulling it first; sk-secret-key"}"#,
            ModelErrorKind::NotFound,
            "try pulling it first; ***",
        ),
        (
            "400 Bad Request",
            too_long,
            ModelErrorKind::ContextExceeded,
            "request (8889 tokens) exceeds",
        ),
        (
            "500 Internal Server Error",
            r#"{"error":"model requires more system memory (5.6 GiB) than is available (2.1 GiB)"}"#,
            ModelErrorKind::Unavailable,
            "more system memory",
        ),
        (
            "503 Service Unavailable",
            r#"{"error":"server busy, please try again.  maximum pending requests exceeded"}"#,
            ModelErrorKind::Unavailable,
            "server busy",
        ),
        (
            "401 Unauthorized",
            r#"{"error":"unauthorized"}"#,
            ModelErrorKind::Auth,
            "unauthorized",
        ),
    ] {
        let server = Server::answering(vec![Answer::status(status, JSON, body)]).await;
        let error = said(&server).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{status}");
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(
            cause.contains(words) && !cause.contains("sk-secret"),
            "{cause}"
        );
    }
}

#[tokio::test]
async fn incomplete_and_invalid_replies_have_their_kind() {
    let begun: String = HELLO.split_inclusive('\n').take(2).collect();
    let broken =
        format!("{begun}{{\"error\":\"an error was encountered while running the model\"}}\n");
    for (answer, kind) in [
        (lines(&begun, Then::Close), ModelErrorKind::Interrupted),
        (lines(&broken, Then::Close), ModelErrorKind::Interrupted),
        (lines("", Then::Close), ModelErrorKind::Interrupted),
        (
            lines("<html>no</html>\n", Then::Close),
            ModelErrorKind::Malformed,
        ),
        (lines("\u{1}\n", Then::Close), ModelErrorKind::Malformed),
        (
            Answer::status("200 OK", "content-type: text/html\r\n", "<html>"),
            ModelErrorKind::Malformed,
        ),
        (
            Answer::status("200 OK", NDJSON, r#"{"message":{"content":"cut"#),
            ModelErrorKind::Interrupted,
        ),
    ] {
        let server = Server::answering(vec![answer]).await;
        assert_eq!(said(&server).await.unwrap_err().kind(), kind);
        assert_eq!(server.requests().len(), 1, "it was sent again");
    }
}

#[tokio::test]
async fn dropping_the_reply_closes_the_connection() {
    let begun: String = HELLO.split_inclusive('\n').take(2).collect();
    let mut server = Server::answering(vec![lines(&begun, Then::Hang)]).await;
    let model = model(&server);
    let request = hello();
    let waiting = complete(&model, &request);
    tokio::select! {
        _ = waiting => panic!("it is not finished"),
        () = server.until(Seen::Request) => {}
    }
    server.until(Seen::Closed).await;
}

#[tokio::test]
async fn it_keeps_the_promises_of_the_port() {
    let answers = std::iter::repeat_with(|| lines(HELLO, Then::Close));
    let server = Server::answering(answers.take(8).collect()).await;
    guarded(dormouse_testing::conformance::chat_model(
        &model(&server),
        hello(),
    ))
    .await;
}
