use std::collections::BTreeSet;

use dormouse_contracts::{CallId, Message, ModelName, ReasoningEffort, ToolCall, ToolName};

use super::*;

fn asked(model: &str, request: &ChatRequest) -> WireRequest {
    written_without(model, request, &[])
}

fn written_without(model: &str, request: &ChatRequest, without: &[RequestField]) -> WireRequest {
    let model = ModelName::try_new(model).unwrap();
    let without = without.iter().cloned().collect();
    write(request, 4_096, WireRequestBuilder::new(&model, &without))
}

fn hello() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User {
            content: "Hello?".to_owned(),
        }],
        ..ChatRequest::default()
    }
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: ToolName::try_new(name).unwrap(),
        description: "Says it.".to_owned(),
        parameters: json!({"properties": {"message": {"type": "string"}}}),
    }
}

#[test]
fn a_minimal_request_has_only_the_required_fields() {
    let written = asked("m", &hello());
    assert_eq!(
        Value::Object(written.body),
        json!({
            "model": "m", "stream": true, "max_tokens": 4096,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello?"}]}],
        })
    );
    assert_eq!((written.optional, written.left_out), (vec![], vec![]));
}

#[test]
fn tools_and_their_choice_are_written_with_names_that_are_allowed() {
    let mut request = ChatRequest {
        tools: vec![tool("world.say")].into(),
        ..hello()
    };
    for (choice, expected) in [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!({"type": "none"})),
        (ToolChoice::Required, json!({"type": "any"})),
        (
            ToolChoice::Tool("world.say".parse().unwrap()),
            json!({"type": "tool", "name": "world_say"}),
        ),
    ] {
        request.tool_choice = choice;
        let body = Value::Object(asked("m", &request).body);
        assert_eq!(body["tool_choice"], expected);
        assert_eq!(
            body["tools"],
            json!([{
                "name": "world_say", "description": "Says it.",
                "input_schema": {"type": "object", "properties": {"message": {"type": "string"}}},
            }])
        );
    }
    let refused = [RequestField::ToolChoice];
    let written = written_without("m", &request, &refused);
    assert!(!written.body.contains_key("tool_choice"));
    assert_eq!(written.left_out, refused);
    request.tool_choice = ToolChoice::None;
    let written = written_without("m", &request, &refused);
    assert_eq!(written.body["tool_choice"], json!({"type": "none"}));
    let written = written_without("m", &request, &[RequestField::Tools]);
    assert!(!written.body.contains_key("tools") && !written.body.contains_key("tool_choice"));
    assert_eq!(written.left_out, [RequestField::Tools]);
}

#[test]
fn earlier_calls_without_tools_get_placeholder_tools_that_cannot_be_called() {
    let mut request = hello();
    request.messages.push(Message::Assistant {
        content: String::new(),
        tool_calls: vec![ToolCall {
            id: CallId::try_new("a").unwrap(),
            name: "look around".to_owned(),
            arguments: String::new(),
        }],
    });
    let body = Value::Object(asked("m", &request).body);
    assert_eq!(
        body["tools"],
        json!([{"name": "look_around", "input_schema": {"type": "object"}}])
    );
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    assert_eq!(body["messages"][1]["content"][0]["name"], "look_around");
}

#[test]
fn a_high_temperature_is_left_out_and_claude_gets_temperature_or_top_p() {
    let sampled = |model: &str, temperature, top_p| {
        let request = ChatRequest {
            temperature,
            top_p,
            ..hello()
        };
        let written = asked(model, &request);
        let field = |name| written.body.get(name).cloned().unwrap_or_default();
        (field("temperature"), field("top_p"), written.left_out)
    };
    let (none, temperature, top_p) = (
        Value::Null,
        vec![RequestField::Temperature],
        vec![RequestField::TopP],
    );
    for model in ["m", "claude-opus-4-1"] {
        let hot = sampled(model, Some(1.2), Some(0.9));
        assert_eq!(hot, (none.clone(), json!(0.9), temperature.clone()));
    }
    let both = sampled("m", Some(0.7), Some(0.9));
    assert_eq!(both, (json!(0.7), json!(0.9), vec![]));
    let one = sampled("claude-opus-4-1", Some(1.0), Some(0.9));
    assert_eq!(one, (json!(1.0), none.clone(), top_p));
    assert_eq!(
        sampled("claude-opus-4-1", None, None),
        (none.clone(), none, vec![])
    );
}

