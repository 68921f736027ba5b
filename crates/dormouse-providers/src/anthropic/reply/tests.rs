use dormouse_contracts::{ChatDelta, ModelErrorKind, ToolDefinition, Usage};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::stream::test_replies::{calls as calls_in, content, draft};

fn decoder() -> MessageDecoder {
    MessageDecoder::new(ToolNames::of(&[ToolDefinition {
        name: "world.say".parse().unwrap(),
        description: String::new(),
        parameters: json!({}),
    }]))
}

/// The reply that a stream of these events makes, without its metadata.
fn read(events: &[Value]) -> Result<Vec<ChatDelta>, Failure> {
    content(decoder(), events)
}

fn start(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn text(text: &str) -> Value {
    delta(0, &json!({"type": "text_delta", "text": text}))
}

fn arguments(index: u64, json: &str) -> Value {
    delta(
        index,
        &json!({"type": "input_json_delta", "partial_json": json}),
    )
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn finish(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}})
}

fn tool(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {}})
}

/// Calls as (id, name, arguments), assembled like a caller does.
fn collected(events: &[Value]) -> Vec<(String, String, String)> {
    calls_in(read(events).unwrap())
}

fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), arguments.to_owned())
}

#[test]
fn thoughts_text_and_usage_are_separated() {
    let events = [
        json!({"type": "message_start", "message": {"id": "msg_1", "model": "tiny", "content": [], "usage":
            {"input_tokens": 7, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1}}}),
        start(
            0,
            &json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        json!({"type": "ping"}),
        delta(0, &json!({"type": "thinking_delta", "thinking": "Hm."})),
        delta(0, &json!({"type": "signature_delta", "signature": "EqQB"})),
        stop(0),
        start(1, &json!({"type": "redacted_thinking", "data": "xyz"})),
        stop(1),
        start(2, &json!({"type": "text", "text": "Hel"})),
        delta(2, &json!({"type": "text_delta", "text": "lo"})),
        delta(2, &json!({"type": "citations_delta", "citation": {}})),
        stop(2),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage":
            {"input_tokens": 0, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}}),
        json!({"type": "message_stop"}),
        text("behind the end"),
    ];
    assert_eq!(
        read(&events[..14]).unwrap(),
        [
            ChatDelta::Reasoning("Hm.".to_owned()),
            ChatDelta::Text("Hel".to_owned()),
            ChatDelta::Text("lo".to_owned()),
            ChatDelta::Finished(FinishReason::Stop),
            ChatDelta::Usage(Usage {
                prompt_tokens: 127,
                completion_tokens: 9,
                cached_tokens: 100,
                cache_write_tokens: 20,
                reasoning_tokens: 4,
                cost: None,
            }),
        ]
    );
    assert_eq!(read(&events).unwrap(), read(&events[..14]).unwrap());
}

#[test]
fn calls_in_overlapping_blocks_are_distinguished_by_index() {
    let events = [
        start(
            1,
            &json!({"type": "tool_use", "id": "a", "name": "world_say"}),
        ),
        arguments(1, ""),
        arguments(1, "{ \"m\""),
        start(2, &tool("b", "look")),
        arguments(2, "{}"),
        arguments(1, ":1}"),
        stop(1),
        stop(2),
        finish("tool_use"),
    ];
    assert_eq!(
        collected(&events),
        [
            call("a", "world.say", "{ \"m\":1}"),
            call("b", "look", "{}")
        ]
    );
}

