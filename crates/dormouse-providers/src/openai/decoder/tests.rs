use dormouse_contracts::{ChatDelta, ModelErrorKind, RateLimits, ReplyInfo, Usage};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::http::Redact;

fn draft() -> Draft {
    let info = ReplyInfo {
        provider: "local".parse().unwrap(),
        model: "tiny".parse().unwrap(),
        served_model: None,
        request_id: None,
        rate_limits: RateLimits::default(),
        left_out: Vec::new(),
    };
    Draft::new(3, info, Redact::default())
}

/// What a stream of these events amounts to, but for what is known of it besides.
fn read(events: &[Value]) -> Result<Vec<ChatDelta>, Failure> {
    let mut draft = draft();
    let mut decoder = ChatDecoder::default();
    for event in events {
        let data = event.to_string();
        let event = Event {
            name: "",
            data: data.as_bytes(),
        };
        decoder.take(event, &mut draft)?;
    }
    draft.end();
    let deltas = std::iter::from_fn(|| draft.next());
    Ok(deltas
        .filter(|delta| !matches!(delta, ChatDelta::Info(_)))
        .collect())
}

fn delta(delta: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn calls(calls: &Value) -> Value {
    delta(&json!({ "tool_calls": calls }))
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// Calls as (id, name, arguments), put together as a caller does.
fn collected(events: &[Value]) -> Vec<(String, String, String)> {
    let mut calls: Vec<(String, String, String)> = Vec::new();
    for delta in read(events).unwrap() {
        match delta {
            ChatDelta::CallStart { index, id, name } => {
                assert_eq!(index, calls.len());
                calls.push((id.to_string(), name, String::new()));
            }
            ChatDelta::CallArguments { index, fragment } => calls[index].2.push_str(&fragment),
            _ => {}
        }
    }
    calls
}

fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), arguments.to_owned())
}

#[test]
fn a_text_reply_with_the_oddities_of_real_servers_is_read() {
    let events = [
        delta(&json!({"role": "assistant", "content": null})),
        delta(&json!({"content": "Hel"})),
        delta(&json!({"content": "lo", "reasoning_content": "thinking", "x": {}})),
        delta(&json!({"content": ""})),
        json!({"choices": [{"index": 1, "delta": {"content": "another"}}]}),
        finish("stop"),
        json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}, "timings": {}}),
        json!({"choices": null, "usage": null}),
    ];
    assert_eq!(
        read(&events).unwrap(),
        [
            ChatDelta::Text("Hel".to_owned()),
            ChatDelta::Reasoning("thinking".to_owned()),
            ChatDelta::Text("lo".to_owned()),
            ChatDelta::Finished(FinishReason::Stop),
            ChatDelta::Usage(Usage {
                prompt_tokens: 7,
                completion_tokens: 2,
                ..Usage::default()
            }),
        ]
    );
}

#[test]
fn parallel_calls_in_pieces_are_told_apart_by_their_index() {
    let events = [
        calls(
            &json!([{"index": 0, "id": "a", "type": "function", "function": {"name": "say", "arguments": ""}}]),
        ),
        calls(&json!([{"index": 1, "id": "b", "function": {"name": "move", "arguments": "{"}}])),
        calls(
            &json!([{"index": 0, "function": {"arguments": "{\"m\":"}}, {"index": 1, "function": {"arguments": "}"}}]),
        ),
        calls(&json!([{"index": 0, "function": {"arguments": "1}"}}])),
    ];
    assert_eq!(
        collected(&events),
        [call("a", "say", "{\"m\":1}"), call("b", "move", "{}")]
    );
}