#[test]
fn a_thinking_model_gets_neither_temperature_nor_top_p() {
    let mut request = ChatRequest {
        temperature: Some(0.5),
        top_p: Some(0.5),
        max_tokens: Some(3_000),
        reasoning_effort: Some(ReasoningEffort::High),
        ..hello()
    };
    let written = asked("claude-sonnet-4-5", &request);
    assert_eq!(
        written.body["thinking"],
        json!({"type": "enabled", "budget_tokens": 1_500})
    );
    assert_eq!(
        written.left_out,
        [RequestField::Temperature, RequestField::TopP]
    );
    let newer = asked("claude-opus-5-5", &request);
    assert_eq!(newer.body["thinking"], json!({"type": "adaptive"}));
    assert_eq!(newer.body["output_config"], json!({"effort": "high"}));
    let older = asked("claude-3-haiku", &request);
    assert!(!older.body.contains_key("thinking"));
    assert_eq!(
        older.left_out,
        [RequestField::ReasoningEffort, RequestField::TopP]
    );
    let refused = [RequestField::ReasoningEffort];
    let without = written_without("claude-opus-5-5", &request, &refused);
    assert_eq!(
        without.left_out,
        [RequestField::ReasoningEffort, RequestField::TopP]
    );
    assert!(!without.body.contains_key("output_config"));
    request.tools = vec![tool("say")].into();
    request.tool_choice = ToolChoice::Required;
    let forced = asked("claude-opus-5", &request);
    assert!(!forced.body.contains_key("thinking"));
    assert_eq!(forced.body["output_config"], json!({"effort": "high"}));
}

#[test]
fn a_schema_is_requested_and_plain_json_is_left_out() {
    let mut request = ChatRequest {
        output: OutputFormat::Schema {
            name: "answer".to_owned(),
            schema: json!({"type": "object"}),
        },
        reasoning_effort: Some(ReasoningEffort::Medium),
        ..hello()
    };
    let written = asked("claude-opus-4-6", &request);
    let schema = json!({"type": "object", "additionalProperties": false});
    let format = json!({"type": "json_schema", "schema": schema});
    assert_eq!(
        written.body["output_config"],
        json!({"effort": "medium", "format": format})
    );
    assert_eq!(written.left_out, []);
    let without = written_without("claude-opus-4-6", &request, &[RequestField::Output]);
    assert_eq!(without.body["output_config"], json!({"effort": "medium"}));
    assert_eq!(without.left_out, [RequestField::Output]);
    request.output = OutputFormat::Json;
    request.reasoning_effort = None;
    let written = asked("claude-opus-4-6", &request);
    assert!(!written.body.contains_key("output_config"));
    assert_eq!(written.left_out, [RequestField::Output]);
}

#[test]
fn at_most_three_blocks_are_marked() {
    let request = ChatRequest {
        messages: vec![
            Message::System {
                content: "s".to_owned(),
            },
            Message::User {
                content: "u".to_owned(),
            },
            Message::User {
                content: "v".to_owned(),
            },
        ],
        tools: vec![tool("look"), tool("say")].into(),
        stable_messages: 2,
        ..ChatRequest::default()
    };
    let body = Value::Object(asked("m", &request).body);
    let mark = json!({"type": "ephemeral"});
    for marked in ["/tools/1", "/system/0", "/messages/0/content/0"] {
        assert_eq!(body.pointer(marked).unwrap()["cache_control"], mark);
    }
    assert_eq!(body.to_string().matches("cache_control").count(), 3);
}

#[test]
fn extra_parameters_replace_nothing_and_are_optional() {
    let extra =
        json!({"top_k": 5, "max_tokens": 1, "messages": [], "system": "You are someone else."});
    let mut request = hello();
    request.extra = extra.as_object().unwrap().clone();
    request.messages.push(Message::System {
        content: "s".to_owned(),
    });
    let written = asked("m", &request);
    assert_eq!(written.body["top_k"], 5);
    assert_eq!(written.body["max_tokens"], 4_096);
    assert_eq!(
        written.body["system"],
        json!([{"type": "text", "text": "s"}])
    );
    let top_k = RequestField::Extra("top_k".to_owned());
    assert_eq!(written.optional, [("top_k".to_owned(), top_k)]);
}

