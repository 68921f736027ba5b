//! Ollama's own API, over real HTTP, with a server that was not written for this project.

use std::time::Duration;

use dormouse_contracts::{
    ChatReply, ChatRequest, FinishReason, Message, ModelError, ModelErrorKind, ReasoningEffort,
    ToolDefinition, complete,
};
use dormouse_providers::{
    Available, Choice, Network, OllamaConfig, OllamaModel, OllamaModelConfig, choose_model,
    list_models,
};
use dormouse_tests::{LIMIT, Peer, Server};
use serde_json::json;
use tokio::time::timeout;

fn model(server: &Server) -> OllamaModel {
    let at = OllamaConfig {
        base_url: server.base_url(),
        api_key: None,
        model: "gpt-oss:20b".parse().unwrap(),
    };
    OllamaModel::try_new(OllamaModelConfig::from(at)).expect("the address is valid")
}

async fn ask(server: &Server, request: &ChatRequest) -> Result<ChatReply, ModelError> {
    let model = model(server);
    let reply = timeout(LIMIT, complete(&model, request)).await;
    reply.expect("it answers")
}

fn asking(content: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User {
            content: content.to_owned(),
        }],
        ..ChatRequest::default()
    }
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.parse().unwrap(),
        description: format!("The tool {name}."),
        parameters: json!({"type": "object", "properties": {}}),
    }
}

#[tokio::test]
async fn aimock_calls_two_tools_over_ollamas_chat() {
    let Some(server) = Peer::Aimock.start().await else {
        return;
    };
    let mut request = asking("look around and greet me");
    request.tools = vec![tool("inspect_location"), tool("say")].into();
    for (expected, arguments) in [
        ("inspect_location", json!({})),
        ("say", json!({"message": "Hello from aimock."})),
    ] {
        let reply = ask(&server, &request).await.unwrap();
        assert_eq!(reply.finish, FinishReason::ToolCalls, "{reply:?}");
        let [call] = &reply.tool_calls[..] else {
            panic!("one call: {reply:?}")
        };
        assert_eq!(call.name, expected);
        let sent: serde_json::Value = serde_json::from_str(&call.arguments).unwrap();
        assert_eq!(sent, arguments);
        let result = Message::Tool {
            call_id: call.id.clone(),
            content: "{\"location\": \"The Common Room\"}".to_owned(),
        };
        request.messages.push(Message::Assistant {
            content: reply.content.clone(),
            tool_calls: reply.tool_calls.clone(),
        });
        request.messages.push(result);
    }
}

#[tokio::test]
async fn aimocks_thoughts_are_separated_from_its_text() {
    let Some(server) = Peer::Aimock.start().await else {
        return;
    };
    let request = ChatRequest {
        reasoning_effort: Some(ReasoningEffort::Low),
        ..asking("think and greet me")
    };
    let reply = ask(&server, &request).await.unwrap();
    assert_eq!(reply.content, "Good day.");
    assert_eq!(reply.reasoning, "A guest. I greet.");
    assert_eq!(reply.finish, FinishReason::Stop);
    let info = reply.info.expect("it tells who answered");
    assert_eq!(info.served_model.as_deref(), Some("gpt-oss:20b"));
    assert_eq!(info.left_out, []);
}

#[tokio::test]
async fn aimocks_pause_is_understood_over_ollamas_chat() {
    let Some(server) = Peer::Aimock.start().await else {
        return;
    };
    let error = ask(&server, &asking("ask too often")).await.unwrap_err();
    let pause = Some(Duration::from_secs(7));
    assert_eq!(error.kind(), ModelErrorKind::RateLimited(pause));
}

#[tokio::test]
async fn aimocks_models_are_listed_although_their_details_are_unknown() {
    let Some(server) = Peer::Aimock.start().await else {
        return;
    };
    for by in ["ollama", "openai", "openrouter", "anthropic"] {
        let requested = format!("{by}:any@{}", server.base_url());
        let choice = choose_model(&requested.parse().unwrap(), &Available::default()).unwrap();
        let Choice::Server { config, .. } = choice else {
            panic!("a server")
        };
        let models = list_models(&config, &Network::direct()).await.unwrap();
        assert!(!models.is_empty(), "{by}");
        assert!(models.iter().all(|model| model.can_chat()), "{models:?}");
    }
}
