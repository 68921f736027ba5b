//! A chat request in Ollama's format.

use std::{collections::BTreeMap, num::NonZeroU32, time::Duration};

use dormouse_contracts::{
    CallId, ChatRequest, Message, ModelName, OutputFormat, ReasoningEffort, RequestField, ToolCall,
    ToolChoice, ToolDefinition,
};
use serde_json::{Map, Value, json};

use super::KeepAlive;
use crate::server::{WireRequest, WireRequestBuilder};

/// How the server loads the model.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoadOptions {
    pub(super) context_window: Option<NonZeroU32>,
    pub(super) keep_alive: Option<KeepAlive>,
}

/// Writes a streamed request.
pub(super) fn write(
    request: &ChatRequest,
    keeping: LoadOptions,
    mut body: WireRequestBuilder<'_>,
) -> WireRequest {
    body.set("messages", messages(&request.messages))
        .set("stream", true)
        // Without `truncate` the server rejects a prompt that is too long instead of cutting it. Without `shift` a
        // reply ends at the end of the window; otherwise the server would drop the start of the window to continue.
        .set("truncate", false)
        .set("shift", false);
    if let Some(keep_alive) = keeping.keep_alive {
        body.set("keep_alive", seconds(keep_alive));
    }
    offer_tools(&mut body, request);
    let (effort, model) = (request.reasoning_effort, body.model());
    body.offer(
        "think",
        RequestField::ReasoningEffort,
        effort.map(|effort| think(effort, model)),
    )
    .offer("format", RequestField::Output, format(&request.output));
    let mut extra = request.extra.clone();
    let further = match extra.remove("options") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(options)) => options,
        Some(_) => {
            body.leave_out(RequestField::Extra("options".to_owned()));
            Map::new()
        }
    };
    let options = options(request, keeping, further);
    if !options.is_empty() {
        body.set("options", options);
    }
    body.extra(&extra);
    let mut written = body.finish();
    if written.body.contains_key("think") {
        // The server uses this name in the error for models that do not think.
        let by_another_name = ("thinking".to_owned(), RequestField::ReasoningEffort);
        written.optional.push(by_another_name);
    }
    written
}

/// Returns the model's options, merged into the `further` ones. Servers know all of them and ignore those that a model
/// does not use.
fn options(
    request: &ChatRequest,
    keeping: LoadOptions,
    further: Map<String, Value>,
) -> Map<String, Value> {
    let mut options = further;
    let mut set = |name: &str, value: Option<Value>| {
        options.extend(value.map(|value| (name.to_owned(), value)));
    };
    set("temperature", request.temperature.and_then(number));
    set("top_p", request.top_p.and_then(number));
    set("num_predict", request.max_tokens.map(Value::from));
    let window = keeping.context_window.map(NonZeroU32::get);
    set("num_ctx", window.map(Value::from));
    options
}

/// Returns the shortest decimal of an `f32`: 0.7 instead of 0.699999988.
fn number(number: f32) -> Option<Value> {
    let number = number.to_string().parse::<f64>().ok()?;
    Some(number.into())
}

fn seconds(keep_alive: KeepAlive) -> Value {
    match keep_alive {
        KeepAlive::Forever => Value::from(-1),
        KeepAlive::For(time) => {
            let begun = time.subsec_nanos() > 0;
            // The server keeps the time in nanoseconds, as a signed 64-bit number.
            let most = Duration::from_nanos(i64::MAX.unsigned_abs()).as_secs();
            let whole = time.as_secs().saturating_add(begun.into());
            Value::from(whole.min(most))
        }
    }
}

fn offer_tools(body: &mut WireRequestBuilder<'_>, request: &ChatRequest) {
    if request.tools.is_empty() || request.tool_choice == ToolChoice::None {
        return;
    }
    let tools: Vec<_> = request.tools.iter().map(tool).collect();
    body.offer("tools", RequestField::Tools, Some(tools));
    let is_chosen = !matches!(request.tool_choice, ToolChoice::Auto);
    if is_chosen && body.supports(&RequestField::Tools) {
        body.leave_out(RequestField::ToolChoice);
    }
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters,
    }})
}

/// Returns the value of `think`. OpenAI's open models always think and take a level instead of a switch.
fn think(effort: ReasoningEffort, model: &ModelName) -> Value {
    let knows_levels = model.as_str().contains("gpt-oss");
    match effort {
        ReasoningEffort::Minimal if knows_levels => ReasoningEffort::Low.as_str().into(),
        effort if knows_levels => effort.as_str().into(),
        effort => (effort != ReasoningEffort::Minimal).into(),
    }
}

fn format(output: &OutputFormat) -> Option<Value> {
    match output {
        OutputFormat::Json => Some("json".into()),
        OutputFormat::Schema { schema, .. } => Some(schema.clone()),
        _ => None,
    }
}

/// Returns the conversation. Tool results carry the name of the tool, since calls have no ids in this API.
fn messages(conversation: &[Message]) -> Vec<Value> {
    let mut called: BTreeMap<&CallId, &str> = BTreeMap::new();
    let mut messages = Vec::with_capacity(conversation.len());
    for message in conversation {
        if let Message::Assistant { tool_calls, .. } = message {
            called.extend(tool_calls.iter().map(|call| (&call.id, call.name.as_str())));
        }
        messages.extend(written(message, &called));
    }
    messages
}

fn written(message: &Message, called: &BTreeMap<&CallId, &str>) -> Option<Value> {
    Some(match message {
        Message::System { content } => json!({"role": "system", "content": content}),
        Message::User { content } => json!({"role": "user", "content": content}),
        Message::Assistant {
            content,
            tool_calls,
        } if tool_calls.is_empty() => json!({"role": "assistant", "content": content}),
        Message::Assistant {
            content,
            tool_calls,
        } => {
            let calls: Vec<_> = tool_calls.iter().map(call).collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::Tool { call_id, content } => match called.get(call_id) {
            Some(name) => json!({"role": "tool", "content": content, "tool_name": name}),
            None => json!({"role": "tool", "content": content}),
        },
        // A kind of message that this version does not know.
        _ => return None,
    })
}

fn call(call: &ToolCall) -> Value {
    json!({"function": {"name": call.name, "arguments": arguments(&call.arguments)}})
}

/// Returns the arguments as an object. For anything else the server rejects the whole conversation.
fn arguments(text: &str) -> Map<String, Value> {
    let alone = |value: Value| Map::from_iter([("arguments".to_owned(), value)]);
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => arguments,
        Ok(Value::Null) => Map::new(),
        Ok(other) => alone(other),
        Err(_) if text.trim().is_empty() => Map::new(),
        Err(_) => alone(text.into()),
    }
}

#[cfg(test)]
mod tests;
