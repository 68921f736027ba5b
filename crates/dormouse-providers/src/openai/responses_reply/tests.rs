use dormouse_contracts::{ChatDelta, ModelErrorKind, Usage};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::stream::test_replies::{content, deltas, draft};

fn read_all(events: &[Value]) -> Result<Vec<ChatDelta>, Failure> {
    deltas(ResponsesDecoder::default(), events)
}

/// The reply that a stream of these events makes, without its metadata.
fn read(events: &[Value]) -> Result<Vec<ChatDelta>, Failure> {
    content(ResponsesDecoder::default(), events)
}

fn text(text: &str) -> ChatDelta {
    ChatDelta::Text(text.to_owned())
}

fn completed() -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "usage": null, "output": []}})
}

fn start(index: usize, id: &str, name: &str) -> ChatDelta {
    ChatDelta::CallStart {
        index,
        id: id.parse().unwrap(),
        name: name.to_owned(),
    }
}

fn arguments(index: usize, fragment: &str) -> ChatDelta {
    ChatDelta::CallArguments {
        index,
        fragment: fragment.to_owned(),
    }
}

#[test]
fn a_text_that_arrives_three_times_is_reported_once() {
    let message = json!({"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "Good day"}]});
    let events = [
        json!({"type": "response.created", "response": {"id": "resp_1", "model": "tiny-2026", "status": "in_progress"}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1"}}),
        json!({"type": "response.reasoning_summary_text.delta", "delta": "hm"}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "id": "msg_1", "content": []}}),
        json!({"type": "response.output_text.delta", "item_id": "msg_1", "delta": "Good "}),
        json!({"type": "response.output_text.delta", "item_id": "msg_1", "delta": "day"}),
        json!({"type": "response.output_text.done", "text": "Good day"}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": message}),
        json!({"type": "response.completed", "response": {
            "id": "resp_1", "status": "completed", "output": [message],
            "usage": {"input_tokens": 20, "output_tokens": 9, "input_tokens_details": {"cached_tokens": 8},
                      "output_tokens_details": {"reasoning_tokens": 4}},
        }}),
    ];
    let deltas = read_all(&events).unwrap();
    let Some(ChatDelta::Info(info)) = deltas.last() else {
        unreachable!("a reply ends with what is known of it")
    };
    assert_eq!(info.served_model.as_deref(), Some("tiny-2026"));
    assert_eq!(info.request_id.as_deref(), Some("resp_1"));
    assert_eq!(
        read(&events).unwrap(),
        [
            ChatDelta::Reasoning("hm".to_owned()),
            text("Good "),
            text("day"),
            ChatDelta::Finished(FinishReason::Stop),
            ChatDelta::Usage(Usage {
                prompt_tokens: 20,
                completion_tokens: 9,
                cached_tokens: 8,
                reasoning_tokens: 4,
                ..Usage::default()
            }),
        ]
    );
}

#[test]
fn calls_in_pieces_are_distinguished_and_reported_once() {
    let added = |index: u64, name: &str| {
        json!({"type": "response.output_item.added", "output_index": index, "item": {
            "type": "function_call", "id": format!("fc_{index}"), "call_id": format!("call_{index}"), "name": name, "arguments": ""
        }})
    };
    let events = [
        added(1, "say"),
        added(2, "move"),
        json!({"type": "response.function_call_arguments.delta", "item_id": "fc_2", "output_index": 2, "delta": "{"}),
        json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 1, "delta": "{\"a\":"}),
        json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 1, "delta": "1}"}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "}"}),
        json!({"type": "response.function_call_arguments.done", "item_id": "fc_1", "arguments": "{\"a\":1}"}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": {
            "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "say", "arguments": "{\"a\":1}"}}),
        completed(),
    ];
    assert_eq!(
        read(&events).unwrap(),
        [
            start(0, "call_1", "say"),
            start(1, "call_2", "move"),
            arguments(1, "{"),
            arguments(0, "{\"a\":"),
            arguments(0, "1}"),
            arguments(1, "}"),
            ChatDelta::Finished(FinishReason::ToolCalls),
        ]
    );
}

