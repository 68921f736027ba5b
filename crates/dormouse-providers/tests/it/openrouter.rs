//! OpenRouter.

use std::time::Duration;

use dormouse_contracts::{
    ChatRequest, Message, ModelErrorKind, ModelName, ProviderId, ReasoningEffort, Usd, complete,
};
use dormouse_providers::{DataCollection, OpenRouterConfig, OpenRouterModel, Routing, Secret};
use serde_json::{Value, json};

use crate::server::{Answer, Server, Then, guarded, hello};

/// A reply as OpenRouter streams it.
const REPLY: &str = concat!(
    ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n",
    "data: {\"id\":\"gen-1\",\"provider\":\"Anthropic\",\"model\":\"anthropic/claude-x\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"reasoning\":\"hm\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"hm\"}]},\"finish_reason\":null,\"native_finish_reason\":null}]}\n\n",
    "data: {\"id\":\"gen-1\",\"provider\":\"Anthropic\",\"model\":\"anthropic/claude-x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Good day.\"},\"finish_reason\":null,\"native_finish_reason\":null}]}\n\n",
    "data: {\"id\":\"gen-1\",\"provider\":\"Anthropic\",\"model\":\"anthropic/claude-x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"stop\",\"native_finish_reason\":\"end_turn\"}]}\n\n",
    "data: {\"id\":\"gen-1\",\"choices\":[],\"usage\":{\"prompt_tokens\":30,\"completion_tokens\":9,\"cost\":0.00125,\"prompt_tokens_details\":{\"cached_tokens\":20},\"completion_tokens_details\":{\"reasoning_tokens\":4}}}\n\n",
    "data: [DONE]\n\n",
);

fn config(url: &str, model: &str) -> OpenRouterConfig {
    OpenRouterConfig {
        base_url: format!("{url}/api/v1"),
        ..OpenRouterConfig::new(
            ProviderId::try_new("openrouter").unwrap(),
            Secret::try_new("sk-or-secret").unwrap(),
            ModelName::try_new(model).unwrap(),
        )
    }
}

#[tokio::test]
async fn a_reply_reports_its_price_and_provider() {
    let server = Server::answering(vec![Answer::stream(REPLY, Then::Close).bytes()]).await;
    let model = OpenRouterModel::try_new(config(&server.url, "openrouter/auto")).unwrap();
    let reply = guarded(complete(&model, &hello())).await.unwrap();
    assert_eq!(
        (reply.content.as_str(), reply.reasoning.as_str()),
        ("Good day.", "hm")
    );
    let usage = reply.usage.unwrap();
    assert_eq!(usage.cost, Usd::from_dollars(0.00125));
    assert_eq!((usage.cached_tokens, usage.reasoning_tokens), (20, 4));
    let info = reply.info.unwrap();
    assert_eq!(info.model.as_str(), "openrouter/auto");
    assert_eq!(info.served_model.as_deref(), Some("anthropic/claude-x"));
    assert_eq!(info.request_id.as_deref(), Some("gen-1"));
}

#[tokio::test]
async fn a_request_has_app_headers_routing_and_cache_marks() {
    let server = Server::answering(vec![Answer::stream(REPLY, Then::Close)]).await;
    let model = OpenRouterModel::try_new(OpenRouterConfig {
        site_url: "https://example.com".to_owned(),
        routing: Routing {
            models: vec![ModelName::try_new("openai/gpt-x").unwrap()],
            data_collection: DataCollection::Denied,
            ..Routing::default()
        },
        ..config(&server.url, "anthropic/claude-x")
    })
    .unwrap();
    let request = ChatRequest {
        messages: vec![
            Message::System {
                content: "You are Dormouse.".to_owned(),
            },
            Message::User {
                content: "Hello?".to_owned(),
            },
        ],
        stable_messages: 1,
        max_tokens: Some(9),
        reasoning_effort: Some(ReasoningEffort::Low),
        ..ChatRequest::default()
    };
    guarded(complete(&model, &request)).await.unwrap();
    let sent = server.requests().remove(0);
    let (head, body) = sent.split_once("\r\n\r\n").unwrap();
    let head = head.to_ascii_lowercase();
    assert!(
        head.starts_with("post /api/v1/chat/completions http/1.1"),
        "{head}"
    );
    for line in [
        "authorization: bearer sk-or-secret",
        "x-title: dormouse",
        "http-referer: https://example.com",
    ] {
        assert!(
            head.contains(&format!("\r\n{line}\r\n")) || head.ends_with(&format!("\r\n{line}")),
            "{line}: {head}"
        );
    }
    assert_eq!(
        serde_json::from_str::<Value>(body).unwrap(),
        json!({
            "model": "anthropic/claude-x", "models": ["anthropic/claude-x", "openai/gpt-x"], "stream": true,
            "usage": {"include": true}, "max_tokens": 9, "reasoning": {"effort": "low"},
            "provider": {"data_collection": "deny"},
            "messages": [
                {"role": "system", "content": [
                    {"type": "text", "text": "You are Dormouse.", "cache_control": {"type": "ephemeral"}}
                ]},
                {"role": "user", "content": "Hello?"},
            ],
        })
    );
}

