//! OpenAI's two APIs and OpenRouter's, over real HTTP, with servers that were not written for this project.

use std::error::Error;

use dormouse_contracts::{
    ChatModel, ChatReply, ChatRequest, FinishReason, Message, ModelError, ModelErrorKind,
    ModelName, OutputFormat, ProviderId, ToolCall, ToolDefinition, complete,
};
use dormouse_providers::{
    OpenAiApi, OpenAiConfig, OpenAiModel, OpenRouterConfig, OpenRouterModel, Secret,
};
use dormouse_tests::{LIMIT, Peer, Server};
use serde_json::{Value, json};
use tokio::time::timeout;

const KEY: &str = "sk-the-right-key";

/// Answers of aimock's for this file.
const ANSWERS: [&str; 2] = [
    "-f",
    concat!(env!("CARGO_MANIFEST_DIR"), "/peers/aimock/providers.json"),
];

/// Through which API a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Through {
    Chat,
    Responses,
    OpenRouter,
}

impl Through {
    fn open(self, server: &Server, key: &str) -> Box<dyn ChatModel> {
        let name = |name: &str| ModelName::try_new(name).unwrap();
        let provider = ProviderId::try_new("peer").unwrap();
        let key = Secret::try_new(key).unwrap();
        let api = match self {
            Self::Chat => OpenAiApi::Auto,
            Self::Responses => OpenAiApi::Responses,
            Self::OpenRouter => {
                let config = OpenRouterConfig {
                    base_url: format!("{}/api/v1", server.base_url()),
                    ..OpenRouterConfig::new(provider, key, name("anthropic/claude-x"))
                };
                return Box::new(OpenRouterModel::try_new(config).unwrap());
            }
        };
        let config = OpenAiConfig {
            provider,
            base_url: server.base_url(),
            api_key: Some(key),
            model: name("tiny"),
        };
        Box::new(OpenAiModel::try_new(config).unwrap().with_api(api))
    }

    async fn try_ask(
        self,
        server: &Server,
        request: &ChatRequest,
    ) -> Result<ChatReply, ModelError> {
        let model = self.open(server, KEY);
        let reply = timeout(LIMIT, complete(&*model, request)).await;
        reply.expect("it answers")
    }

    async fn ask(self, server: &Server, request: &ChatRequest) -> ChatReply {
        let reply = self.try_ask(server, request).await;
        reply.unwrap_or_else(|error| panic!("{self:?}: {error:?}: {}", server.said()))
    }

    /// The error to which a plain question leads.
    async fn error(self, server: &Server) -> ModelErrorKind {
        let error = self
            .try_ask(server, &asking("look around and greet me"))
            .await;
        let error = error.expect_err("it fails");
        let message = format!("{error} {error:?} {}", error.source().unwrap());
        assert!(!message.contains(KEY), "{message}");
        error.kind()
    }
}

/// Appends the reply and a result for each of its calls to the conversation.
pub(crate) fn answer_calls(request: &mut ChatRequest, reply: ChatReply) {
    let result = |call: &ToolCall| {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        assert!(arguments.is_object(), "{call:?}");
        Message::Tool {
            call_id: call.id.clone(),
            content: "{\"location\": \"The Common Room\"}".to_owned(),
        }
    };
    let results: Vec<_> = reply.tool_calls.iter().map(result).collect();
    request.messages.push(Message::Assistant {
        content: reply.content,
        tool_calls: reply.tool_calls,
    });
    request.messages.extend(results);
}

fn asking(words: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![
            Message::System {
                content: "You live in a house.".to_owned(),
            },
            Message::User {
                content: words.to_owned(),
            },
        ],
        max_tokens: Some(400),
        temperature: Some(0.0),
        ..ChatRequest::default()
    }
}

