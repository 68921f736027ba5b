//! OpenAI's Responses, and how a model is found to need them.

use dormouse_contracts::{
    ChatModel, ChatReply, FinishReason, ModelErrorKind, ToolCall, Usage, complete,
};
use dormouse_providers::{OpenAiApi, OpenAiModel};
use serde_json::Value;

use crate::{
    replying::HELLO,
    server::{Answer, Server, Then, guarded, hello},
};

/// A reply with a thought, a text and two calls, as llama-server streams it: no places in the output, no whole arguments.
const REPLY: &str = concat!(
    "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\"}}\n\n",
    "event: response.reasoning_text.delta\ndata: {\"type\":\"response.reasoning_text.delta\",\"delta\":\"hm\"}\n\n",
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"delta\":\"Good \"}\n\n",
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"delta\":\"day.\"}\n\n",
    "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"item\":{\"id\":\"fc_a\",\"call_id\":\"call_a\",\"arguments\":\"\",\"name\":\"look\",\"type\":\"function_call\"}}\n\n",
    "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"item\":{\"id\":\"fc_b\",\"call_id\":\"call_b\",\"arguments\":\"\",\"name\":\"say\",\"type\":\"function_call\"}}\n\n",
    "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{}\",\"item_id\":\"fc_b\"}\n\n",
    "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{ }\",\"item_id\":\"fc_a\"}\n\n",
    "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"model\":\"tiny-1\",",
    "\"usage\":{\"input_tokens\":11,\"output_tokens\":4,\"input_tokens_details\":{\"cached_tokens\":5}}}}\n\n",
);

