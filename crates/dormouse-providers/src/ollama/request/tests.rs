use dormouse_contracts::ToolName;
use proptest::prelude::*;
use serde_json::json;

use std::collections::BTreeSet;

use super::*;

fn model(name: &str) -> ModelName {
    ModelName::try_new(name).unwrap()
}

fn written(request: &ChatRequest) -> WireRequest {
    written_without(&BTreeSet::new(), request, LoadOptions::default())
}

fn written_without(
    without: &BTreeSet<RequestField>,
    request: &ChatRequest,
    keeping: LoadOptions,
) -> WireRequest {
    let model = model("m");
    write(request, keeping, WireRequestBuilder::new(&model, without))
}

fn body(request: &ChatRequest) -> Value {
    Value::Object(written(request).body)
}

fn called(id: &str, name: &str, arguments: &str) -> Message {
    Message::Assistant {
        content: String::new(),
        tool_calls: vec![ToolCall {
            id: id.parse().unwrap(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }],
    }
}

fn with_tools(tool_choice: ToolChoice) -> ChatRequest {
    ChatRequest {
        tools: vec![ToolDefinition {
            name: ToolName::try_new("say").unwrap(),
            description: "Says it.".to_owned(),
            parameters: json!({"type": "object"}),
        }]
        .into(),
        tool_choice,
        ..ChatRequest::default()
    }
}

#[test]
fn an_empty_request_disables_silent_truncation() {
    assert_eq!(
        body(&ChatRequest::default()),
        json!({"model": "m", "messages": [], "stream": true, "truncate": false, "shift": false})
    );
}

#[test]
fn every_message_is_written_and_results_name_their_tool() {
    let (content, id) = (|text: &str| text.to_owned(), |id: &str| id.parse().unwrap());
    let request = ChatRequest {
        messages: vec![
            Message::System {
                content: content("s"),
            },
            Message::User {
                content: content("u"),
            },
            called("call_1", "say", "{\"message\":\"hi\"}"),
            Message::Tool {
                call_id: id("call_1"),
                content: content("{}"),
            },
            Message::Tool {
                call_id: id("call_9"),
                content: content("lost"),
            },
            Message::Assistant {
                content: content("a"),
                tool_calls: vec![],
            },
        ],
        ..ChatRequest::default()
    };
    assert_eq!(
        body(&request)["messages"],
        json!([
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": "", "tool_calls": [
                {"function": {"name": "say", "arguments": {"message": "hi"}}}
            ]},
            {"role": "tool", "content": "{}", "tool_name": "say"},
            {"role": "tool", "content": "lost"},
            {"role": "assistant", "content": "a"},
        ])
    );
}

#[test]
fn every_requested_field_is_written() {
    let request = ChatRequest {
        temperature: Some(0.7),
        top_p: Some(0.9),
        max_tokens: Some(64),
        reasoning_effort: Some(ReasoningEffort::Low),
        output: OutputFormat::Json,
        extra: json!({"options": {"seed": 7, "num_predict": 9}, "think": "high", "suffix": "x"})
            .as_object()
            .unwrap()
            .clone(),
        ..ChatRequest::default()
    };
    let keeping = LoadOptions {
        context_window: NonZeroU32::new(8192),
        keep_alive: Some(KeepAlive::For(Duration::from_millis(1500))),
    };
    let shown = written_without(&BTreeSet::new(), &request, keeping);
    assert_eq!(shown.left_out, []);
    assert_eq!(
        Value::Object(shown.body),
        json!({
            "model": "m", "messages": [], "stream": true, "truncate": false, "shift": false,
            "think": true, "format": "json", "keep_alive": 2, "suffix": "x",
            "options": {"seed": 7, "temperature": 0.7, "top_p": 0.9, "num_predict": 64, "num_ctx": 8192},
        })
    );
}

#[test]
fn invalid_options_are_left_out_and_reported() {
    let extra = json!({"options": "seed 7"}).as_object().unwrap().clone();
    let shown = written(&ChatRequest {
        extra,
        max_tokens: Some(1),
        ..ChatRequest::default()
    });
    assert_eq!(shown.body["options"], json!({"num_predict": 1}));
    assert_eq!(shown.left_out, [RequestField::Extra("options".to_owned())]);
}

#[test]
fn the_schema_is_the_format_and_keep_alive_is_capped() {
    let schema = json!({"type": "object"});
    let output = OutputFormat::Schema {
        name: "answer".to_owned(),
        schema: schema.clone(),
    };
    let request = ChatRequest {
        output,
        ..ChatRequest::default()
    };
    assert_eq!(body(&request)["format"], schema);
    assert_eq!(seconds(KeepAlive::Forever), json!(-1));
    assert_eq!(seconds(KeepAlive::For(Duration::ZERO)), json!(0));
    assert_eq!(
        seconds(KeepAlive::For(Duration::MAX)),
        json!(9_223_372_036_u64)
    );
}

#[test]
fn thinking_is_a_switch_except_for_models_with_levels() {
    use ReasoningEffort::{High, Low, Medium, Minimal};
    for (effort, switch, level) in [
        (Minimal, false, "low"),
        (Low, true, "low"),
        (Medium, true, "medium"),
        (High, true, "high"),
    ] {
        assert_eq!(think(effort, &model("qwen3:8b")), json!(switch));
        assert_eq!(think(effort, &model("gpt-oss:20b")), json!(level));
    }
}

#[test]
fn a_tool_choice_is_left_out_and_the_choice_none_offers_no_tools() {
    let tool = json!([{"type": "function", "function": {
        "name": "say", "description": "Says it.", "parameters": {"type": "object"}
    }}]);
    let auto = written(&with_tools(ToolChoice::Auto));
    assert_eq!((&auto.body["tools"], auto.left_out.len()), (&tool, 0));
    let required = written(&with_tools(ToolChoice::Required));
    assert_eq!(required.body["tools"], tool);
    assert_eq!(required.left_out, [RequestField::ToolChoice]);
    let none = written(&with_tools(ToolChoice::None));
    assert!(!none.body.contains_key("tools") && none.left_out.is_empty());
    let unknown = BTreeSet::from([RequestField::Tools]);
    let required = with_tools(ToolChoice::Required);
    let without = written_without(&unknown, &required, LoadOptions::default());
    assert!(!without.body.contains_key("tools"));
    assert_eq!(without.left_out, [RequestField::Tools]);
}

#[test]
fn arguments_that_are_not_an_object_are_wrapped_in_an_object() {
    for (text, object) in [
        (" {\"a\": 1} ", json!({"a": 1})),
        ("", json!({})),
        ("  ", json!({})),
        ("null", json!({})),
        ("[1]", json!({"arguments": [1]})),
        ("\"x\"", json!({"arguments": "x"})),
        ("{\"a\": ", json!({"arguments": "{\"a\": "})),
    ] {
        assert_eq!(Value::Object(arguments(text)), object, "{text}");
    }
}

proptest! {
    #[test]
    fn arguments_are_always_an_object_and_objects_are_unchanged(text in any::<String>(), key in any::<String>()) {
        let kept = arguments(&text);
        prop_assert!(kept.len() <= 1 || serde_json::from_str::<Map<String, Value>>(&text).is_ok());
        let object = json!({ key: text });
        prop_assert_eq!(Value::Object(arguments(&object.to_string())), object);
    }
}
