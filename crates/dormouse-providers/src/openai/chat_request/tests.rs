use std::collections::BTreeSet;

use dormouse_contracts::{CallId, Message, ModelName, ToolCall, ToolDefinition, ToolName};
use serde_json::json;

use super::*;

fn body(request: &ChatRequest, model: &ModelName, length_field: LengthField) -> Value {
    let without = BTreeSet::new();
    let body = WireRequestBuilder::new(model, &without);
    let mut body = chat(
        request,
        Dialect::openai(length_field),
        &WrittenParts::default(),
        body,
    );
    body.extra(&request.extra);
    serde_json::from_slice(&body.finish().json().unwrap()).unwrap()
}

fn written(request: &ChatRequest) -> Value {
    let model = ModelName::try_new("m").unwrap();
    body(request, &model, LengthField::MaxTokens)
}

#[test]
fn an_empty_request_has_only_the_required_fields() {
    assert_eq!(
        written(&ChatRequest::default()),
        json!({"model": "m", "messages": [], "stream": true, "stream_options": {"include_usage": true}})
    );
}

#[test]
fn every_kind_of_message_is_written() {
    let call = ToolCall {
        id: CallId::try_new("call_1").unwrap(),
        name: "say".to_owned(),
        arguments: "{\"message\":\"hi\"}".to_owned(),
    };
    let request = ChatRequest {
        messages: vec![
            Message::System {
                content: "s".to_owned(),
            },
            Message::User {
                content: "u".to_owned(),
            },
            Message::Assistant {
                content: String::new(),
                tool_calls: vec![call],
            },
            Message::Tool {
                call_id: CallId::try_new("call_1").unwrap(),
                content: "{}".to_owned(),
            },
            Message::Assistant {
                content: String::new(),
                tool_calls: vec![],
            },
        ],
        ..ChatRequest::default()
    };
    assert_eq!(
        written(&request)["messages"],
        json!([
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u"},
            {"role": "assistant", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "say", "arguments": "{\"message\":\"hi\"}"}}
            ]},
            {"role": "tool", "tool_call_id": "call_1", "content": "{}"},
            {"role": "assistant", "content": ""},
        ])
    );
}

#[test]
fn tools_and_their_choice_are_written_only_together() {
    let say = ToolName::try_new("say").unwrap();
    let mut request = ChatRequest {
        tool_choice: ToolChoice::Required,
        ..ChatRequest::default()
    };
    assert_eq!(written(&request).get("tool_choice"), None);
    request.tools = vec![ToolDefinition {
        name: say.clone(),
        description: "Says it.".to_owned(),
        parameters: json!({"type": "object"}),
    }]
    .into();
    assert_eq!(
        written(&request)["tools"],
        json!([{"type": "function", "function": {
            "name": "say", "description": "Says it.", "parameters": {"type": "object"}
        }}])
    );
    for (choice, expected) in [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Required, json!("required")),
        (
            ToolChoice::Tool(say),
            json!({"type": "function", "function": {"name": "say"}}),
        ),
    ] {
        request.tool_choice = choice;
        assert_eq!(written(&request)["tool_choice"], expected);
    }
}

#[test]
fn a_length_limit_uses_the_name_that_the_server_supports() {
    let request = ChatRequest {
        max_tokens: Some(9),
        temperature: Some(0.7),
        top_p: Some(0.5),
        ..ChatRequest::default()
    };
    let json = written(&request);
    assert_eq!(
        (&json["max_tokens"], json.get("max_completion_tokens")),
        (&json!(9), None)
    );
    let text = json.to_string();
    assert!(text.contains("\"temperature\":0.7,"), "{text}");
    let model = ModelName::try_new("m").unwrap();
    let field = LengthField::MaxCompletionTokens;
    let json = body(&request, &model, field);
    assert_eq!(
        (&json["max_completion_tokens"], json.get("max_tokens")),
        (&json!(9), None)
    );
}

#[test]
fn a_schema_is_strict_where_possible() {
    for (schema, expected) in [
        (
            json!({"type": "object"}),
            json!({"name": "mood", "schema": {"type": "object"}}),
        ),
        (
            json!({"type": "object", "additionalProperties": false}),
            json!({"name": "mood", "strict": true, "schema": {"type": "object", "additionalProperties": false}}),
        ),
    ] {
        let output = OutputFormat::Schema {
            name: "mood".to_owned(),
            schema,
        };
        let request = ChatRequest {
            output,
            ..ChatRequest::default()
        };
        assert_eq!(
            written(&request)["response_format"],
            json!({"type": "json_schema", "json_schema": expected})
        );
    }
}

#[test]
fn only_openai_starts_with_max_completion_tokens() {
    let openai = LengthField::at("api.openai.com");
    assert_eq!(openai, LengthField::MaxCompletionTokens);
    assert_eq!(LengthField::at("notopenai.com"), LengthField::MaxTokens);
    assert_eq!(LengthField::at("127.0.0.1"), LengthField::MaxTokens);
}

#[test]
fn a_schema_is_strict_only_if_every_part_is_closed() {
    let strict = json!({
        "type": "object", "additionalProperties": false, "required": ["mood", "words"],
        "properties": {
            "mood": {"type": ["string", "null"], "enum": ["calm", "cross", null]},
            "words": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/pair"}]}},
        },
        "$defs": {"pair": {"type": "object", "properties": {}, "additionalProperties": false}},
    });
    assert!(may_be_strict(&strict));
    for (path, value) in [
        ("/additionalProperties", json!(true)),
        ("/required", json!(["mood"])),
        (
            "/properties/mood",
            json!({"type": "string", "minLength": 1}),
        ),
        ("/properties/mood", json!({"type": "object"})),
        ("/properties/words/items", json!({"oneOf": []})),
        ("/$defs/pair", json!(true)),
    ] {
        let mut open = strict.clone();
        *open.pointer_mut(path).unwrap() = value;
        assert!(!may_be_strict(&open), "{open}");
    }
    assert!(!may_be_strict(&json!({"type": "string"})));
    assert!(!may_be_strict(&json!(true)));
}

#[test]
fn a_deep_schema_is_not_strict() {
    let mut deep = json!({"type": "string"});
    for _ in 0..100 {
        deep = json!({"type": "object", "properties": {"x": deep}, "required": ["x"], "additionalProperties": false});
    }
    assert!(!may_be_strict(&deep));
}
