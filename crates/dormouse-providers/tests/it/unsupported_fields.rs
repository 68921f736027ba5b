//! Fields that a server does not support.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use dormouse_contracts::{
    ChatModel, ChatRequest, OutputFormat, ReasoningEffort, RequestField, ToolDefinition, ToolName,
    complete,
};
use dormouse_providers::{OpenAiApi, OpenAiModel};
use serde_json::{Value, json};

use crate::{
    replying::HELLO,
    server::{Answer, Server, Then, guarded, hello},
};

const JSON: &str = "content-type: application/json\r\n";

fn refusal(body: &Value) -> Answer {
    Answer::status("400 Bad Request", JSON, &body.to_string())
}

fn good_day() -> Answer {
    Answer::stream(HELLO, Then::Close)
}

/// A request with every optional field.
fn everything() -> ChatRequest {
    ChatRequest {
        tools: vec![ToolDefinition {
            name: ToolName::try_new("say").unwrap(),
            description: "Says it.".to_owned(),
            parameters: json!({"type": "object"}),
        }]
        .into(),
        tool_choice: dormouse_contracts::ToolChoice::Required,
        temperature: Some(0.5),
        top_p: Some(0.5),
        max_tokens: Some(9),
        reasoning_effort: Some(ReasoningEffort::Low),
        output: OutputFormat::Json,
        extra: json!({"seed": 7}).as_object().unwrap().clone(),
        ..hello()
    }
}

/// What was sent, request by request.
fn bodies(server: &Server) -> Vec<Value> {
    let requests = server.requests();
    let bodies = requests
        .iter()
        .map(|sent| sent.split_once("\r\n\r\n").unwrap().1);
    bodies
        .map(|body| serde_json::from_str(body).unwrap())
        .collect()
}

async fn left_out(model: &OpenAiModel, request: &ChatRequest) -> Vec<RequestField> {
    let reply = guarded(complete(model, request)).await.unwrap();
    reply.info.unwrap().left_out
}