fn tools() -> Vec<ToolDefinition> {
    let tool = |name: &str, parameters: Value| ToolDefinition {
        name: name.parse().unwrap(),
        description: format!("The tool {name}."),
        parameters,
    };
    let message = json!({"type": "string", "maxLength": 40});
    vec![
        tool(
            "inspect_location",
            json!({"type": "object", "properties": {}}),
        ),
        tool(
            "say",
            json!({"type": "object", "properties": {"message": message}, "required": ["message"]}),
        ),
    ]
}

fn names(reply: &ChatReply) -> Vec<&str> {
    reply
        .tool_calls
        .iter()
        .map(|call| call.name.as_str())
        .collect()
}

/// Looks around and greets, one call after the other, each answered under the id that the server gave it.
async fn a_turn_of_two_tools(server: &Server, through: Through) {
    let mut request = asking("look around and greet me");
    request.tools = tools().into();
    request.stable_messages = 1;
    if through == Through::Chat {
        // A real model may otherwise call several at once.
        request
            .extra
            .insert("parallel_tool_calls".to_owned(), json!(false));
    }
    for expected in ["inspect_location", "say"] {
        let reply = through.ask(server, &request).await;
        assert_eq!(reply.finish, FinishReason::ToolCalls, "{reply:?}");
        assert_eq!(names(&reply), [expected], "{through:?}: {reply:?}");
        answer_calls(&mut request, reply);
    }
}

#[tokio::test]
async fn llama_server_calls_two_tools_through_both_apis() {
    let Some(server) = Peer::LlamaServer.start().await else {
        return;
    };
    a_turn_of_two_tools(&server, Through::Chat).await;
    a_turn_of_two_tools(&server, Through::Responses).await;
}

#[tokio::test]
async fn aimock_calls_two_tools_through_all_three() {
    let Some(server) = Peer::Aimock.start().await else {
        return;
    };
    for through in [Through::Chat, Through::Responses, Through::OpenRouter] {
        a_turn_of_two_tools(&server, through).await;
    }
}

#[tokio::test]
async fn aimock_calls_two_tools_at_once_and_thinks_aloud() {
    let Some(server) = Peer::Aimock.start_with(&ANSWERS).await else {
        return;
    };
    for through in [Through::Chat, Through::Responses, Through::OpenRouter] {
        let mut request = asking("two things at once");
        request.tools = tools().into();
        let reply = through.ask(&server, &request).await;
        assert_eq!(names(&reply), ["inspect_location", "say"], "{through:?}");
        assert_eq!(
            reply.tool_calls[1].arguments,
            "{\"message\":\"Hello from aimock.\"}"
        );
        assert_ne!(reply.tool_calls[0].id, reply.tool_calls[1].id);
        let thinking = through.ask(&server, &asking("think first")).await;
        assert_eq!(thinking.content, "Hello from aimock.", "{through:?}");
        assert_eq!(thinking.reasoning, "Somebody greets me.", "{through:?}");
        let limited = through.try_ask(&server, &asking("too often")).await;
        let kind = limited.expect_err("it is limited").kind();
        assert!(
            matches!(kind, ModelErrorKind::RateLimited(_)),
            "{through:?}: {kind:?}"
        );
    }
}

#[tokio::test]
async fn llama_server_counts_names_itself_and_stops_at_the_limit() {
    let Some(server) = Peer::LlamaServer.start().await else {
        return;
    };
    for through in [Through::Chat, Through::Responses] {
        let reply = through.ask(&server, &asking("Who are you?")).await;
        assert_eq!(reply.finish, FinishReason::Stop, "{through:?}");
        assert!(!reply.content.is_empty(), "{through:?}");
        let usage = reply.usage.expect("the server counts");
        assert!(
            usage.prompt_tokens > 0 && usage.completion_tokens > 0,
            "{usage:?}"
        );
        assert!(usage.cached_tokens <= usage.prompt_tokens, "{usage:?}");
        let info = reply.info.expect("something is known of it");
        assert_eq!(info.left_out, [], "{through:?}");
        assert!(
            info.request_id.is_some() && info.served_model.is_some(),
            "{info:?}"
        );
        let mut short = asking("Who are you?");
        short.max_tokens = Some(1);
        let cut = through.ask(&server, &short).await;
        // Through Responses it always reports `completed`.
        let expected = match through {
            Through::Responses => FinishReason::Stop,
            _ => FinishReason::Length,
        };
        assert_eq!(cut.finish, expected, "{through:?}");
        assert_eq!(cut.usage.unwrap().completion_tokens, 1, "{through:?}");
    }
}

