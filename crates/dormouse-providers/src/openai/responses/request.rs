//! A chat request in the words of OpenAI's Responses.

use std::collections::BTreeSet;

use dormouse_contracts::{
    ChatRequest, Message, ModelName, OutputFormat, ReasoningEffort, RequestField, ToolChoice,
    ToolDefinition,
};
use serde_json::{Value, json};

use super::super::{request::offers_tools, schema::may_be_strict};
use crate::server::{Body, Written};

/// The request, streamed. Nothing is stored at the server, since the conversation is sent whole each time; so there
/// is nothing to include of thoughts either, which the conversation does not keep.
pub(super) fn write(
    request: &ChatRequest,
    model: &ModelName,
    without: &BTreeSet<RequestField>,
) -> Written {
    let (instructions, messages) = match request.messages.split_first() {
        Some((Message::System { content }, rest)) => (Some(content.as_str()), rest),
        _ => (None, request.messages.as_slice()),
    };
    let input: Vec<Value> = messages.iter().flat_map(items).collect();
    let mut body = Body::without(without);
    body.set("model", model.as_str())
        .set("input", input)
        .set("stream", true)
        .set("store", false);
    if let Some(instructions) = instructions {
        body.set("instructions", instructions);
    }
    if offers_tools(request, without) {
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        body.offer("tools", RequestField::Tools, Some(tools));
        if !without.contains(&RequestField::Tools) {
            body.offer(
                "tool_choice",
                RequestField::ToolChoice,
                tool_choice(&request.tool_choice),
            );
        }
    }
    let effort = request.reasoning_effort.map(ReasoningEffort::as_str);
    let effort = effort.map(|effort| json!({"effort": effort}));
    body.offer_number(
        "temperature",
        RequestField::Temperature,
        request.temperature,
    )
    .offer_number("top_p", RequestField::TopP, request.top_p)
    .offer(
        "max_output_tokens",
        RequestField::MaxTokens,
        request.max_tokens,
    )
    .offer("reasoning", RequestField::ReasoningEffort, effort)
    .offer("text", RequestField::Output, text(&request.output))
    .extra(&request.extra);
    body.finish()
}

/// What a message is in the input; what a model said and what it called stand apart.
fn items(message: &Message) -> Vec<Value> {
    let said = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    match message {
        Message::System { content } => vec![said("system", "input_text", content)],
        Message::User { content } => vec![said("user", "input_text", content)],
        Message::Assistant {
            content,
            tool_calls,
        } => {
            let words = (!content.is_empty() || tool_calls.is_empty())
                .then(|| said("assistant", "output_text", content));
            let calls = tool_calls.iter().map(|call| {
                json!({
                    "type": "function_call", "call_id": call.id.as_str(), "name": call.name,
                    "arguments": call.arguments,
                })
            });
            words.into_iter().chain(calls).collect()
        }
        Message::Tool { call_id, content } => vec![json!({
            "type": "function_call_output", "call_id": call_id.as_str(), "output": content,
        })],
        // A kind of message that did not exist when this was written.
        _ => Vec::new(),
    }
}

/// The tool. Without a word about it this API holds models to schemas strictly, and refuses those that it cannot hold them to.
fn tool(tool: &ToolDefinition) -> Value {
    json!({
        "type": "function", "name": tool.name.as_str(), "description": tool.description,
        "parameters": tool.parameters, "strict": false,
    })
}

/// The choice; left out where it is the server's default.
fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Tool(name) => Some(json!({"type": "function", "name": name.as_str()})),
        _ => None,
    }
}

fn text(output: &OutputFormat) -> Option<Value> {
    let format = match output {
        OutputFormat::Json => json!({"type": "json_object"}),
        OutputFormat::Schema { name, schema } => json!({
            "type": "json_schema", "name": name, "schema": schema, "strict": may_be_strict(schema),
        }),
        _ => return None,
    };
    Some(json!({ "format": format }))
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{CallId, ToolCall, ToolName};

    use super::*;

    fn written(request: &ChatRequest) -> Value {
        let model = ModelName::try_new("m").unwrap();
        Value::Object(write(request, &model, &BTreeSet::new()).body)
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
            }],
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
}