#[test]
fn whole_or_missing_arguments_are_an_object() {
    let whole = json!({"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}});
    for events in [
        vec![start(0, &whole), stop(0)],
        vec![start(0, &whole), finish("tool_use")],
        vec![start(0, &whole), stop(0), stop(0), finish("tool_use")],
        vec![
            start(0, &tool("a", "look")),
            arguments(0, "{\"at\":1}"),
            stop(0),
        ],
    ] {
        assert_eq!(collected(&events), [call("a", "look", "{\"at\":1}")]);
    }
    let nothing = json!({"type": "tool_use", "name": "look"});
    let events = [start(0, &nothing), finish("tool_use")];
    assert_eq!(collected(&events), [call("call_3_0", "look", "{}")]);
}

#[test]
fn calls_that_the_server_executes_are_ignored() {
    let events = [
        start(
            0,
            &json!({"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}),
        ),
        arguments(0, "{\"query\":\"tea\"}"),
        stop(0),
        start(
            1,
            &json!({"type": "web_search_tool_result", "tool_use_id": "srv", "content": []}),
        ),
        stop(1),
        finish("pause_turn"),
    ];
    let reason = FinishReason::Other("pause_turn".to_owned());
    assert_eq!(read(&events).unwrap(), [ChatDelta::Finished(reason)]);
}

#[test]
fn every_stop_reason_is_kept_and_only_the_first() {
    for (reason, expected) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("tool_use", FinishReason::ToolCalls),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("refusal", FinishReason::ContentFilter),
        ("new", FinishReason::Other("new".to_owned())),
    ] {
        let events = [
            finish(""),
            finish(reason),
            finish("end_turn"),
            json!({"type": "message_stop"}),
        ];
        assert_eq!(read(&events).unwrap(), [ChatDelta::Finished(expected)]);
    }
    let shown = read(&[json!({"type": "message_stop"})]).unwrap();
    assert_eq!(shown, [ChatDelta::Finished(FinishReason::Stop)]);
}

#[test]
fn an_error_within_the_stream_has_its_kind() {
    for (kind, expected) in [
        ("overloaded_error", ModelErrorKind::Unavailable),
        ("api_error", ModelErrorKind::Unavailable),
        ("rate_limit_error", ModelErrorKind::RateLimited(None)),
        ("authentication_error", ModelErrorKind::Auth),
        ("billing_error", ModelErrorKind::Auth),
        ("timeout_error", ModelErrorKind::TimedOut),
        ("invalid_request_error", ModelErrorKind::Refused),
        ("new_error", ModelErrorKind::Interrupted),
    ] {
        let event = json!({"type": "error", "error": {"type": kind, "message": "no"}, "request_id": "req_1"});
        let failure = read(&[text("x"), event]).unwrap_err();
        assert_eq!(failure.kind(), expected, "{kind}");
        assert!(
            failure
                .to_string()
                .ends_with(&format!("with an error: no ({kind})"))
        );
    }
}

#[test]
fn a_call_that_never_began_or_has_no_name_is_malformed() {
    for event in [
        arguments(0, "{}"),
        start(0, &json!({"type": "tool_use", "id": "a"})),
    ] {
        assert_eq!(
            read(&[event]).unwrap_err().kind(),
            ModelErrorKind::Malformed
        );
    }
    assert!(read(&[arguments(0, "")]).is_ok());
}

#[test]
fn a_reply_is_bounded_in_text_and_in_calls() {
    let long = text(&"x".repeat(1 << 16));
    assert!(read(&vec![long.clone(); 4]).is_ok());
    let failure = read(&vec![long; 5]).unwrap_err();
    assert_eq!(failure.to_string(), "the reply has more than 262144 bytes");
    let many: Vec<Value> = (0..=128)
        .map(|n| start(n, &tool(&n.to_string(), "say")))
        .collect();
    let failure = read(&many).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "the reply has more than 128 tool calls"
    );
}

/// Any JSON, mostly with the fields of an event.
fn json_value() -> impl Strategy<Value = Value> {
    let words = vec![
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "tool_use",
        "text",
        "thinking",
        "text_delta",
        "input_json_delta",
        "end_turn",
        "{\"a\":",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0_i64..3).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(words).prop_map(Value::from),
    ];
    let field = prop::sample::select(vec![
        "type",
        "index",
        "message",
        "content_block",
        "delta",
        "usage",
        "text",
        "name",
        "id",
        "input",
        "partial_json",
        "stop_reason",
        "input_tokens",
        "output_tokens",
        "x",
    ]);
    leaf.prop_recursive(4, 32, 4, move |inner| {
        let fields = prop::collection::vec((field.clone(), inner.clone()), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(Value::from),
            fields.prop_map(|fields| {
                let fields = fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value));
                Value::Object(fields.collect())
            }),
        ]
    })
}

#[test]
fn a_whole_message_is_read_like_a_streamed_one() {
    let message = json!({
        "type": "message", "id": "msg_1", "model": "m", "usage": {"input_tokens": 3, "output_tokens": 2},
        "content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hi"},
            {"type": "tool_use", "id": "a", "name": "world_say", "input": {"n": 1}},
        ],
    });
    let mut draft = draft();
    let body = message.to_string();
    decoder().whole(body.as_bytes(), &mut draft).unwrap();
    let deltas: Vec<_> = std::iter::from_fn(|| draft.next()).skip(1).collect();
    let expected = [
        ChatDelta::Reasoning("hm".to_owned()),
        ChatDelta::Text("hi".to_owned()),
        ChatDelta::CallStart {
            index: 0,
            id: "a".parse().unwrap(),
            name: "world.say".to_owned(),
        },
        ChatDelta::CallArguments {
            index: 0,
            fragment: "{\"n\":1}".to_owned(),
        },
        ChatDelta::Finished(FinishReason::ToolCalls),
    ];
    assert_eq!(deltas, expected);
}

/// Events that are almost valid.
fn event() -> impl Strategy<Value = Value> {
    let index = || 0_u64..3;
    prop_oneof![
        json_value(),
        (index(), "[ab]?", "[ab]{0,2}")
            .prop_map(|(index, id, name)| start(index, &tool(&id, &name))),
        (index(), json_value()).prop_map(|(index, block)| start(index, &block)),
        (index(), "[{}\":a1]{0,4}").prop_map(|(index, json)| arguments(index, &json)),
        "[a-z]{0,3}".prop_map(|words| text(&words)),
        index().prop_map(stop),
        prop::sample::select(vec!["", "tool_use", "end_turn"]).prop_map(finish),
        json_value().prop_map(|usage| json!({"type": "message_delta", "usage": usage})),
    ]
}

proptest! {
    #[test]
    fn any_event_is_accepted_without_panic_and_deltas_keep_their_order(
        events in prop::collection::vec(event(), 0..16),
    ) {
        let mut draft = draft();
        let mut decoder = decoder();
        let (mut begun, mut finished) = (0, false);
        for event in events {
            let data = event.to_string();
            if decoder.take(Event { name: "", data: data.as_bytes() }, &mut draft).is_err() {
                break;
            }
            let deltas: Vec<_> = std::iter::from_fn(|| draft.next()).collect();
            for delta in deltas {
                prop_assert!(!finished, "{delta:?} comes behind the end");
                match delta {
                    ChatDelta::CallStart { index, name, .. } => {
                        prop_assert_eq!(index, begun);
                        prop_assert!(!name.is_empty());
                        begun += 1;
                    }
                    ChatDelta::CallArguments { index, .. } => prop_assert!(index < begun),
                    ChatDelta::Finished(_) => finished = true,
                    _ => {}
                }
            }
        }
    }
}