fn expected() -> ChatReply {
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.parse().unwrap(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    ChatReply {
        content: "Good day.".to_owned(),
        reasoning: "hm".to_owned(),
        tool_calls: vec![call("call_a", "look", "{ }"), call("call_b", "say", "{}")],
        finish: FinishReason::ToolCalls,
        usage: Some(Usage {
            prompt_tokens: 11,
            completion_tokens: 4,
            cached_tokens: 5,
            ..Usage::default()
        }),
        info: None,
    }
}

async fn reply(model: &OpenAiModel) -> ChatReply {
    guarded(complete(model, &hello())).await.unwrap()
}

/// Which methods were called, in order.
fn paths(server: &Server) -> Vec<String> {
    let requests = server.requests();
    let paths = requests
        .iter()
        .map(|sent| sent.split(' ').nth(1).unwrap().to_owned());
    paths.collect()
}

#[tokio::test]
async fn a_reply_is_the_same_in_one_piece_and_byte_by_byte() {
    let whole = Answer::stream(REPLY, Then::Hang);
    let single = Answer::stream(REPLY, Then::Close).bytes();
    for answer in [whole, single] {
        let server = Server::answering(vec![answer]).await;
        let model = server.model().with_api(OpenAiApi::Responses);
        let mut reply = reply(&model).await;
        let info = reply.info.take().unwrap();
        assert_eq!(reply, expected());
        assert_eq!(info.served_model.as_deref(), Some("tiny-1"));
        assert_eq!(info.request_id.as_deref(), Some("resp_1"));
        assert_eq!(paths(&server), ["/v1/responses"]);
        let sent = &server.requests()[0];
        let body: Value = serde_json::from_str(sent.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(
            (&body["stream"], &body["store"]),
            (&Value::Bool(true), &Value::Bool(false))
        );
    }
}

#[tokio::test]
async fn a_model_that_needs_responses_uses_it_from_then_on() {
    for (status, message) in [
        (
            "404 Not ChoiceReason",
            "This model is only supported in v1/responses and not in v1/chat/completions.",
        ),
        (
            "400 Bad Request",
            "Function tools with reasoning_effort are not supported for this model in /v1/chat/completions. Please use /v1/responses instead.",
        ),
    ] {
        let body = format!(
            r#"{{"error":{{"message":"{message}","type":"invalid_request_error","param":"model"}}}}"#
        );
        let refused = Answer::status(status, "content-type: application/json\r\n", &body);
        let stream = || Answer::stream(REPLY, Then::Close);
        let server = Server::answering(vec![refused, stream(), stream()]).await;
        let model = server.model();
        for _ in 0..2 {
            assert_eq!(reply(&model).await.content, "Good day.");
        }
        assert_eq!(
            paths(&server),
            ["/v1/chat/completions", "/v1/responses", "/v1/responses"]
        );
    }
}

#[tokio::test]
async fn a_missing_responses_api_is_not_used_again() {
    let said = |message: &str| {
        let body = format!(r#"{{"error":{{"message":"{message}"}}}}"#);
        Answer::status(
            "404 Not ChoiceReason",
            "content-type: application/json\r\n",
            &body,
        )
    };
    let answers = vec![
        said("Please use /v1/responses instead."),
        said("no such path"),
        Answer::stream(HELLO, Then::Close),
    ];
    let server = Server::answering(answers).await;
    let model = server.model();
    let error = guarded(complete(&model, &hello())).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::NotFound);
    assert_eq!(reply(&model).await.content, "Good day, schöner Tag.");
    assert_eq!(
        paths(&server),
        [
            "/v1/chat/completions",
            "/v1/responses",
            "/v1/chat/completions"
        ]
    );
}

#[tokio::test]
async fn explicit_chat_completions_are_never_replaced() {
    let body =
        r#"{"error":{"message":"This model is only supported in v1/responses.","param":"model"}}"#;
    let refused = Answer::status(
        "404 Not ChoiceReason",
        "content-type: application/json\r\n",
        body,
    );
    let server = Server::answering(vec![refused, Answer::stream(HELLO, Then::Close)]).await;
    let model = server.model().with_api(OpenAiApi::ChatCompletions);
    let error = guarded(complete(&model, &hello())).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::NotFound);
    assert_eq!(reply(&model).await.content, "Good day, schöner Tag.");
    assert_eq!(paths(&server), ["/v1/chat/completions"; 2]);
}

#[tokio::test]
async fn a_response_that_ends_early_or_fails_is_an_error() {
    let begun = REPLY.split("event: response.completed").next().unwrap();
    let failed = format!(
        "{begun}data: {{\"type\":\"response.failed\",\"response\":{{\"status\":\"failed\",\"error\":{{\"code\":\"server_error\",\"message\":\"oops\"}}}}}}\n\n"
    );
    for (events, kind) in [
        (begun, ModelErrorKind::Interrupted),
        (failed.as_str(), ModelErrorKind::Unavailable),
        (
            "data: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"slow\"}\n\n",
            ModelErrorKind::RateLimited(None),
        ),
        ("data: nonsense\n\n", ModelErrorKind::Malformed),
        // All at once instead of a stream.
        (
            "{\"status\":\"failed\",\"error\":{\"code\":\"server_error\"},\"output\":[]}",
            ModelErrorKind::Unavailable,
        ),
        (
            "{\"error\":{\"code\":\"rate_limit_exceeded\"}}",
            ModelErrorKind::RateLimited(None),
        ),
        (
            "{\"status\":\"completed\",\"output\":[]}",
            ModelErrorKind::Malformed,
        ),
        ("{\"status\":\"comple", ModelErrorKind::Malformed),
    ] {
        let server = Server::answering(vec![Answer::stream(events, Then::Close)]).await;
        let model = server.model().with_api(OpenAiApi::Responses);
        let error = guarded(complete(&model, &hello())).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{events}");
    }
}

#[tokio::test]
async fn it_keeps_the_promises_of_the_port() {
    let answers = std::iter::repeat_with(|| Answer::stream(REPLY, Then::Close));
    let server = Server::answering(answers.take(8).collect()).await;
    let model = server.model().with_api(OpenAiApi::Responses);
    assert_eq!(model.identity().1.as_str(), "tiny");
    guarded(dormouse_testing::conformance::chat_model(&model, hello())).await;
}
