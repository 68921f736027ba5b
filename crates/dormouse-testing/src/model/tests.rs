use dormouse_contracts::{CallId, ChatReply, FinishReason, Message, ToolCall, Usage, complete};
use futures_util::{FutureExt, future::join};
use serde_json::json;

use super::*;
use crate::Gate;

fn asking(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User {
            content: text.to_owned(),
        }],
        ..ChatRequest::default()
    }
}

async fn kind(model: &ScriptedModel) -> ModelErrorKind {
    complete(model, &asking("Hm?")).await.unwrap_err().kind()
}

async fn pieces(model: &ScriptedModel) -> Vec<ChatDelta> {
    let request = asking("Hm?");
    model.stream(&request).map(Result::unwrap).collect().await
}

#[tokio::test]
async fn turns_are_played_in_order_and_then_requests_are_refused() {
    let model = ScriptedModel::new([
        ScriptedTurn::text("One moment, please."),
        ScriptedTurn::Fail(ModelErrorKind::Unavailable),
    ]);
    let reply = complete(&model, &asking("Are you there?")).await.unwrap();
    let expected = ChatReply {
        content: "One moment, please.".to_owned(),
        tool_calls: Vec::new(),
        finish: FinishReason::Stop,
        usage: Some(Usage {
            prompt_tokens: 3,
            completion_tokens: 3,
            ..Usage::default()
        }),
        ..ChatReply::default()
    };
    assert_eq!(reply, expected);
    assert_eq!(model.remaining(), 1);
    assert_eq!(kind(&model).await, ModelErrorKind::Unavailable);
    model.assert_finished();

    let error = complete(&model, &asking("More?")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Refused);
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(
        source.downcast_ref(),
        Some(&ScriptError::Exhausted { turns: 2 })
    );
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
#[should_panic(expected = "requests after the end of the script")]
async fn a_request_too_many_is_not_finished() {
    let model = ScriptedModel::new([]);
    kind(&model).await;
    model.assert_finished();
}

#[test]
#[should_panic(expected = "turns of the script that were not used")]
fn a_turn_too_many_is_not_finished() {
    ScriptedModel::new([ScriptedTurn::Hang]).assert_finished();
}

#[tokio::test]
async fn a_wrong_request_is_refused_recorded_and_uses_up_no_turn() {
    let model = ScriptedModel::new([ScriptedTurn::text("Yes.")]);
    let error = complete(&model, &ChatRequest::default()).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Refused);
    assert_eq!(model.violations(), [Violation::NoMessages]);
    assert_eq!(model.remaining(), 1);
    complete(&model, &asking("Hm?")).await.unwrap();
    assert!(std::panic::catch_unwind(|| model.assert_finished()).is_err());
}

#[tokio::test]
async fn calls_are_numbered_on_and_never_repeat_an_id_of_the_request() {
    let calls = || ScriptedTurn::calls([("say", json!({})), ("move", json!({"exit": "n"}))]);
    let model = ScriptedModel::new([calls(), calls()]);
    let first = complete(&model, &asking("Go!")).await.unwrap();
    let second = complete(&model, &asking("Go on!")).await.unwrap();
    let ids = [first, second].map(|reply| reply.tool_calls.into_iter().map(|call| call.id));
    let ids: Vec<_> = ids.into_iter().flatten().collect();
    let expected = ["call-1", "call-2", "call-3", "call-4"].map(|id| CallId::try_new(id).unwrap());
    assert_eq!(ids, expected);

    // Another model takes the conversation over, as after a restart.
    let mut request = asking("Go!");
    let call = ToolCall {
        id: CallId::try_new("call-7").unwrap(),
        name: "say".to_owned(),
        arguments: "{}".to_owned(),
    };
    request.messages.extend([
        Message::Assistant {
            content: String::new(),
            tool_calls: vec![call.clone()],
        },
        Message::Tool {
            call_id: call.id,
            content: "{}".to_owned(),
        },
    ]);
    let other = ScriptedModel::looping(ScriptedTurn::call("say", json!({})));
    let reply = complete(&other, &request).await.unwrap();
    assert_eq!(reply.tool_calls[0].id.as_str(), "call-8");
}

