//! A chat request in the format of OpenAI's Responses.

use dormouse_contracts::{
    ChatRequest, Message, OutputFormat, ReasoningEffort, RequestField, ToolChoice, ToolDefinition,
};
use serde_json::{Value, json};

use super::{
    chat_request::{may_be_strict, offers_tools},
    responses_reply::ResponsesDecoder,
};
use crate::server::{Api, WireRequest, WireRequestBuilder};

/// OpenAI's Responses API.
#[derive(Debug)]
pub(super) struct Responses;

impl Api for Responses {
    type Decoder = ResponsesDecoder;

    fn write(&self, request: &ChatRequest, body: WireRequestBuilder<'_>) -> WireRequest {
        write(request, body)
    }

    fn decoder(&self, _: &ChatRequest) -> ResponsesDecoder {
        ResponsesDecoder::default()
    }
}

/// Writes a streamed request. It asks the server to store nothing, because each request has the whole conversation. It
/// does not include encrypted thoughts, because the conversation does not keep them.
fn write(request: &ChatRequest, mut body: WireRequestBuilder<'_>) -> WireRequest {
    let (instructions, messages) = match request.messages.split_first() {
        Some((Message::System { content }, rest)) => (Some(content.as_str()), rest),
        _ => (None, request.messages.as_slice()),
    };
    let input: Vec<Value> = messages.iter().flat_map(items).collect();
    body.set("input", input)
        .set("stream", true)
        .set("store", false);
    if let Some(instructions) = instructions {
        body.set("instructions", instructions);
    }
    if offers_tools(request, &body) {
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        body.offer("tools", RequestField::Tools, Some(tools));
        if body.supports(&RequestField::Tools) {
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

/// Returns the input items of a message; text and calls of the model are separate items.
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
        // A kind of message that this version does not know.
        _ => Vec::new(),
    }
}

/// Returns a tool. `strict` must be false: by default this API enforces schemas strictly, and rejects those that it
/// cannot enforce.
fn tool(tool: &ToolDefinition) -> Value {
    json!({
        "type": "function", "name": tool.name.as_str(), "description": tool.description,
        "parameters": tool.parameters, "strict": false,
    })
}

/// Returns the choice, unless it is the server's default.
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
mod tests;
