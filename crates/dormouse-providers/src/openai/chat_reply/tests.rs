use dormouse_contracts::{ChatDelta, ModelErrorKind, Usage};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::stream::test_replies::{calls as calls_in, content, draft};

/// The deltas that these events decode to, without the reply's metadata.
fn read(events: &[Value]) -> Result<Vec<ChatDelta>, Failure> {
    content(ChatDecoder::default(), events)
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

/// Calls as (id, name, arguments), assembled as a caller would.
fn collected(events: &[Value]) -> Vec<(String, String, String)> {
    calls_in(read(events).unwrap())
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
fn parallel_calls_in_pieces_are_distinguished_by_index() {
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
fn calls_with_missing_or_equal_indexes_are_distinguished() {
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
fn an_invalid_call_id_is_replaced() {
    let events = [calls(
        &json!([{"index": 0, "id": "a\nb", "function": {"name": "say"}}]),
    )];
    assert_eq!(collected(&events), [call("call_3_0", "say", "")]);
}

#[test]
fn the_first_finish_reason_is_kept_even_if_unknown() {
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
fn an_error_within_the_stream_is_reported() {
    let failure = read(&[json!({"error": {"code": 502, "message": "upstream died"}})]).unwrap_err();
    assert_eq!(failure.kind(), ModelErrorKind::Unavailable);
    assert_eq!(
        failure.to_string(),
        "the server ended the reply with an error: upstream died"
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

/// Any JSON, mostly with the fields of an event.
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
    fn any_event_is_accepted_without_panic_and_arguments_follow_their_call(
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

#[test]
fn thoughts_are_read_once_under_each_name() {
    for event in [
        json!({"reasoning_content": "hm"}),
        json!({"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}),
        json!({"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}, {"type": "reasoning.encrypted", "data": "x"}]}),
        json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
        json!({"reasoning_content": "", "reasoning": "hm"}),
    ] {
        let deltas = read(&[delta(&event)]).unwrap();
        assert_eq!(deltas, [ChatDelta::Reasoning("hm".to_owned())], "{event}");
    }
}

#[test]
fn text_in_content_parts_is_text() {
    let parts =
        json!({"content": [{"type": "text", "text": "Good "}, {"type": "text", "text": "day"}]});
    let deltas = read(&[delta(&parts)]).unwrap();
    assert_eq!(deltas, [ChatDelta::Text("Good day".to_owned())]);
}

#[test]
fn the_function_call_of_older_servers_is_a_tool_call() {
    let events = [
        delta(&json!({"function_call": {"name": "say", "arguments": ""}})),
        delta(&json!({"function_call": {"arguments": "{\"m\":"}})),
        delta(&json!({"function_call": {"name": "say", "arguments": "1}"}})),
        finish("function_call"),
    ];
    assert_eq!(collected(&events), [call("call_3_0", "say", "{\"m\":1}")]);
    let both = delta(&json!({
        "function_call": {"name": "say", "arguments": "{}"},
        "tool_calls": [{"index": 0, "id": "a", "function": {"name": "say", "arguments": "{}"}}],
    }));
    assert_eq!(collected(&[both]), [call("a", "say", "{}")]);
}

#[test]
fn the_finish_reason_error_is_an_error() {
    for (event, kind, said) in [
        (
            json!({"error": {"code": 429, "message": "slow"}, "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]}),
            ModelErrorKind::RateLimited(None),
            "slow",
        ),
        (
            json!({"choices": [{"index": 0, "delta": {}, "error": {"code": 502, "message": "died"}, "finish_reason": "error"}]}),
            ModelErrorKind::Unavailable,
            "died",
        ),
        (
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "error", "native_finish_reason": "MALFORMED"}]}),
            ModelErrorKind::Interrupted,
            "error: MALFORMED",
        ),
    ] {
        let failure = read(&[event]).unwrap_err();
        assert_eq!(failure.kind(), kind);
        assert!(failure.to_string().ends_with(said), "{failure}");
    }
}

#[test]
fn usage_is_read_with_all_its_parts_at_every_position() {
    let counted = json!({
        "prompt_tokens": 100, "completion_tokens": 20, "cost": 0.0025,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
        "completion_tokens_details": {"reasoning_tokens": 15},
    });
    let usage = ChatDelta::Usage(Usage {
        prompt_tokens: 100,
        completion_tokens: 20,
        cached_tokens: 60,
        cache_write_tokens: 30,
        reasoning_tokens: 15,
        cost: dormouse_contracts::Usd::from_dollars(0.0025),
    });
    for event in [
        json!({"choices": [], "usage": counted}),
        json!({"choices": [{"index": 0, "delta": {}}], "x_groq": {"usage": counted}}),
        json!({"choices": [{"index": 0, "delta": {}}], "usage": counted}),
    ] {
        assert_eq!(read(&[event]).unwrap(), std::slice::from_ref(&usage));
    }
    let deepseek = json!({"usage": {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 8}});
    let usage = Usage {
        prompt_tokens: 9,
        completion_tokens: 1,
        cached_tokens: 8,
        ..Usage::default()
    };
    assert_eq!(read(&[deepseek]).unwrap(), [ChatDelta::Usage(usage)]);
}

/// Events that the fast parser accepts, or nearly accepts.
fn nearly_ordinary() -> impl Strategy<Value = String> {
    let texts = vec![
        "null",
        "\"\"",
        "\"x\"",
        "\"\\u00e4\\n\"",
        "\"\\ud800\"",
        "7",
        "[]",
        "{}",
        "\"stop\"",
        "\"error\"",
    ];
    let text = || prop::sample::select(texts.clone());
    let calls = prop::sample::select(vec![
        "null",
        "[]",
        "[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]",
        "[{\"index\":1,\"function\":{\"arguments\":\"\"}}]",
        "[{\"index\":0,\"id\":null,\"type\":\"function\",\"function\":{\"name\":null,\"arguments\":\"a\"}}]",
        "[{\"index\":0,\"id\":\"\",\"function\":{\"arguments\":\"a\"}}]",
        "[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"say\",\"arguments\":\"\"}}]",
        "[{\"index\":0,\"function\":{\"arguments\":{}}}]",
        "[{\"function\":{\"arguments\":\"a\"}}]",
    ]);
    let fields = prop::collection::vec(
        (
            prop::sample::select(vec![
                "content",
                "reasoning_content",
                "reasoning",
                "refusal",
                "reasoning_details",
            ]),
            text(),
        ),
        0..4,
    );
    let outer = prop::collection::vec(
        (
            prop::sample::select(vec!["model", "id", "usage", "error", "provider", "x_groq"]),
            text(),
        ),
        0..3,
    );
    let index = prop::sample::select(vec!["0", "1", "null", "\"0\"", "-1"]);
    (fields, calls, any::<bool>(), outer, index, text(), text()).prop_map(
        |(fields, calls, has_calls, outer, index, reason, native)| {
            let pair = |(name, value): &(&str, &str)| format!("\"{name}\":{value}");
            // Fields that neither parser uses get no random values, because only the fast parser tolerates invalid text there.
            let mut delta = vec!["\"role\":\"assistant\"".to_owned()];
            delta.extend(fields.iter().map(pair));
            if has_calls {
                delta.push(format!("\"tool_calls\":{calls}"));
            }
            let choice = format!(
                "{{\"index\":{index},\"delta\":{{{}}},\"finish_reason\":{reason},\"native_finish_reason\":{native}}}",
                delta.join(",")
            );
            let mut event: Vec<String> = outer.iter().map(pair).collect();
            event.push(format!("\"choices\":[{choice}]"));
            format!("{{{}}}", event.join(","))
        },
    )
}

/// The result of one parser over these events: the deltas, and the failure at the end.
fn outcome(
    events: &[String],
    take: impl Fn(&mut ChatDecoder, &[u8], &mut Draft) -> Result<(), Failure>,
) -> (Vec<ChatDelta>, Option<String>) {
    let (mut decoder, mut draft) = (ChatDecoder::default(), draft());
    let begin = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"say"}}]}}]}"#;
    let mut events = std::iter::once(begin).chain(events.iter().map(String::as_str));
    let failure = events.find_map(|event| take(&mut decoder, event.as_bytes(), &mut draft).err());
    draft.end();
    (
        std::iter::from_fn(|| draft.next()).collect(),
        failure.map(|failure| failure.to_string()),
    )
}

proptest! {
    #[test]
    fn the_fast_parser_and_the_lenient_one_always_agree(
        events in prop::collection::vec(nearly_ordinary(), 1..6),
    ) {
        let short = outcome(&events, |decoder, data, draft| {
            decoder.take(Event { name: "", data }, draft)
        });
        let lenient = outcome(&events, ChatDecoder::unusual);
        prop_assert_eq!(short, lenient);
    }
}

#[test]
fn an_ordinary_event_uses_the_fast_parser() {
    for event in [
        r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","service_tier":"default","choices":[{"index":0,"delta":{"content":" a"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x"}"#,
        r#"{"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"created":1,"id":"c","model":"m","system_fingerprint":"b","object":"chat.completion.chunk"}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a"}}]}}]}"#,
        r#"{"id":"gen","provider":"Azure","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null,"native_finish_reason":null}]}"#,
    ] {
        assert!(
            serde_json::from_str::<Ordinary<'_>>(event).is_ok(),
            "{event}"
        );
    }
}
