use std::collections::BTreeSet;

use dormouse_contracts::{CallId, ModelName, ToolCall, ToolName};

use super::*;

fn written(request: &ChatRequest) -> Value {
    let model = ModelName::try_new("m").unwrap();
    let without = BTreeSet::new();
    Value::Object(write(request, WireRequestBuilder::new(&model, &without)).body)
}

#[test]
fn an_empty_request_stores_nothing() {
    assert_eq!(
        written(&ChatRequest::default()),
        json!({"model": "m", "input": [], "stream": true, "store": false})
    );
}

#[test]
fn every_kind_of_message_is_written() {
    let id = CallId::try_new("call_1").unwrap();
    let call = ToolCall {
        id: id.clone(),
        name: "say".to_owned(),
        arguments: "{}".to_owned(),
    };
    let system = |content: &str| Message::System {
        content: content.to_owned(),
    };
    let request = ChatRequest {
        messages: vec![
            system("s"),
            system("t"),
            Message::User {
                content: "u".to_owned(),
            },
            Message::Assistant {
                content: "hm".to_owned(),
                tool_calls: vec![call.clone()],
            },
            Message::Tool {
                call_id: id,
                content: "1".to_owned(),
            },
            Message::Assistant {
                content: String::new(),
                tool_calls: vec![call],
            },
        ],
        ..ChatRequest::default()
    };
    let json = written(&request);
    let call =
        json!({"type": "function_call", "call_id": "call_1", "name": "say", "arguments": "{}"});
    assert_eq!(json["instructions"], "s");
    assert_eq!(
        json["input"],
        json!([
            {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "t"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "u"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hm"}]},
            call,
            {"type": "function_call_output", "call_id": "call_1", "output": "1"},
            call,
        ])
    );
}

#[test]
fn every_field_has_its_place() {
    let say = ToolName::try_new("say").unwrap();
    let request = ChatRequest {
        tools: vec![ToolDefinition {
            name: say.clone(),
            description: "Says it.".to_owned(),
            parameters: json!({"type": "object"}),
        }]
        .into(),
        tool_choice: ToolChoice::Tool(say),
        temperature: Some(0.7),
        top_p: Some(0.5),
        max_tokens: Some(9),
        reasoning_effort: Some(ReasoningEffort::Low),
        output: OutputFormat::Schema {
            name: "mood".to_owned(),
            schema: json!({"type": "object", "additionalProperties": false}),
        },
        extra: json!({"user": "1", "store": true})
            .as_object()
            .unwrap()
            .clone(),
        ..ChatRequest::default()
    };
    assert_eq!(
        written(&request),
        json!({
            "model": "m", "input": [], "stream": true, "store": false, "temperature": 0.7, "top_p": 0.5,
            "max_output_tokens": 9, "reasoning": {"effort": "low"}, "user": "1",
            "tools": [{
                "type": "function", "name": "say", "description": "Says it.",
                "parameters": {"type": "object"}, "strict": false,
            }],
            "tool_choice": {"type": "function", "name": "say"},
            "text": {"format": {
                "type": "json_schema", "name": "mood", "strict": true,
                "schema": {"type": "object", "additionalProperties": false},
            }},
        })
    );
    let mut request = request;
    for (choice, expected) in [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Required, json!("required")),
    ] {
        request.tool_choice = choice;
        assert_eq!(written(&request)["tool_choice"], expected);
    }
}