#[tokio::test]
async fn llama_server_holds_its_model_to_a_schema() {
    let Some(server) = Peer::LlamaServer.start().await else {
        return;
    };
    let mood = json!({"type": "string", "enum": ["calm", "cross"]});
    for schema in [
        json!({"type": "object", "properties": {"mood": mood}, "required": ["mood"], "additionalProperties": false}),
        json!({"type": "object", "properties": {"mood": mood}, "required": ["mood"]}),
    ] {
        let mut request = asking("How are you?");
        request.output = OutputFormat::Schema {
            name: "mood".to_owned(),
            schema,
        };
        let reply = Through::Chat.ask(&server, &request).await;
        let said: Value = serde_json::from_str(&reply.content).unwrap();
        assert!(
            ["calm", "cross"].contains(&said["mood"].as_str().unwrap()),
            "{said}"
        );
        // Its Responses take the schema and do not heed it; the request passes all the same.
        Through::Responses.ask(&server, &request).await;
    }
}

#[tokio::test]
async fn llama_server_takes_no_key_but_its_own() {
    let Some(server) = Peer::LlamaServer.start_with(&["--api-key", KEY]).await else {
        return;
    };
    let request = asking("Who are you?");
    for through in [Through::Chat, Through::Responses] {
        let model = through.open(&server, "sk-the-wrong-key");
        let error = complete(&*model, &request)
            .await
            .expect_err("the key is wrong");
        assert_eq!(error.kind(), ModelErrorKind::Auth, "{through:?}");
        let message = format!("{error} {error:?} {}", error.source().unwrap());
        assert!(!message.contains("sk-the"), "{message}");
        through.ask(&server, &request).await;
    }
}

#[tokio::test]
async fn llama_server_reports_a_prompt_that_is_too_long() {
    let Some(server) = Peer::LlamaServer.start_with(&["-c", "1024"]).await else {
        return;
    };
    let long = asking(&"tea ".repeat(4_000));
    for through in [Through::Chat, Through::Responses] {
        let error = through
            .try_ask(&server, &long)
            .await
            .expect_err("it is too long");
        assert_eq!(
            error.kind(),
            ModelErrorKind::ContextExceeded,
            "{through:?}: {error:?}"
        );
    }
}

#[tokio::test]
async fn llama_server_keeps_the_promises_of_the_port_through_both_apis() {
    let Some(server) = Peer::LlamaServer.start().await else {
        return;
    };
    for through in [Through::Chat, Through::Responses] {
        let model = through.open(&server, KEY);
        dormouse_testing::conformance::chat_model(&*model, asking("Who are you?")).await;
    }
}

#[tokio::test]
async fn every_mood_of_aimocks_is_known() {
    let expected = |flag: &str, kind: ModelErrorKind| match flag {
        "--chaos-drop" => kind == ModelErrorKind::Unavailable,
        "--chaos-malformed" => kind == ModelErrorKind::Malformed,
        "--chaos-disconnect" => {
            matches!(
                kind,
                ModelErrorKind::Unavailable | ModelErrorKind::Interrupted
            )
        }
        _ => matches!(kind, ModelErrorKind::RateLimited(Some(_))),
    };
    for flag in [
        "--chaos-drop",
        "--chaos-malformed",
        "--chaos-disconnect",
        "--chaos-ratelimit",
    ] {
        let Some(server) = Peer::Aimock.start_with(&[flag, "1"]).await else {
            return;
        };
        for through in [Through::Chat, Through::Responses, Through::OpenRouter] {
            let kind = through.error(&server).await;
            assert!(expected(flag, kind), "{flag}, {through:?}: {kind:?}");
        }
    }
}