#[tokio::test]
async fn each_unsupported_field_is_left_out_of_later_requests_and_others_are_kept() {
    for (name, field) in [
        ("stream_options", RequestField::StreamUsage),
        ("tools", RequestField::Tools),
        ("tool_choice", RequestField::ToolChoice),
        ("temperature", RequestField::Temperature),
        ("top_p", RequestField::TopP),
        ("reasoning_effort", RequestField::ReasoningEffort),
        ("response_format", RequestField::Output),
        ("seed", RequestField::Extra("seed".to_owned())),
    ] {
        for error_body in [
            json!({"error": {"message": format!("Unsupported parameter: '{name}' is not supported with this model."),
                "type": "invalid_request_error", "param": name, "code": "unsupported_parameter"}}),
            json!({"error": {"message": format!("Unrecognized request argument supplied: {name}"), "param": null}}),
            json!({"detail": [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted", "input": {"top_p": 1}}]}),
            json!({"object": "error", "message": format!("[{{'type': 'extra_forbidden', 'loc': ('body', '{name}'), 'msg': 'Extra inputs are not permitted'}}]"), "code": 400}),
        ] {
            let server =
                Server::answering(vec![refusal(&error_body), good_day(), good_day()]).await;
            let model = server.model();
            let request = everything();
            assert_eq!(
                left_out(&model, &request).await,
                std::slice::from_ref(&field),
                "{error_body}"
            );
            assert_eq!(
                left_out(&model, &request).await,
                std::slice::from_ref(&field),
                "{error_body}"
            );
            let [first, second, third] = &bodies(&server)[..] else {
                panic!("not one request more than replies: {error_body}")
            };
            let mut expected = first.clone();
            expected.as_object_mut().unwrap().remove(name).unwrap();
            if field == RequestField::Tools {
                expected.as_object_mut().unwrap().remove("tool_choice");
            }
            assert_eq!((second, third), (&expected, &expected), "{error_body}");
        }
    }
}

#[tokio::test]
async fn a_length_limit_rejected_under_one_name_uses_the_other() {
    let refused = json!({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "type": "invalid_request_error", "param": "max_tokens", "code": "unsupported_parameter"}});
    let server = Server::answering(vec![refusal(&refused), good_day(), good_day()]).await;
    let model = server.model();
    assert_eq!(left_out(&model, &everything()).await, []);
    assert_eq!(left_out(&model, &everything()).await, []);
    let bodies = bodies(&server);
    let limits: Vec<_> = bodies
        .iter()
        .map(|body| (body.get("max_tokens"), body.get("max_completion_tokens")))
        .collect();
    let nine = json!(9);
    assert_eq!(
        limits,
        [
            (Some(&nine), None),
            (None, Some(&nine)),
            (None, Some(&nine))
        ]
    );
}

#[tokio::test]
async fn a_length_limit_rejected_under_both_names_is_left_out() {
    let refused = |name: &str| {
        refusal(
            &json!({"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"}]}),
        )
    };
    let answers = vec![
        refused("max_tokens"),
        refused("max_completion_tokens"),
        good_day(),
        good_day(),
    ];
    let server = Server::answering(answers).await;
    let model = server.model();
    assert_eq!(
        left_out(&model, &everything()).await,
        [RequestField::MaxTokens]
    );
    assert_eq!(
        left_out(&model, &everything()).await,
        [RequestField::MaxTokens]
    );
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn the_same_rejection_is_applied_once() {
    let refused = || {
        refusal(
            &json!({"error": {"message": "temperature is not supported", "param": "temperature"}}),
        )
    };
    let server = Server::answering(vec![refused(), refused(), good_day()]).await;
    let model = server.model();
    guarded(complete(&model, &everything())).await.unwrap_err();
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_field_is_sent_again_if_leaving_it_out_did_not_help() {
    // The error quotes a user, and the request is rejected for another reason.
    let repeated = || {
        refusal(
            &json!({"error": {"message": "no: 'tools are unknown, temperature is unsupported'"}}),
        )
    };
    let mut answers: Vec<Answer> = (0..3).map(|_| repeated()).collect();
    answers.push(good_day());
    let server = Server::answering(answers).await;
    let model = server.model();
    guarded(complete(&model, &everything())).await.unwrap_err();
    assert_eq!(left_out(&model, &everything()).await, []);
    let bodies = bodies(&server);
    assert_eq!(bodies.len(), 4);
    assert_eq!(bodies[0], bodies[3]);
}

#[tokio::test]
async fn after_an_hour_all_fields_are_sent_again() {
    let refused =
        json!({"error": {"message": "temperature is not supported", "param": "temperature"}});
    let answers = vec![refusal(&refused), good_day(), good_day(), good_day()];
    let server = Server::answering(answers).await;
    let model = server.model();
    for expected in [
        vec![RequestField::Temperature],
        vec![RequestField::Temperature],
    ] {
        assert_eq!(left_out(&model, &everything()).await, expected);
    }
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(60 * 60)).await;
    tokio::time::resume();
    assert_eq!(left_out(&model, &everything()).await, []);
    let bodies = bodies(&server);
    assert_eq!(bodies[3], bodies[0]);
}

#[tokio::test]
async fn no_tools_are_offered_if_the_tool_choice_cannot_be_sent() {
    let refused = json!({"error": {"message": "this model does not support tool_choice"}});
    let server = Server::answering(vec![refusal(&refused), good_day(), good_day()]).await;
    let model = server.model();
    let request = ChatRequest {
        tool_choice: dormouse_contracts::ToolChoice::None,
        ..everything()
    };
    left_out(&model, &request).await;
    left_out(&model, &everything()).await;
    let bodies = bodies(&server);
    assert_eq!(
        (&bodies[0]["tool_choice"], bodies[1].get("tools")),
        (&json!("none"), None)
    );
    assert_eq!(bodies[2]["tools"], bodies[0]["tools"]);
}

#[tokio::test]
async fn an_error_about_something_else_changes_no_later_request() {
    for error_body in [
        json!({"error": {"message": "Unsupported value: 'messages[0].role' does not support 'system' with this model.", "param": "messages[0].role"}}),
        json!({"error": {"message": "Invalid schema for function 'say': 'oneOf' is not permitted.", "param": "tools[0].function.parameters"}}),
        json!({"error": {"message": "temperature must be at most 2", "param": "temperature"}}),
        json!({"error": {"message": "unexpected role", "type": "invalid_request_error"}}),
    ] {
        let server = Server::answering(vec![refusal(&error_body), good_day()]).await;
        let model = server.model();
        guarded(complete(&model, &everything())).await.unwrap_err();
        assert_eq!(left_out(&model, &everything()).await, [], "{error_body}");
        let bodies = bodies(&server);
        assert_eq!(bodies.len(), 2, "{error_body}");
        assert_eq!(bodies[0], bodies[1], "{error_body}");
    }
}

#[tokio::test]
async fn left_out_fields_are_logged_once_without_the_key() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::INFO);
    let writer = log.clone();
    let subscriber = subscriber.with_writer(move || writer.clone()).finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let refused = json!({"error": {"message": "sk-secret-key: temperature is not supported", "param": "temperature"}});
    let server = Server::answering(vec![refusal(&refused), good_day(), good_day()]).await;
    let model = server.model();
    for _ in 0..2 {
        left_out(&model, &everything()).await;
    }
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(
        logged.matches("left out of requests").count(),
        1,
        "{logged}"
    );
    assert!(logged.contains("Temperature"), "{logged}");
    assert!(!logged.contains("secret"), "{logged}");
}

#[tokio::test]
async fn responses_fields_are_left_out_by_their_own_names() {
    let refused = json!({"error": {"message": "Unsupported parameter: 'reasoning.effort' is not supported with this model.", "param": "reasoning.effort"}});
    let reply =
        "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n";
    let answers = vec![refusal(&refused), Answer::stream(reply, Then::Close)];
    let server = Server::answering(answers).await;
    let model = server.model().with_api(OpenAiApi::Responses);
    assert_eq!(
        left_out(&model, &everything()).await,
        [RequestField::ReasoningEffort]
    );
    let bodies = bodies(&server);
    assert_eq!(
        (
            bodies[0]["reasoning"]["effort"].as_str(),
            bodies[1].get("reasoning")
        ),
        (Some("low"), None)
    );
    assert_eq!(model.identity().1.as_str(), "tiny");
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
