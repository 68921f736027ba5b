//! Any text can be parsed, and a quoted call is not a call.

use dormouse_contracts::{CallId, ChatReply, FinishReason, ToolCall};
use dormouse_dialects::{
    Anomaly, Content, NATIVE_CALLS_LIMIT, PRINTED_CALLS_LIMIT, ParsedReply, ToolCalling,
    parse_reply,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn reply(content: impl Into<String>) -> ChatReply {
    ChatReply {
        content: content.into(),
        ..ChatReply::default()
    }
}

fn reading(content: &str, calling: ToolCalling) -> ParsedReply {
    parse_reply(&reply(content), calling, |name| name == "say")
}

/// The forms of a call of `say`, each as a whole text.
fn forms(message: &str) -> Vec<String> {
    let arguments = json!({"message": message});
    let named = json!({"name": "say", "arguments": arguments});
    vec![
        json!({"tool": "say", "parameters": arguments}).to_string(),
        named.to_string(),
        format!("```json\n{named}\n```"),
        format!("<tool_call>\n{named}\n</tool_call>"),
        format!("<function_call>{named}</function_call>"),
        format!("<function=say>{arguments}</function>"),
        format!("<|python_tag|>{named}<|eom_id|>"),
        format!("[TOOL_CALLS][{named}]"),
        format!("[TOOL_CALLS]say[ARGS]{arguments}"),
        json!({"tool_calls": [named]}).to_string(),
        json!({"function_call": {"name": "say", "arguments": arguments.to_string()}}).to_string(),
        format!(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>say<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
        ),
        format!("<|channel|>commentary to=functions.say<|message|>{arguments}<|call|>"),
        format!("<think>hm</think>{named}"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_can_be_read(text in r#"([{}\[\]<>|"'\\:,a-z ž\n]|<think>|</think>|<tool_call>|\[TOOL_CALLS\]|<invoke name="say">|</invoke>|<function=say>|<parameter=|<\|channel\|>|<\|message\|>|\{"tool": "say"|\}){0,80}"#) {
        for calling in [ToolCalling::Native, ToolCalling::Fallback] {
            for finish in [FinishReason::Stop, FinishReason::Length] {
                let reading = parse_reply(&ChatReply { finish, ..reply(text.as_str()) }, calling, |name| name == "say");
                let calls = reading.calls();
                prop_assert!(calls.len() <= PRINTED_CALLS_LIMIT);
                if calling == ToolCalling::Native {
                    prop_assert!(calls.iter().all(|call| call.name == "say"));
                }
                for call in calls {
                    prop_assert!(serde_json::from_str::<Value>(&call.arguments).is_ok(), "{}", call.arguments);
                }
            }
        }
    }

    #[test]
    fn every_call_is_read_in_every_format(message in ".{0,80}") {
        for text in forms(&message) {
            for calling in [ToolCalling::Native, ToolCalling::Fallback] {
                let reading = reading(&text, calling);
                prop_assert_eq!(reading.calls().len(), 1, "{} in {}", calling, &text);
                let arguments: Value = serde_json::from_str(&reading.calls()[0].arguments).unwrap();
                prop_assert_eq!(&arguments, &json!({"message": &message}));
            }
        }
    }

    #[test]
    fn quoted_calls_of_a_native_model_are_ignored(
        before in "[a-zA-Z][a-zA-Z ,.:\n]{0,40}",
        after in "[a-zA-Z ,.:\n]{0,40}",
        message in "[ -~]{0,40}",
    ) {
        for quoted in forms(&message) {
            for text in [format!("{before}{quoted}{after}"), format!("{quoted}x{after}"), format!("> {quoted}")] {
                let reading = reading(&text, ToolCalling::Native);
                prop_assert!(reading.calls().is_empty(), "{text}");
            }
        }
    }

    #[test]
    fn text_of_a_native_model_never_calls_a_tool_that_was_not_offered(message in "[ -~]{0,40}") {
        for text in forms(&message) {
            let reading = parse_reply(&reply(text.as_str()), ToolCalling::Native, |name| name == "look");
            prop_assert!(reading.calls().is_empty(), "{text}");
        }
    }

    #[test]
    fn a_reply_cut_anywhere_is_never_another_call(message in "[a-z {}\"]{0,30}", at in 0.0..1.0_f64) {
        for text in forms(&message) {
            let end = (0..text.len()).rev().find(|end| text.is_char_boundary(*end) && (*end as f64) <= at * text.len() as f64);
            let cut = &text[..end.unwrap_or(0)];
            for calling in [ToolCalling::Native, ToolCalling::Fallback] {
                let reading = parse_reply(&ChatReply { finish: FinishReason::Length, ..reply(cut) }, calling, |name| name == "say");
                for call in reading.calls() {
                    let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
                    prop_assert_eq!(&arguments, &json!({"message": &message}), "{}", cut);
                }
            }
        }
    }
}

#[test]
fn calls_in_channels_of_other_speakers_are_ignored() {
    for role in ["user", "tool", "system", "functions.say"] {
        for head in [
            format!("<|start|>{role} to=functions.say"),
            format!("<|start|>{role}<|channel|>commentary to=functions.say"),
        ] {
            let text = format!("{head}<|message|>{{\"message\":\"hi\"}}<|call|>");
            for calling in [ToolCalling::Native, ToolCalling::Fallback] {
                assert_eq!(reading(&text, calling).calls(), [], "{text}");
            }
        }
    }
}

#[test]
fn unclosed_marks_are_scanned_once() {
    // A quadratic scan of these once took minutes.
    for mark in [
        "<tool_call>",
        "[TOOL_CALLS]",
        "```json\n",
        "</tool_call>",
        "<s>",
        "<tool_call>x",
    ] {
        let text = format!("x{}", mark.repeat((1 << 18) / mark.len()));
        for calling in [ToolCalling::Native, ToolCalling::Fallback] {
            assert_eq!(reading(&text, calling).calls(), [], "{mark}");
            let call = r#"{"name":"say","arguments":{}}"#;
            let found = reading(&format!("{text}{call}"), calling);
            assert_eq!(
                found.calls().len(),
                usize::from(calling == ToolCalling::Fallback),
                "{mark}"
            );
        }
    }
}

#[test]
fn huge_and_deeply_nested_texts_are_parsed() {
    let n = 4_000;
    let call = r#"{"tool": "say", "parameters": {}}"#;
    for text in [
        "{".repeat(n),
        "[".repeat(n),
        "{\"a\":".repeat(n),
        format!("{}{}", "[".repeat(n), "]".repeat(n)),
        format!("{}1{}", "{\"a\":".repeat(n), "}".repeat(n)),
        "{'".repeat(n),
        "<tool_call>".repeat(n),
        "<function=say><parameter=a>".repeat(n),
        "<invoke name=\"say\"><parameter name=\"a\">".repeat(n),
        "[TOOL_CALLS]say".repeat(n),
        "<|channel|>".repeat(n),
        "<|channel|>analysis<|message|>".repeat(n),
        "<think>".repeat(n),
        "</think>\n".repeat(n),
        "```".repeat(n),
        "\"".repeat(n),
    ] {
        for calling in [ToolCalling::Native, ToolCalling::Fallback] {
            assert_eq!(reading(&text, calling).calls(), [], "{}", &text[..20]);
        }
    }
    let many = reading(&call.repeat(n), ToolCalling::Native);
    assert_eq!(many.calls().len(), PRINTED_CALLS_LIMIT);
    assert!(many.left_out > 0);
    let list = format!("[{}]", vec![call; n].join(","));
    let many = reading(&list, ToolCalling::Native);
    assert_eq!(many.calls().len(), PRINTED_CALLS_LIMIT);
    assert!(many.left_out > 0);
    assert!(many.signs.has(Anomaly::SeveralCalls));
    let spoiled = format!("{}and more", call.repeat(n));
    assert_eq!(reading(&spoiled, ToolCalling::Native).calls(), []);
}

#[test]
fn a_call_after_a_lot_of_text_is_found() {
    let call = r#"{"tool": "say", "parameters": {"message": "hi"}}"#;
    for before in [
        r#"{"a": [1, {"b": "}"}]} "#.repeat(5_000),
        "{ ".repeat(4),
        "a < b, [c] ".repeat(5_000),
    ] {
        let reading = reading(&format!("{before}{call}"), ToolCalling::Fallback);
        assert_eq!(reading.calls().len(), 1, "{}", &before[..8]);
    }
}

#[test]
fn native_calls_are_bounded_and_keep_their_ids() {
    let one = ToolCall {
        id: CallId::try_new("x").unwrap(),
        name: "look".to_owned(),
        arguments: "{".to_owned(),
    };
    let many = ChatReply {
        tool_calls: vec![one.clone(); 500],
        ..reply(r#"{"tool": "say"}"#)
    };
    let reading = parse_reply(&many, ToolCalling::Native, |_| true);
    assert_eq!(reading.calls().len(), NATIVE_CALLS_LIMIT);
    assert_eq!(reading.signs.native, 500);
    assert_eq!(reading.calls()[0].id.as_ref(), Some(&one.id));
    assert!(matches!(reading.content, Content::Calls(_)));
}
