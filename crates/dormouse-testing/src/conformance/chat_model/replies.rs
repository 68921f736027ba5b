//! Replies arrive as the backend sent them.

use dormouse_contracts::{
    ChatDelta, ChatReply, ChatRequest, FinishReason, Message, ReplyInfo, ToolDefinition, ToolName,
};
use futures_util::{StreamExt, future};
use serde_json::json;

use super::{
    backend::{BackendAnswer, ChatBackend, ChatStage, Cut, REQUEST_ID},
    protocol::Protocol,
    said::{amount, calls, more, reply, start, text, thought},
};

/// A request with the tools that the suite lets a backend call.
pub(super) fn asking() -> ChatRequest {
    let tool = |name: &str| ToolDefinition {
        name: ToolName::try_new(name).unwrap(),
        description: "A tool of the suite.".to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
    };
    ChatRequest {
        messages: vec![Message::User {
            content: "What is it?".to_owned(),
        }],
        tools: vec![tool("say"), tool("look_at")].into(),
        ..ChatRequest::default()
    }
}

/// Lets the backend send these pieces as one reply, and returns the pieces that arrived.
async fn played(backend: &dyn ChatBackend, said: &[ChatDelta], cut: Cut) -> Vec<ChatDelta> {
    let stage = backend.stage(&BackendAnswer::Reply(said.to_vec(), cut));
    let came = Protocol::read(stage.model(), &asking()).await.unwrap();
    assert_eq!(stage.requests(), 1, "a request is made once");
    came
}

async fn arrives_unchanged(backend: &dyn ChatBackend, said: &[ChatDelta]) {
    let expected = amount(said);
    let came = played(backend, said, Cut::Freely).await;
    same(&amount(&came), &expected);
    let singly = played(backend, said, Cut::Bytes).await;
    let singly = amount(&singly);
    assert_eq!(
        (
            singly.content,
            singly.reasoning,
            singly.finish,
            singly.usage
        ),
        (
            expected.content,
            expected.reasoning,
            expected.finish,
            expected.usage
        ),
        "a reply in single bytes is the same"
    );
}

fn same(came: &ChatReply, said: &ChatReply) {
    assert_eq!(
        came.content, said.content,
        "the text is the one that the backend sent"
    );
    assert_eq!(
        came.reasoning, said.reasoning,
        "thoughts are separated from the text"
    );
    assert_eq!(
        calls(came),
        calls(said),
        "calls arrive complete, separate, and in order"
    );
    assert_eq!(
        came.finish, said.finish,
        "the finish reason is the reported one"
    );
    assert_eq!(came.usage, said.usage, "usage is what the backend reported");
}

pub(super) async fn a_text_is_reported(backend: &dyn ChatBackend) {
    let pieces = [
        text("Good "),
        text("day,\n\"schöner\" \\ 🐭 "),
        text("\tTag."),
    ];
    arrives_unchanged(backend, &reply(&pieces, FinishReason::Stop)).await;
}

pub(super) async fn thoughts_are_separated_from_text(backend: &dyn ChatBackend) {
    let pieces = [thought("They greet "), thought("me."), text("Good day.")];
    arrives_unchanged(backend, &reply(&pieces, FinishReason::Stop)).await;
}

pub(super) async fn one_call_is_reported(backend: &dyn ChatBackend) {
    let pieces = [
        start(0, "say"),
        more(0, "{\"mess"),
        more(0, "age\": \"a \\\"quoted\\\" Ma"),
        more(0, "us 🐭\"}"),
    ];
    arrives_unchanged(backend, &reply(&pieces, FinishReason::ToolCalls)).await;
}

pub(super) async fn several_calls_are_distinguished(backend: &dyn ChatBackend) {
    let pieces = [
        start(0, "say"),
        more(0, "{\"message\":"),
        start(1, "look_at"),
        more(1, "{\"what\":"),
        more(0, "\"first\"}"),
        more(1, "{\"deep\":[1,2]}}"),
        start(2, "say"),
        more(2, "{\"message\":\"third\"}"),
    ];
    arrives_unchanged(backend, &reply(&pieces, FinishReason::ToolCalls)).await;
}