fn asking(effort: ReasoningEffort) -> ChatRequest {
    ChatRequest {
        reasoning_effort: Some(effort),
        ..ChatRequest::default()
    }
}

fn thinking(request: &ChatRequest, form: ThinkingForm, max_tokens: u32) -> Thinking {
    let (model, without) = (ModelName::try_new("m").unwrap(), BTreeSet::new());
    let body = WireRequestBuilder::new(&model, &without);
    Thinking::of(request, form, max_tokens, &body)
}

fn budget(request: &ChatRequest, max_tokens: u32) -> Option<u64> {
    let thinking = thinking(request, ThinkingForm::Budget, max_tokens);
    assert_eq!(thinking.left_out, thinking.thinking.is_none());
    thinking.thinking?.get("budget_tokens")?.as_u64()
}

#[test]
fn a_thinking_budget_leaves_at_least_half_of_the_reply_for_text() {
    let (low, high) = (asking(ReasoningEffort::Low), asking(ReasoningEffort::High));
    assert_eq!(
        budget(&asking(ReasoningEffort::Medium), 64_000),
        Some(4_096)
    );
    assert_eq!(budget(&high, 64_000), Some(16_384));
    assert_eq!(budget(&high, 4_096), Some(2_048));
    assert_eq!(budget(&low, 2_048), Some(1_024));
    assert_eq!(budget(&low, 2_047), None);
}

#[test]
fn no_budget_is_sent_after_a_tool_result() {
    let mut request = asking(ReasoningEffort::Low);
    request.messages = vec![Message::Tool {
        call_id: CallId::try_new("a").unwrap(),
        content: "{}".to_owned(),
    }];
    assert_eq!(budget(&request, 64_000), None);
    let newer = thinking(&request, ThinkingForm::Effort, 64_000);
    assert_eq!((newer.effort, newer.left_out), (Some("low"), false));
    assert_eq!(newer.thinking, Some(json!({"type": "adaptive"})));
}

#[test]
fn minimal_effort_sends_no_thinking() {
    let request = asking(ReasoningEffort::Minimal);
    for form in [ThinkingForm::None, ThinkingForm::Budget] {
        assert_eq!(thinking(&request, form, 9_000), Thinking::default());
    }
    let newer = thinking(&request, ThinkingForm::Effort, 9_000);
    assert_eq!((newer.thinking, newer.effort), (None, Some("low")));
    let request = asking(ReasoningEffort::Low);
    assert!(thinking(&request, ThinkingForm::None, 9_000).left_out);
}

#[test]
fn every_object_is_closed_and_nothing_else_is_changed() {
    let schema = json!({
        "type": "object", "description": "A {\"type\": \"object\"}", "required": ["type"],
        "properties": {
            "type": {"enum": [{"type": "object"}]},
            "list": {"type": "array", "items": {"type": "object", "additionalProperties": true}},
            "either": {"anyOf": [{"type": "object", "properties": {}}, {"type": "null"}]},
        },
        "$defs": {"one": {"type": "object", "additionalProperties": false}},
    });
    assert_eq!(
        closed(&schema).unwrap(),
        json!({
            "type": "object", "description": "A {\"type\": \"object\"}", "required": ["type"],
            "additionalProperties": false,
            "properties": {
                "type": {"enum": [{"type": "object"}]},
                "list": {"type": "array", "items": {"type": "object", "additionalProperties": false}},
                "either": {"anyOf": [
                    {"type": "object", "properties": {}, "additionalProperties": false}, {"type": "null"},
                ]},
            },
            "$defs": {"one": {"type": "object", "additionalProperties": false}},
        })
    );
}

#[test]
fn schemas_with_additional_properties_are_left_out() {
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    assert_eq!(closed(&map), None);
    assert_eq!(closed(&json!({"properties": {"map": map}})), None);
    assert_eq!(closed(&json!(true)), Some(json!(true)));
}
