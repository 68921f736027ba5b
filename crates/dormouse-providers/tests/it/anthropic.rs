use std::error::Error;

use dormouse_contracts::{
    ChatReply, ChatRequest, FinishReason, Message, ModelError, ModelErrorKind, OutputFormat,
    RequestField, ToolCall, ToolChoice, ToolDefinition, Usage, complete,
};
use dormouse_providers::{AnthropicConfig, AnthropicModel, Secret};
use serde_json::{Value, json};

use crate::server::{Answer, Seen, Server, Then, guarded, hello};

/// A short reply as Anthropic streams it.
const HELLO: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"tiny-20261101\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":11,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":4,\"output_tokens\":1}}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    "event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Good \"}}\r\n\r\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"day, schöner Tag.\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":4}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
);

const JSON: &str = "content-type: application/json\r\nrequest-id: req_7\r\n";

fn good_day() -> ChatReply {
    ChatReply {
        content: "Good day, schöner Tag.".to_owned(),
        finish: FinishReason::Stop,
        usage: Some(Usage {
            prompt_tokens: 15,
            completion_tokens: 4,
            cached_tokens: 4,
            ..Usage::default()
        }),
        ..ChatReply::default()
    }
}

fn model(base_url: &str, name: &str) -> AnthropicModel {
    AnthropicModel::try_new(AnthropicConfig {
        provider: "anthropic".parse().unwrap(),
        base_url: base_url.to_owned(),
        api_key: Some(Secret::try_new("sk-secret-key").unwrap()),
        model: name.parse().unwrap(),
        output_limit: None,
    })
    .unwrap()
}

async fn ask(server: &Server, request: &ChatRequest) -> Result<ChatReply, ModelError> {
    guarded(complete(&model(&server.url, "tiny"), request)).await
}

/// One reply without its metadata.
async fn reply(server: &Server) -> Result<ChatReply, ModelError> {
    let reply = ask(server, &hello()).await?;
    Ok(ChatReply {
        info: None,
        ..reply
    })
}

/// Head and body of the requests that were made.
fn sent(server: &Server) -> Vec<(String, Value)> {
    let requests = server.requests();
    let parts = requests.iter().map(|sent| {
        let (head, body) = sent.split_once("\r\n\r\n").unwrap();
        (
            head.to_ascii_lowercase(),
            serde_json::from_str(body).unwrap(),
        )
    });
    parts.collect()
}

/// The error that this answer leads to, after exactly one request and without the key in it.
async fn error(answer: Answer) -> ModelError {
    let server = Server::answering(vec![answer]).await;
    let error = reply(&server).await.unwrap_err();
    assert_eq!(server.requests().len(), 1, "it was sent again");
    let shown = format!("{error:?} {error} {}", error.source().unwrap());
    assert!(!shown.contains("sk-secret-key"), "{shown}");
    error
}

fn error_body(kind: &str, message: &str) -> String {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_7"})
        .to_string()
}

#[tokio::test]
async fn a_reply_is_the_same_in_one_piece_and_byte_by_byte() {
    let whole = Answer::stream(HELLO, Then::Hang);
    let single = Answer::stream(HELLO, Then::Close).bytes();
    let server = Server::answering(vec![single, whole]).await;
    assert_eq!(reply(&server).await.unwrap(), good_day());
    assert_eq!(reply(&server).await.unwrap(), good_day());
}

#[tokio::test]
async fn a_request_carries_key_version_and_limit_to_the_one_path_of_every_base() {
    let answers = std::iter::repeat_with(|| Answer::stream(HELLO, Then::Close));
    let server = Server::answering(answers.take(6).collect()).await;
    for (below, path) in [
        ("", "/v1/messages"),
        ("/", "/v1/messages"),
        ("/v1", "/v1/messages"),
        ("/v1/messages", "/v1/messages"),
        ("/anthropic", "/anthropic/v1/messages"),
        ("/anthropic/v1/messages/", "/anthropic/v1/messages"),
    ] {
        let model = model(&format!("{}{below}", server.url), "tiny");
        guarded(complete(&model, &hello())).await.unwrap();
        let (head, body) = sent(&server).pop().unwrap();
        assert!(
            head.starts_with(&format!("post {path} http/1.1\r\n")),
            "{head}"
        );
        assert!(head.contains("\r\nx-api-key: sk-secret-key\r\n"), "{head}");
        assert!(head.contains("\r\nanthropic-version: 2023-06-01"), "{head}");
        assert!(!head.contains("authorization"), "{head}");
        assert_eq!(
            body,
            json!({
                "model": "tiny", "stream": true, "max_tokens": 4096,
                "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello?"}]}],
            })
        );
    }
}