#[test]
fn calls_without_index_or_id_or_all_with_the_same_index_are_told_apart() {
    let without_index = [
        calls(&json!([{"id": "a", "function": {"name": "say", "arguments": "{"}}])),
        calls(&json!([{"function": {"arguments": "}"}}])),
        calls(&json!([{"id": "b", "function": {"name": "say", "arguments": "{}"}}])),
    ];
    assert_eq!(
        collected(&without_index),
        [call("a", "say", "{}"), call("b", "say", "{}")]
    );
    let without_id = [
        calls(&json!([{"index": 0, "function": {"name": "say", "arguments": {"message": 1}}}])),
        calls(&json!([{"index": 1, "id": "", "function": {"name": "move"}}])),
        calls(&json!([{"function": {"name": "noop"}}])),
    ];
    assert_eq!(
        collected(&without_id),
        [
            call("call_3_0", "say", "{\"message\":1}"),
            call("call_3_1", "move", ""),
            call("call_3_2", "noop", "")
        ]
    );
    let all_zero = [calls(&json!([
        {"index": 0, "id": "a", "function": {"name": "say", "arguments": "{}"}},
        {"index": 0, "id": "b", "function": {"name": "move", "arguments": "{}"}},
    ]))];
    assert_eq!(
        collected(&all_zero),
        [call("a", "say", "{}"), call("b", "move", "{}")]
    );
    let repeated = [
        calls(&json!([{"index": 0, "id": "a", "function": {"name": "say", "arguments": "{"}}])),
        calls(&json!([{"index": 0, "id": "a", "function": {"name": "say", "arguments": "}"}}])),
    ];
    assert_eq!(collected(&repeated), [call("a", "say", "{}")]);
}

#[test]
fn an_id_that_cannot_be_kept_is_replaced() {
    let events = [calls(
        &json!([{"index": 0, "id": "a\nb", "function": {"name": "say"}}]),
    )];
    assert_eq!(collected(&events), [call("call_3_0", "say", "")]);
}

#[test]
fn every_finish_reason_is_kept_also_unknown_ones_and_only_the_first() {
    for (reason, expected) in [
        ("stop", FinishReason::Stop),
        ("tool_calls", FinishReason::ToolCalls),
        ("function_call", FinishReason::ToolCalls),
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("eos", FinishReason::Other("eos".to_owned())),
    ] {
        let deltas = read(&[finish(""), finish(reason), finish("stop")]).unwrap();
        assert_eq!(deltas, [ChatDelta::Finished(expected)]);
    }
}

#[test]
fn a_refusal_is_text() {
    let deltas = read(&[delta(&json!({"refusal": "I cannot."}))]).unwrap();
    assert_eq!(deltas, [ChatDelta::Text("I cannot.".to_owned())]);
}

#[test]
fn an_error_within_the_stream_is_told() {
    let failure = read(&[json!({"error": {"code": 502, "message": "upstream died"}})]).unwrap_err();
    assert_eq!(failure.kind(), ModelErrorKind::Unavailable);
    assert_eq!(
        failure.to_string(),
        "the server broke off and said: upstream died"
    );
}

#[test]
fn arguments_of_a_call_that_never_began_are_malformed() {
    let failure = read(&[calls(
        &json!([{"index": 0, "function": {"arguments": "{}"}}]),
    )])
    .unwrap_err();
    assert_eq!(failure.kind(), ModelErrorKind::Malformed);
}

#[test]
fn a_reply_is_bounded_in_text_and_in_calls() {
    let long = delta(&json!({"content": "x".repeat(1 << 16)}));
    assert!(read(&vec![long.clone(); 4]).is_ok());
    let failure = read(&vec![long; 5]).unwrap_err();
    assert_eq!(failure.to_string(), "the reply has more than 262144 bytes");
    let many: Vec<Value> = (0..=128)
        .map(|n| calls(&json!([{"index": n, "function": {"name": "say"}}])))
        .collect();
    let failure = read(&many).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "the reply has more than 128 tool calls"
    );
}

/// Any JSON, with the fields of an event more often than others.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z{}\\\\\"]{0,6}".prop_map(Value::from),
    ];
    let field = prop::sample::select(vec![
        "choices",
        "delta",
        "index",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "content",
        "finish_reason",
        "usage",
        "prompt_tokens",
        "error",
        "x",
    ]);
    leaf.prop_recursive(6, 48, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((field.clone(), inner), 0..5).prop_map(|fields| {
                Value::Object(
                    fields
                        .into_iter()
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect(),
                )
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_event_makes_it_fail_and_no_arguments_come_before_their_call(
        events in prop::collection::vec(json_value(), 0..8),
    ) {
        let mut draft = draft();
        let mut decoder = ChatDecoder::default();
        let mut begun = 0;
        for event in events {
            let data = event.to_string();
            if decoder.take(Event { name: "", data: data.as_bytes() }, &mut draft).is_err() {
                break;
            }
            let deltas: Vec<_> = std::iter::from_fn(|| draft.next()).collect();
            for delta in deltas {
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
