use dormouse_contracts::{ChatDelta, ModelErrorKind, Usage};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::stream::test_replies::{content, draft};

fn take(lines: &[String], draft: &mut Draft) -> Result<(), Failure> {
    lines.iter().try_for_each(|line| {
        let data = line.as_bytes();
        ChatDecoder.take(Event { name: "", data }, draft)
    })
}

/// The reply that a stream of these lines makes, without its metadata.
fn read(lines: &[Value]) -> Result<Vec<ChatDelta>, Failure> {
    content(ChatDecoder, lines)
}

fn message(message: &Value) -> Value {
    json!({"model": "tiny", "created_at": "2026-11-20T10:00:00Z", "message": message, "done": false})
}

fn done(reason: &str) -> Value {
    json!({
        "model": "tiny", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
        "total_duration": 4_883_583_458_u64, "prompt_eval_count": 26, "eval_count": 29
    })
}

fn counted() -> ChatDelta {
    ChatDelta::Usage(Usage {
        prompt_tokens: 26,
        completion_tokens: 29,
        ..Usage::default()
    })
}

fn text(text: &str) -> ChatDelta {
    ChatDelta::Text(text.to_owned())
}

#[test]
fn thoughts_are_separated_from_text_under_either_name() {
    let lines = [
        message(&json!({"role": "assistant", "content": "", "thinking": "Hm"})),
        message(&json!({"role": "assistant", "content": "", "reasoning_content": "m."})),
        message(&json!({"role": "assistant", "content": "Good "})),
        message(&json!({"role": "assistant", "content": "day."})),
        done("stop"),
    ];
    let thought = |text: &str| ChatDelta::Reasoning(text.to_owned());
    let expected = [
        thought("Hm"),
        thought("m."),
        text("Good "),
        text("day."),
        ChatDelta::Finished(FinishReason::Stop),
        counted(),
    ];
    assert_eq!(read(&lines).unwrap(), expected);
}

#[test]
fn calls_get_ids_and_their_arguments_may_be_an_object_or_a_text() {
    let calls = json!({"content": "", "tool_calls": [
        {"function": {"name": "look", "arguments": {"at": "tea"}}},
        {"function": {"index": 1, "name": "say", "arguments": "{\"message\":\"hm\"}"}},
    ]});
    let more = json!({"tool_calls": [{"id": "call_x", "function": {"name": "rest"}}]});
    let start = |index, id: &str, name: &str| ChatDelta::CallStart {
        index,
        id: id.parse().unwrap(),
        name: name.to_owned(),
    };
    let arguments = |index, text: &str| ChatDelta::CallArguments {
        index,
        fragment: text.to_owned(),
    };
    assert_eq!(
        read(&[message(&calls), message(&more), done("stop")]).unwrap(),
        [
            start(0, "call_3_0", "look"),
            arguments(0, "{\"at\":\"tea\"}"),
            start(1, "call_3_1", "say"),
            arguments(1, "{\"message\":\"hm\"}"),
            start(2, "call_x", "rest"),
            ChatDelta::Finished(FinishReason::ToolCalls),
            counted(),
        ]
    );
}

#[test]
fn every_finish_reason_is_mapped() {
    for (reason, expected) in [
        ("stop", FinishReason::Stop),
        ("", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("load", FinishReason::Other("load".to_owned())),
        ("unload", FinishReason::Other("unload".to_owned())),
    ] {
        let deltas = read(&[done(reason)]).unwrap();
        assert_eq!(deltas[0], ChatDelta::Finished(expected), "{reason}");
    }
}

#[test]
fn a_whole_reply_in_one_line_is_accepted() {
    let mut line = done("stop");
    line["message"] = json!({"role": "assistant", "content": "Good day."});
    line["prompt_eval_count"] = json!(-3);
    let expected = [text("Good day."), ChatDelta::Finished(FinishReason::Stop)];
    assert_eq!(read(&[line]).unwrap(), expected, "and no count is believed");
}

#[test]
fn an_error_in_the_middle_ends_the_reply() {
    let kind = |error: Value| {
        let lines = [
            message(&json!({"content": "Go"})),
            json!({ "error": error }),
        ];
        let failure = read(&lines).unwrap_err();
        assert!(matches!(failure, Failure::BrokenOff(_)), "{failure}");
        failure.kind()
    };
    let ran_out = "an error was encountered while running the model: CUDA error";
    assert_eq!(kind(json!(ran_out)), ModelErrorKind::Interrupted);
    let too_long = "the input length exceeds the context length";
    assert_eq!(kind(json!(too_long)), ModelErrorKind::ContextExceeded);
    let passed_on = r#"{"error":{"code":400,"message":"request (8889 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error"}}"#;
    assert_eq!(kind(json!(passed_on)), ModelErrorKind::ContextExceeded);
}

#[test]
fn invalid_lines_are_malformed() {
    for line in ["", "{\"message\"", "[]", "\"x\"", "null"] {
        let failure = take(&[line.to_owned()], &mut draft()).unwrap_err();
        assert_eq!(failure.kind(), ModelErrorKind::Malformed, "{line}");
    }
    let nameless = message(&json!({"tool_calls": [{"function": {"arguments": {}}}]}));
    assert!(matches!(read(&[nameless]), Err(Failure::NamelessCall)));
    let many = json!({"function": {"name": "look", "arguments": {}}});
    let many = message(&json!({"tool_calls": vec![many; 129]}));
    assert!(matches!(read(&[many]), Err(Failure::TooMuch { .. })));
}

proptest! {
    #[test]
    fn no_line_makes_the_decoder_panic(
        content in any::<String>(), odd in prop::sample::select(vec!["null", "7", "[]", "{}", "\"x\"", "true", "-1e300"]),
        field in prop::sample::select(vec![
            "model", "message", "done", "done_reason", "eval_count", "/content", "/thinking", "/tool_calls",
        ]),
    ) {
        let odd: Value = serde_json::from_str(odd).unwrap();
        let mut line = done("stop");
        line["message"]["content"] = json!(content);
        match field.strip_prefix('/') {
            Some(inner) => line["message"][inner] = odd,
            None => line[field] = odd,
        }
        // A line with `done` ends the reply in every case.
        match read(&[line.clone()]) {
            Ok(deltas) => {
                let finishes = deltas.iter().filter(|delta| matches!(delta, ChatDelta::Finished(_)));
                prop_assert_eq!(finishes.count(), usize::from(line["done"] == json!(true)));
            }
            Err(failure) => prop_assert!(matches!(failure, Failure::NamelessCall)),
        }
    }
}