#[tokio::test]
async fn every_openrouter_rejection_has_its_kind() {
    let json = "content-type: application/json\r\n";
    let limited = "content-type: application/json\r\ndate: Sat, 21 Nov 2026 10:15:00 GMT\r\nretry-after: 7\r\nx-ratelimit-limit: 20\r\nx-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1795256160000\r\n";
    for (status, headers, body, kind) in [
        (
            "402 Payment Required",
            json,
            r#"{"error":{"code":402,"message":"Insufficient credits"}}"#,
            ModelErrorKind::Auth,
        ),
        (
            "403 Forbidden",
            json,
            r#"{"error":{"code":403,"message":"flagged","metadata":{"reasons":["violence"],"flagged_input":"x","provider_name":"OpenAI"}}}"#,
            ModelErrorKind::Refused,
        ),
        (
            "429 Too Many Requests",
            limited,
            r#"{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"temporarily rate-limited upstream","provider_name":"X"}}}"#,
            ModelErrorKind::RateLimited(Some(Duration::from_secs(7))),
        ),
        (
            "503 Service Unavailable",
            json,
            r#"{"error":{"code":503,"message":"No instances available"}}"#,
            ModelErrorKind::Unavailable,
        ),
        (
            "502 Bad Gateway",
            json,
            r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"<html>"}}}"#,
            ModelErrorKind::Unavailable,
        ),
        (
            "404 Not ChoiceReason",
            json,
            r#"{"error":{"code":404,"message":"No endpoints found for a/b."}}"#,
            ModelErrorKind::NotFound,
        ),
    ] {
        let server = Server::answering(vec![Answer::status(status, headers, body)]).await;
        let model = OpenRouterModel::try_new(config(&server.url, "a/b")).unwrap();
        let error = guarded(complete(&model, &hello())).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{status}");
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn an_error_during_a_reply_keeps_its_kind() {
    let begun = REPLY
        .split("data: {\"id\":\"gen-1\",\"choices\":[]")
        .next()
        .unwrap();
    let begun = begun.rsplit_once("data: ").unwrap().0;
    for (event, kind) in [
        (
            json!({"id": "gen-1", "error": {"code": 502, "message": "died"}, "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]}),
            ModelErrorKind::Unavailable,
        ),
        (
            json!({"id": "gen-1", "error": {"code": "server_error", "message": "died"}, "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]}),
            ModelErrorKind::Unavailable,
        ),
        (
            json!({"id": "gen-1", "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error", "native_finish_reason": "MALFORMED_FUNCTION_CALL"}]}),
            ModelErrorKind::Interrupted,
        ),
    ] {
        let events = format!("{begun}data: {event}\n\ndata: [DONE]\n\n");
        let server = Server::answering(vec![Answer::stream(&events, Then::Close)]).await;
        let model = OpenRouterModel::try_new(config(&server.url, "a/b")).unwrap();
        let error = guarded(complete(&model, &hello())).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{event}");
    }
}

#[tokio::test]
async fn debug_output_of_a_model_is_short_and_has_no_key() {
    let model = OpenRouterModel::try_new(config("http://127.0.0.1:1", "a/b")).unwrap();
    let printed = format!("{model:?} {:?}", config("http://127.0.0.1:1", "a/b"));
    assert!(
        printed.contains("/api/v1/chat/completions") && !printed.contains("sk-or"),
        "{printed}"
    );
}

#[tokio::test]
async fn it_keeps_the_promises_of_the_port() {
    let answers = std::iter::repeat_with(|| Answer::stream(REPLY, Then::Close));
    let server = Server::answering(answers.take(8).collect()).await;
    let model = OpenRouterModel::try_new(config(&server.url, "a/b")).unwrap();
    guarded(dormouse_testing::conformance::chat_model(&model, hello())).await;
}
