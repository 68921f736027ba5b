//! Anthropic's Messages API, over real HTTP, with servers that were not written for this project.

use std::error::Error;

use dormouse_contracts::{
    ChatReply, ChatRequest, FinishReason, Message, ModelErrorKind, ToolDefinition, complete,
};
use dormouse_providers::{AnthropicConfig, AnthropicModel, Secret};
use dormouse_tests::{LIMIT, Peer, Server};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::providers_openai::answer_calls;

const KEY: &str = "sk-the-right-key";

fn model(server: &Server, key: Option<&str>) -> AnthropicModel {
    AnthropicModel::try_new(AnthropicConfig {
        provider: "anthropic".parse().unwrap(),
        base_url: server.base_url(),
        api_key: key.map(|key| Secret::try_new(key).unwrap()),
        model: "tiny".parse().unwrap(),
        output_limit: None,
    })
    .expect("the address is valid")
}

async fn ask(server: &Server, request: &ChatRequest) -> ChatReply {
    let model = model(server, None);
    let reply = timeout(LIMIT, complete(&model, request)).await;
    let reply = reply.expect("it answers");
    reply.unwrap_or_else(|error| panic!("{error:?}: {}", server.said()))
}

fn user(content: &str) -> Message {
    Message::User {
        content: content.to_owned(),
    }
}

fn request(messages: Vec<Message>) -> ChatRequest {
    ChatRequest {
        messages,
        max_tokens: Some(400),
        temperature: Some(0.0),
        ..ChatRequest::default()
    }
}

fn tool(name: &str, parameters: Value) -> ToolDefinition {
    ToolDefinition {
        name: name.parse().unwrap(),
        description: format!("The tool {name}."),
        parameters,
    }
}

/// Looks around and greets, one call after the other, each answered under the id that the server gave it.
async fn a_turn_of_two_tools(peer: Peer) {
    let Some(server) = peer.start().await else {
        return;
    };
    let mut request = request(vec![
        Message::System {
            content: "You live in a house.".to_owned(),
        },
        user("look around and greet me"),
    ]);
    let message = json!({"type": "string", "maxLength": 40});
    request.tools = vec![
        tool(
            "inspect_location",
            json!({"type": "object", "properties": {}}),
        ),
        tool(
            "say",
            json!({"type": "object", "properties": {"message": message}, "required": ["message"]}),
        ),
    ]
    .into();
    request.stable_messages = 2;
    for expected in ["inspect_location", "say"] {
        let reply = ask(&server, &request).await;
        assert_eq!(reply.finish, FinishReason::ToolCalls, "{reply:?}");
        let names: Vec<_> = reply.tool_calls.iter().map(|call| &call.name).collect();
        assert_eq!(names, [expected], "{reply:?}");
        answer_calls(&mut request, reply);
    }
}

#[tokio::test]
async fn llama_server_calls_two_tools_over_anthropics_messages() {
    a_turn_of_two_tools(Peer::LlamaServer).await;
}

#[tokio::test]
async fn aimock_calls_two_tools_over_anthropics_messages() {
    a_turn_of_two_tools(Peer::Aimock).await;
}

#[tokio::test]
async fn llama_server_answers_every_kind_of_conversation() {
    let Some(server) = Peer::LlamaServer.start().await else {
        return;
    };
    let answer = |content: &str| Message::Assistant {
        content: content.to_owned(),
        tool_calls: Vec::new(),
    };
    for messages in [
        vec![user("Who are you?")],
        vec![],
        vec![answer("I speak first.")],
        vec![
            user("one"),
            user(" "),
            user("two"),
            answer(""),
            answer("three"),
        ],
        vec![
            user("one"),
            Message::System {
                content: "Be brief.".to_owned(),
            },
            Message::Tool {
                call_id: "nobody asked".parse().unwrap(),
                content: "{}".to_owned(),
            },
        ],
    ] {
        let reply = ask(&server, &request(messages.clone())).await;
        assert_eq!(reply.finish, FinishReason::Stop, "{messages:?}");
        assert!(!reply.content.is_empty(), "{messages:?}");
        let usage = reply.usage.expect("the server counts");
        assert!(
            usage.prompt_tokens > 0 && usage.completion_tokens > 0,
            "{usage:?}"
        );
        assert!(usage.cached_tokens <= usage.prompt_tokens, "{usage:?}");
        let info = reply.info.expect("something is known of it");
        assert_eq!(info.left_out, []);
        assert!(
            info.request_id.is_some() && info.served_model.is_some(),
            "{info:?}"
        );
    }
}

#[tokio::test]
async fn llama_server_keeps_the_promises_of_the_port_over_anthropics_messages() {
    let Some(server) = Peer::LlamaServer.start().await else {
        return;
    };
    let model = model(&server, None);
    let request = request(vec![user("Who are you?")]);
    dormouse_testing::conformance::chat_model(&model, request).await;
}

#[tokio::test]
async fn llama_server_cuts_a_reply_at_the_limit_and_refuses_a_prompt_beyond_it() {
    let Some(server) = Peer::LlamaServer.start().await else {
        return;
    };
    let mut short = request(vec![user("Who are you?")]);
    short.max_tokens = Some(1);
    assert_eq!(ask(&server, &short).await.finish, FinishReason::Length);
    let long = request(vec![user(&"tea ".repeat(40_000))]);
    let error = complete(&model(&server, None), &long).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::ContextExceeded, "{error:?}");
}

#[tokio::test]
async fn llama_server_takes_no_key_but_its_own() {
    let Some(server) = Peer::LlamaServer.start_with(&["--api-key", KEY]).await else {
        return;
    };
    let request = request(vec![user("Who are you?")]);
    for key in [None, Some("sk-the-wrong-key")] {
        let error = complete(&model(&server, key), &request).await.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Auth);
        let message = format!("{error} {error:?} {}", error.source().unwrap());
        assert!(!message.contains("sk-the"), "{message}");
    }
    let reply = complete(&model(&server, Some(KEY)), &request).await;
    assert_eq!(reply.unwrap().finish, FinishReason::Stop);
}