#[test]
fn items_that_only_arrive_whole_are_reported() {
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "say", "arguments": "{}"});
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "Hm."}, {"type": "refusal", "refusal": " No."}]});
    let expected = [
        text("Hm. No."),
        start(0, "call_1", "say"),
        arguments(0, "{}"),
        ChatDelta::Finished(FinishReason::ToolCalls),
    ];
    let by_items = [
        json!({"type": "response.output_item.done", "output_index": 0, "item": message}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": call}),
        json!({"type": "response.completed", "response": {"output": [message, call]}}),
    ];
    assert_eq!(read(&by_items).unwrap(), expected);
    let at_the_end =
        [json!({"type": "response.completed", "response": {"output": [message, call]}})];
    assert_eq!(read(&at_the_end).unwrap(), expected);
}

#[test]
fn an_incomplete_reply_has_its_reason() {
    for (details, reason) in [
        (json!({"reason": "max_output_tokens"}), FinishReason::Length),
        (json!(null), FinishReason::Length),
        (
            json!({"reason": "content_filter"}),
            FinishReason::ContentFilter,
        ),
        (
            json!({"reason": "moon"}),
            FinishReason::Other("moon".to_owned()),
        ),
    ] {
        let event = json!({"type": "response.incomplete", "response": {"status": "incomplete", "incomplete_details": details}});
        assert_eq!(read(&[event]).unwrap(), [ChatDelta::Finished(reason)]);
    }
}

#[test]
fn a_failure_within_the_stream_is_reported() {
    for (event, kind) in [
        (
            json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "oops"}}}),
            ModelErrorKind::Unavailable,
        ),
        (
            json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow down", "param": null}),
            ModelErrorKind::RateLimited(None),
        ),
        (
            json!({"type": "error", "error": {"type": "invalid_request_error", "code": "context_length_exceeded", "message": "long"}}),
            ModelErrorKind::ContextExceeded,
        ),
        (
            json!({"error": {"code": 500, "message": "oops"}}),
            ModelErrorKind::Unavailable,
        ),
        (
            json!({"type": "response.function_call_arguments.delta", "output_index": 3, "delta": "{}"}),
            ModelErrorKind::Malformed,
        ),
    ] {
        assert_eq!(
            read(std::slice::from_ref(&event)).unwrap_err().kind(),
            kind,
            "{event}"
        );
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        (0_u64..4).prop_map(Value::from),
        "[a-c{}\"]{0,4}".prop_map(Value::from),
        prop::sample::select(vec!["function_call", "message", "completed", "incomplete"])
            .prop_map(Value::from),
    ];
    let fields = [
        "item",
        "response",
        "id",
        "call_id",
        "name",
        "arguments",
        "content",
        "text",
        "type",
        "output",
        "status",
        "usage",
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map(prop::sample::select(fields.to_vec()), inner, 0..6)
                .prop_map(|map| Value::Object(
                    map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
                )),
        ]
    })
}

proptest! {
    #[test]
    fn any_event_is_accepted_without_panic_and_arguments_follow_their_call(
        events in prop::collection::vec((
            prop::sample::select(vec![
                "response.output_item.added", "response.output_item.done", "response.function_call_arguments.delta",
                "response.function_call_arguments.done", "response.output_text.delta", "response.completed",
            ]),
            0_u64..3, "[a-c]{0,2}", json_value(), json_value(),
        ), 0..10),
    ) {
        let mut draft = draft();
        let mut decoder = ResponsesDecoder::default();
        let mut begun = 0;
        for (kind, place, text, item, response) in events {
            let data = json!({
                "type": kind, "output_index": place, "delta": text, "arguments": text, "item_id": text, "item": item, "response": response,
            }).to_string();
            if decoder.take(Event { name: "", data: data.as_bytes() }, &mut draft).is_err() {
                break;
            }
            while let Some(delta) = draft.next() {
                match delta {
                    ChatDelta::CallStart { index, .. } => {
                        prop_assert_eq!(index, begun);
                        begun += 1;
                    }
                    ChatDelta::CallArguments { index, .. } => prop_assert!(index < begun),
                    _ => {}
                }
            }
        }
    }
}