#[tokio::test]
async fn all_reply_metadata_is_reported() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_7\r\nanthropic-ratelimit-requests-remaining: 9\r\nconnection: close\r\n\r\n";
    let answer = Answer::raw(format!("{head}{HELLO}"), Then::Close);
    let server = Server::answering(vec![answer, Answer::stream(HELLO, Then::Close)]).await;
    let mut request = hello();
    request.output = OutputFormat::Json;
    let info = ask(&server, &request).await.unwrap().info.unwrap();
    assert_eq!(info.request_id.as_deref(), Some("req_7"));
    assert_eq!(info.served_model.as_deref(), Some("tiny-20261101"));
    assert_eq!(info.rate_limits.requests.unwrap().remaining, Some(9));
    assert_eq!(info.left_out, [RequestField::Output]);
    let without_header = ask(&server, &hello()).await.unwrap().info.unwrap();
    assert_eq!(without_header.request_id.as_deref(), Some("msg_1"));
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_goes_back() {
    let event = |event: Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    // llama-server leaves out the input, and begins a block before the end of the one before it.
    let events = [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "toolu.1", "name": "world_say"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{ \"m"}}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "toolu.2", "name": "world_say"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "\": 1}"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}}),
        json!({"type": "message_stop"}),
    ];
    let calling: String = events.into_iter().map(event).collect();
    let server = Server::answering(vec![
        Answer::stream(&calling, Then::Close).bytes(),
        Answer::stream(HELLO, Then::Close),
    ])
    .await;
    let mut request = hello();
    request.tools = vec![ToolDefinition {
        name: "world.say".parse().unwrap(),
        description: "Says it.".to_owned(),
        parameters: json!({"type": "object"}),
    }]
    .into();
    let called = ask(&server, &request).await.unwrap();
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.parse().unwrap(),
        name: "world.say".to_owned(),
        arguments: arguments.to_owned(),
    };
    assert_eq!(
        called.tool_calls,
        [call("toolu.1", "{ \"m\": 1}"), call("toolu.2", "{}")]
    );
    assert_eq!(
        (called.finish, called.usage),
        (FinishReason::ToolCalls, None)
    );
    let results = called.tool_calls.iter().map(|call| Message::Tool {
        call_id: call.id.clone(),
        content: "done".to_owned(),
    });
    let results: Vec<_> = results.collect();
    request.messages.push(Message::Assistant {
        content: called.content,
        tool_calls: called.tool_calls,
    });
    request.messages.extend(results);
    ask(&server, &request).await.unwrap();
    let (_, body) = sent(&server).pop().unwrap();
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "done"});
    let used = |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "world_say", "input": input});
    assert_eq!(
        body["messages"].as_array().unwrap()[1..],
        [
            json!({"role": "assistant", "content": [
                used("dm_toolu_2e1", json!({"m": 1})), used("dm_toolu_2e2", json!({})),
            ]}),
            json!({"role": "user", "content": [result("dm_toolu_2e1"), result("dm_toolu_2e2")]}),
        ]
    );
}