pub(super) async fn a_text_and_a_call_are_reported(backend: &dyn ChatBackend) {
    let pieces = [text("I look."), start(0, "look_at"), more(0, "{}")];
    arrives_unchanged(backend, &reply(&pieces, FinishReason::ToolCalls)).await;
}

pub(super) async fn a_reply_cut_for_its_length_is_reported(backend: &dyn ChatBackend) {
    arrives_unchanged(backend, &reply(&[text("And so")], FinishReason::Length)).await;
}

pub(super) async fn uncounted_usage_is_not_reported(backend: &dyn ChatBackend) {
    let said = [text("Hm."), ChatDelta::Finished(FinishReason::Stop)];
    let came = played(backend, &said, Cut::Freely).await;
    assert_eq!(
        amount(&came).usage,
        None,
        "usage that the backend did not report is unknown"
    );
}

pub(super) async fn the_answering_model_is_reported(backend: &dyn ChatBackend) {
    let said = reply(&[text("Hm.")], FinishReason::Stop);
    let stage = backend.stage(&BackendAnswer::Reply(said, Cut::Freely));
    let came = Protocol::read(stage.model(), &asking()).await.unwrap();
    let mut reported = came.iter().rev().filter_map(|delta| match delta {
        ChatDelta::Info(info) => Some(info),
        _ => None,
    });
    let Some(last) = reported.next() else {
        panic!("a reply from a backend has an `Info`");
    };
    let (provider, model) = stage.model().identity();
    let ReplyInfo {
        provider: by,
        model: asked,
        request_id,
        ..
    } = &**last;
    assert_eq!(
        (by, asked),
        (provider, model),
        "`Info` names the model that was asked"
    );
    let id = request_id.as_deref();
    assert_eq!(
        id,
        Some(REQUEST_ID),
        "`Info` has the backend's id of the request"
    );
}

pub(super) async fn pieces_come_as_they_are_sent(backend: &dyn ChatBackend) {
    let mut stage = backend.stage(&BackendAnswer::Silence(vec![text("Good ")]));
    let request = asking();
    {
        let mut stream = stage.model().stream(&request);
        loop {
            match stream.next().await.unwrap().unwrap() {
                ChatDelta::Text(text) => {
                    assert_eq!(
                        text, "Good ",
                        "a piece arrives before the backend sends the next one"
                    );
                    break;
                }
                ChatDelta::Info(_) | ChatDelta::Usage(_) => {}
                other => panic!("the backend did not send {other:?}"),
            }
        }
    }
    assert!(stage.left().await, "dropping a stream cancels the request");
}

pub(super) async fn nothing_is_sent_for_a_stream_that_is_not_read(backend: &dyn ChatBackend) {
    let said = reply(&[text("Hm.")], FinishReason::Stop);
    let stage = backend.stage(&BackendAnswer::Reply(said, Cut::Freely));
    drop(stage.model().stream(&asking()));
    assert_eq!(
        stage.requests(),
        0,
        "a stream that is not read sends no request"
    );
}

pub(super) async fn replies_at_the_same_time_are_apart(backend: &dyn ChatBackend) {
    let said = |what: &str| reply(&[text("I am "), text(what)], FinishReason::Stop);
    let names: Vec<String> = (0..4).map(|n| format!("number {n}")).collect();
    let stage = |name: &String| backend.stage(&BackendAnswer::Reply(said(name), Cut::Freely));
    let stages: Vec<Box<dyn ChatStage>> = names.iter().map(stage).collect();
    let request = asking();
    let read = |stage| Protocol::read(ChatStage::model(stage), &request);
    let came = future::join_all(stages.iter().map(|stage| read(&**stage))).await;
    for (name, came) in names.iter().zip(came) {
        let content = amount(&came.unwrap()).content;
        assert_eq!(content, format!("I am {name}"), "replies are not mixed up");
    }
    let stage = backend.stage(&BackendAnswer::Reply(said("one"), Cut::Freely));
    let both = future::join(
        Protocol::read(stage.model(), &request),
        Protocol::read(stage.model(), &request),
    );
    let (one, other) = both.await;
    assert_eq!(
        amount(&one.unwrap()),
        amount(&other.unwrap()),
        "one model answers two at the same time"
    );
}
