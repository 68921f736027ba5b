use dormouse_contracts::{
    ChatReply, FinishReason, ToolCall, ToolChoice, ToolDefinition, ToolName, Usage, complete,
};
use dormouse_providers::{OpenAiConfig, OpenAiModel};
use serde_json::{Value, json};

use crate::server::{Answer, Server, Then, guarded, hello};

/// A short reply as llama-server streams it, with its anomalies.
pub(crate) const HELLO: &str = concat!(
    ": a comment\n\n",
    "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}],\"created\":1,\"id\":\"chatcmpl-1\",\"model\":\"tiny\",\"object\":\"chat.completion.chunk\"}\n\n",
    "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\"Good \"}}]}\r\n\r\n",
    "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\"day, schöner Tag.\"}}]}\n\n",
    "data: {\"choices\":[{\"finish_reason\":\"stop\",\"index\":0,\"delta\":{}}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"completion_tokens\":4,\"prompt_tokens\":11,\"total_tokens\":15},\"timings\":{\"prompt_n\":11}}\n\n",
    "data: [DONE]\n\n",
);

fn good_day() -> ChatReply {
    ChatReply {
        content: "Good day, schöner Tag.".to_owned(),
        tool_calls: vec![],
        finish: FinishReason::Stop,
        usage: Some(Usage {
            prompt_tokens: 11,
            completion_tokens: 4,
            ..Usage::default()
        }),
        ..ChatReply::default()
    }
}

#[tokio::test]
async fn a_reply_is_the_same_in_one_piece_and_byte_by_byte() {
    let whole = Answer::stream(HELLO, Then::Close);
    let single = Answer::stream(HELLO, Then::Close).bytes();
    let server = Server::answering(vec![whole, single]).await;
    assert_eq!(server.reply().await.unwrap(), good_day());
    assert_eq!(server.reply().await.unwrap(), good_day());
}

#[tokio::test]
async fn a_reply_needs_no_end_of_the_connection_and_no_usage() {
    let without_usage = HELLO
        .split_inclusive("\n\n")
        .filter(|event| !event.contains("usage"));
    let hanging = Answer::stream(&without_usage.collect::<String>(), Then::Hang);
    let server = Server::answering(vec![hanging]).await;
    let expected = ChatReply {
        usage: None,
        ..good_day()
    };
    assert_eq!(server.reply().await.unwrap(), expected);
}

#[tokio::test]
async fn a_connection_that_breaks_after_the_finish_loses_nothing() {
    let finished = HELLO.split("data: {\"choices\":[]").next().unwrap();
    let chunk = format!("{:x}\r\n{finished}\r\n5\r\ndat", finished.len());
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let server = Server::answering(vec![Answer::raw(format!("{head}{chunk}"), Then::Close)]).await;
    assert_eq!(
        server.reply().await.unwrap(),
        ChatReply {
            usage: None,
            ..good_day()
        }
    );
}

#[tokio::test]
async fn parallel_tool_calls_arrive_whole_and_apart() {
    let event = |delta: &Value| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": delta}]})
        )
    };
    let calls = |calls: Value| event(&json!({ "tool_calls": calls }));
    let events = [
        calls(json!([{"index": 0, "id": "a", "type": "function", "function": {"name": "recall", "arguments": "{"}}])),
        calls(json!([{"index": 1, "id": "b", "type": "function", "function": {"name": "say", "arguments": ""}}])),
        calls(json!([{"index": 0, "function": {"arguments": "\"query\": \"tea\"}"}}])),
        calls(json!([{"index": 1, "function": {"arguments": "{\"message\":\"hm\"}"}}])),
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n".to_owned(),
    ];
    let server =
        Server::answering(vec![Answer::stream(&events.concat(), Then::Close).bytes()]).await;
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.parse().unwrap(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    assert_eq!(
        server.reply().await.unwrap(),
        ChatReply {
            content: String::new(),
            tool_calls: vec![
                call("a", "recall", "{\"query\": \"tea\"}"),
                call("b", "say", "{\"message\":\"hm\"}")
            ],
            finish: FinishReason::ToolCalls,
            usage: None,
            ..ChatReply::default()
        }
    );
}

#[tokio::test]
async fn a_request_carries_key_model_and_tools_to_the_versioned_path() {
    let server = Server::answering(vec![Answer::stream(HELLO, Then::Close)]).await;
    let mut request = hello();
    request.tools = vec![ToolDefinition {
        name: ToolName::try_new("say").unwrap(),
        description: "Says it.".to_owned(),
        parameters: json!({"type": "object"}),
    }]
    .into();
    request.tool_choice = ToolChoice::Required;
    request.max_tokens = Some(64);
    guarded(complete(&server.model(), &request)).await.unwrap();
    let [sent] = &server.requests()[..] else {
        panic!("not one request")
    };
    let (head, body) = sent.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(
        head.to_ascii_lowercase()
            .contains("authorization: bearer sk-secret-key"),
        "{head}"
    );
    assert_eq!(
        head.to_ascii_lowercase().matches("authorization").count(),
        1,
        "{head}"
    );
    assert!(
        !head.to_ascii_lowercase().contains("openai-"),
        "no organisation of somebody's environment: {head}"
    );
    assert_eq!(
        serde_json::from_str::<Value>(body).unwrap(),
        json!({
            "model": "tiny", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 64,
            "messages": [{"role": "user", "content": "Hello?"}], "tool_choice": "required",
            "tools": [{"type": "function", "function": {
                "name": "say", "description": "Says it.", "parameters": {"type": "object"}
            }}],
        })
    );
}

#[tokio::test]
async fn without_a_key_no_key_header_is_sent() {
    let server = Server::answering(vec![Answer::stream(HELLO, Then::Close)]).await;
    let model = OpenAiModel::try_new(OpenAiConfig {
        provider: "local".parse().unwrap(),
        base_url: server.url.clone(),
        api_key: None,
        model: "tiny".parse().unwrap(),
    })
    .unwrap();
    guarded(complete(&model, &hello())).await.unwrap();
    assert!(
        !server.requests()[0]
            .to_ascii_lowercase()
            .contains("authorization")
    );
}

#[tokio::test]
async fn it_keeps_the_promises_of_the_port() {
    let answers = std::iter::repeat_with(|| Answer::stream(HELLO, Then::Close));
    let server = Server::answering(answers.take(8).collect()).await;
    guarded(dormouse_testing::conformance::chat_model(
        &server.model(),
        hello(),
    ))
    .await;
}