#[tokio::test]
async fn every_error_body_has_a_kind() {
    for (status, kind, message, expected) in [
        (
            "400 Bad Request",
            "invalid_request_error",
            "messages: at least one message is required",
            ModelErrorKind::Refused,
        ),
        (
            "400 Bad Request",
            "invalid_request_error",
            "prompt is too long: 201000 tokens > 200000 maximum",
            ModelErrorKind::ContextExceeded,
        ),
        (
            "400 Bad Request",
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
            ModelErrorKind::Auth,
        ),
        (
            "401 Unauthorized",
            "authentication_error",
            "invalid x-api-key: sk-secret-key",
            ModelErrorKind::Auth,
        ),
        (
            "402 Payment Required",
            "billing_error",
            "no money",
            ModelErrorKind::Auth,
        ),
        (
            "403 Forbidden",
            "permission_error",
            "not with this key",
            ModelErrorKind::Auth,
        ),
        (
            "404 Not ChoiceReason",
            "not_found_error",
            "model: tiny",
            ModelErrorKind::NotFound,
        ),
        (
            "413 Payload Too Large",
            "request_too_large",
            "too large",
            ModelErrorKind::Refused,
        ),
        (
            "429 Too Many Requests",
            "rate_limit_error",
            "slow down",
            ModelErrorKind::RateLimited(None),
        ),
        (
            "500 Internal Server Error",
            "api_error",
            "oops",
            ModelErrorKind::Unavailable,
        ),
        (
            "504 Gateway Timeout",
            "timeout_error",
            "too slow",
            ModelErrorKind::Unavailable,
        ),
        (
            "529 Overloaded",
            "overloaded_error",
            "Overloaded",
            ModelErrorKind::Unavailable,
        ),
    ] {
        let error = error(Answer::status(status, JSON, &error_body(kind, message))).await;
        assert_eq!(error.kind(), expected, "{status}");
        assert_eq!(error.request_id(), Some("req_7"));
        assert!(
            error.source().unwrap().to_string().contains(kind),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_reply_without_its_end_is_interrupted() {
    let begun = HELLO.split("event: message_delta").next().unwrap();
    let overloaded = format!(
        "{begun}event: error\ndata: {}\n\n",
        error_body("overloaded_error", "Overloaded")
    );
    for (events, expected) in [
        (begun, ModelErrorKind::Interrupted),
        (
            &HELLO[..HELLO.find("\"stop_reason\":\"end_turn").unwrap()],
            ModelErrorKind::Interrupted,
        ),
        (&overloaded, ModelErrorKind::Unavailable),
        (
            "event: message_start\ndata: <html>\n\n",
            ModelErrorKind::Malformed,
        ),
        ("<html>sk-secret-key</html>", ModelErrorKind::Malformed),
        ("", ModelErrorKind::Interrupted),
    ] {
        let error = error(Answer::stream(events, Then::Close)).await;
        assert_eq!(error.kind(), expected, "{events}");
    }
    for (body, expected) in [
        ("{}", ModelErrorKind::Malformed),
        (r#"{"type":"message_stop"}"#, ModelErrorKind::Malformed),
        (
            r#"{"type":"message","content":[{"typ"#,
            ModelErrorKind::Malformed,
        ),
        (
            r#"{"type":"message","content":[{"type":"tool_use","id":"a"}]}"#,
            ModelErrorKind::Malformed,
        ),
    ] {
        let error = error(Answer::status("200 OK", JSON, body)).await;
        assert_eq!(error.kind(), expected, "{body}");
    }
    let plain = Answer::status("200 OK", JSON, &error_body("api_error", "sk-secret-key"));
    assert_eq!(error(plain).await.kind(), ModelErrorKind::Unavailable);
}

#[tokio::test]
async fn an_unsupported_field_is_left_out_of_later_requests() {
    let refused = |message: &str| {
        let body = error_body("invalid_request_error", message);
        Answer::status("400 Bad Request", JSON, &body)
    };
    let hello_again = || Answer::stream(HELLO, Then::Close);
    let server = Server::answering(vec![
        refused("`temperature` is deprecated for this model."),
        refused("output_config: Extra inputs are not permitted"),
        refused("tool_choice: type \"tool\" and \"any\" are not supported for this model."),
        hello_again(),
        hello_again(),
    ])
    .await;
    let model = model(&server.url, "claude-fable-5-1");
    let mut request = hello();
    request.temperature = Some(0.5);
    request.tools = vec![ToolDefinition {
        name: "say".parse().unwrap(),
        description: "Says it.".to_owned(),
        parameters: json!({"type": "object"}),
    }]
    .into();
    request.tool_choice = ToolChoice::Required;
    request.output = OutputFormat::Schema {
        name: "answer".to_owned(),
        schema: json!({"type": "object"}),
    };
    for _ in 0..2 {
        let reply = guarded(complete(&model, &request)).await.unwrap();
        assert_eq!(
            reply.info.unwrap().left_out,
            [
                RequestField::ToolChoice,
                RequestField::Temperature,
                RequestField::Output
            ]
        );
    }
    let shown = sent(&server);
    let fields = shown.iter().map(|(_, body)| {
        let has = |name| body.get(name).is_some();
        [has("temperature"), has("output_config"), has("tool_choice")]
    });
    let fields: Vec<_> = fields.collect();
    assert_eq!(
        fields,
        [
            [true, true, true],
            [false, true, true],
            [false, false, true],
            [false, false, false],
            [false, false, false],
        ]
    );
    assert_eq!(shown[3].1["max_tokens"], 128_000);
}

#[tokio::test]
async fn dropping_a_reply_closes_its_connection() {
    let begun = HELLO.split("event: message_delta").next().unwrap();
    let mut server = Server::answering(vec![Answer::stream(begun, Then::Hang)]).await;
    let model = model(&server.url, "tiny");
    let request = hello();
    let mut reply = dormouse_contracts::ChatModel::stream(&model, &request);
    let first = guarded(std::future::poll_fn(|cx| reply.as_mut().poll_next(cx))).await;
    assert!(first.unwrap().is_ok());
    drop(reply);
    server.until(Seen::Closed).await;
}

#[tokio::test]
async fn it_keeps_the_promises_of_the_port() {
    let answers = std::iter::repeat_with(|| Answer::stream(HELLO, Then::Close));
    let server = Server::answering(answers.take(8).collect()).await;
    let model = model(&server.url, "tiny");
    guarded(dormouse_testing::conformance::chat_model(&model, hello())).await;
    let shown = format!("{model:?}");
    assert!(
        shown.contains("/v1/messages") && !shown.contains("sk-secret-key"),
        "{shown}"
    );
}