#[tokio::test]
async fn a_reply_arrives_in_pieces_and_no_character_is_split() {
    let arguments = r#"{"text":"žluťoučký"}"#;
    let calls = ScriptedTurn::Calls(vec![("say".to_owned(), arguments.to_owned())]);
    let model = ScriptedModel::new([ScriptedTurn::text("a bc"), calls]);
    let text = [
        ChatDelta::Text("a ".to_owned()),
        ChatDelta::Text("bc".to_owned()),
    ];
    assert_eq!(pieces(&model).await[..2], text);
    let deltas = pieces(&model).await;
    let fragments: Vec<&str> = deltas
        .iter()
        .filter_map(|delta| match delta {
            ChatDelta::CallArguments { fragment, .. } => Some(fragment.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(fragments.len(), 2);
    assert_eq!(fragments.concat(), arguments);
}

#[tokio::test]
async fn a_cut_off_reply_is_interrupted_after_its_text() {
    let cut_off = || ScriptedTurn::CutOff {
        text: "I was just".to_owned(),
    };
    let model = ScriptedModel::new([cut_off(), cut_off()]);
    assert_eq!(kind(&model).await, ModelErrorKind::Interrupted);
    assert_eq!(pieces(&model).await.len(), 3);
}

#[tokio::test]
async fn a_model_that_hangs_or_stalls_never_ends() {
    let stall = ScriptedTurn::Stall {
        text: "Well".to_owned(),
    };
    let model = ScriptedModel::new([ScriptedTurn::Hang, stall]);
    assert!(kind(&model).now_or_never().is_none());
    let request = asking("Hm?");
    let mut stream = model.stream(&request);
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!(first, ChatDelta::Text("Well".to_owned()));
    assert!(stream.next().now_or_never().is_none());
}

#[tokio::test]
async fn a_turn_can_decide_by_the_request_and_look_at_the_model() {
    let model = ScriptedModel::new([]);
    let handle = model.clone();
    model.push(ScriptedTurn::with(move |request| {
        ScriptedTurn::text(format!(
            "{}/{}",
            request.messages.len(),
            handle.requests().len()
        ))
    }));
    let reply = complete(&model, &asking("Hm?")).await.unwrap();
    assert_eq!(reply.content, "1/1");
}

#[tokio::test]
async fn a_gate_holds_a_turn_until_the_test_opens_it() {
    let gate = Gate::new();
    let model = ScriptedModel::new([ScriptedTurn::after(&gate, ScriptedTurn::text("At last."))]);
    let request = asking("Hm?");
    let test = async {
        gate.reached().await;
        assert_eq!(model.remaining(), 0, "the request has been made");
        gate.open();
    };
    let ((), reply) = join(test, complete(&model, &request)).await;
    assert_eq!(reply.unwrap().content, "At last.");
}

#[tokio::test]
async fn a_raw_turn_need_not_be_a_valid_reply() {
    let raw = vec![
        Ok(ChatDelta::CallArguments {
            index: 0,
            fragment: "{".to_owned(),
        }),
        Err(ModelErrorKind::Unavailable),
    ];
    let model = ScriptedModel::new([ScriptedTurn::Raw(raw)]);
    assert_eq!(kind(&model).await, ModelErrorKind::Malformed);
}

#[tokio::test]
async fn a_looping_model_never_runs_out() {
    let model = ScriptedModel::looping(ScriptedTurn::Fail(ModelErrorKind::RateLimited(None)));
    for _ in 0..3 {
        assert_eq!(kind(&model).await, ModelErrorKind::RateLimited(None));
    }
    model.assert_finished();
}

#[test]
fn an_unpolled_stream_makes_no_request() {
    let model = ScriptedModel::looping(ScriptedTurn::Hang);
    drop(model.stream(&asking("Hm?")));
    assert_eq!(model.requests(), []);
}
