//! A chat request in the words of Anthropic's API.

use std::collections::BTreeSet;

use dormouse_contracts::{
    ChatRequest, ModelName, OutputFormat, RequestField, ToolChoice, ToolDefinition,
};
use serde_json::{Map, Value, json};

use super::{
    conversation::{self, Conversation},
    generation::Generation,
    names::ToolNames,
    schema,
    thinking::Thinking,
};
use crate::server::{Body, Written};

/// How a server may call the form of a reply where it says that it does not know it.
const OUTPUT_NAMES: [&str; 4] = [
    "output_config.format",
    "output format",
    "output_format",
    "structured outputs",
];

/// The request, streamed. `output_limit` is the most tokens of a reply where the request names no limit.
pub(super) fn write(
    request: &ChatRequest,
    model: &ModelName,
    output_limit: u32,
    without: &BTreeSet<RequestField>,
) -> Written {
    let generation = Generation::of(model);
    let max_tokens = request.max_tokens.unwrap_or(output_limit);
    let mut body = Body::without(without);
    body.set("model", model.as_str())
        .set("max_tokens", max_tokens)
        .set("stream", true);
    messages(&mut body, request, without);
    let thinking = Thinking::of(request, generation.thinking(), max_tokens, without);
    if thinking.left_out {
        body.leave_out(RequestField::ReasoningEffort);
    }
    sampling(&mut body, request, generation, &thinking);
    body.offer(
        "thinking",
        RequestField::ReasoningEffort,
        thinking.thinking.clone(),
    );
    let config = output_config(&mut body, request, thinking.effort, without);
    body.extra(&request.extra);
    let mut written = body.finish();
    written.optional.extend(config);
    written
}

/// Who said what, and which tools there are.
fn messages(body: &mut Body<'_>, request: &ChatRequest, without: &BTreeSet<RequestField>) {
    let names = ToolNames::of(&request.tools);
    let stable = request.stable_messages;
    let conversation = Conversation::of(&request.messages);
    body.set("messages", conversation.messages(&names, stable));
    let system = conversation.system(stable);
    if !system.is_empty() {
        body.set("system", system);
    }
    if request.tools.is_empty() {
        let called = conversation.called();
        if !called.is_empty() {
            // Calls are only understood where their tools are told.
            let tool =
                |name| json!({"name": names.written(name), "input_schema": {"type": "object"}});
            let tools: Vec<_> = called.into_iter().map(tool).collect();
            body.set("tools", tools)
                .set("tool_choice", json!({"type": "none"}));
        }
        return;
    }
    let mut tools: Vec<_> = request.tools.iter().map(|one| tool(one, &names)).collect();
    if let Some(last) = tools.last_mut().filter(|_| stable > 0) {
        conversation::mark(last);
    }
    body.offer("tools", RequestField::Tools, Some(tools));
    if !without.contains(&RequestField::Tools) {
        tool_choice(body, &request.tool_choice, &names);
    }
}

fn tool(tool: &ToolDefinition, names: &ToolNames) -> Value {
    json!({
        "name": names.written(tool.name.as_str()),
        "description": tool.description,
        "input_schema": input_schema(&tool.parameters),
    })
}

/// The schema of a tool's arguments, which must be one of an object here.
fn input_schema(parameters: &Value) -> Value {
    let mut schema = match parameters {
        Value::Object(schema) => schema.clone(),
        _ => Map::new(),
    };
    schema
        .entry("type")
        .or_insert_with(|| Value::from("object"));
    Value::Object(schema)
}

/// The choice; left out where it is the server's default. Some models refuse to be forced; that no tool may be called is
/// known to all.
fn tool_choice(body: &mut Body<'_>, choice: &ToolChoice, names: &ToolNames) {
    let forced = match choice {
        ToolChoice::None => {
            body.set("tool_choice", json!({"type": "none"}));
            None
        }
        ToolChoice::Required => Some(json!({"type": "any"})),
        ToolChoice::Tool(name) => {
            Some(json!({"type": "tool", "name": names.written(name.as_str())}))
        }
        _ => None,
    };
    body.offer("tool_choice", RequestField::ToolChoice, forced);
}

/// Temperature and `top_p`. While it thinks a model takes neither, and some take only one of them.
///
/// A temperature ends at 1 here, which is also what a model has without one: a higher one is left out.
fn sampling(
    body: &mut Body<'_>,
    request: &ChatRequest,
    generation: Generation,
    thinking: &Thinking,
) {
    let thinks = thinking.thinking.is_some();
    let temperature = request.temperature;
    let sent = temperature.filter(|temperature| *temperature <= 1.0 && !thinks);
    if sent != temperature {
        body.leave_out(RequestField::Temperature);
    }
    let both = sent.is_some() && generation.takes_one_of_both();
    let top_p = request.top_p.filter(|_| !thinks && !both);
    if top_p != request.top_p {
        body.leave_out(RequestField::TopP);
    }
    body.offer_number("top_p", RequestField::TopP, top_p)
        .offer_number("temperature", RequestField::Temperature, sent);
}

/// Writes the object `output_config`, and answers with the names by which a server may say that it does not know it.
fn output_config(
    body: &mut Body<'_>,
    request: &ChatRequest,
    effort: Option<&str>,
    without: &BTreeSet<RequestField>,
) -> Vec<(String, RequestField)> {
    let mut config = Map::new();
    let mut fields = Vec::new();
    if let Some(effort) = effort {
        config.insert("effort".to_owned(), effort.into());
        fields.push(("effort", RequestField::ReasoningEffort));
    }
    let format = match &request.output {
        OutputFormat::Schema { schema, .. } if !without.contains(&RequestField::Output) => {
            schema::closed(schema)
        }
        // Any JSON without a schema cannot be asked for.
        _ => None,
    };
    match format {
        Some(schema) => {
            let format = json!({"type": "json_schema", "schema": schema});
            config.insert("format".to_owned(), format);
            let names = OUTPUT_NAMES.iter();
            fields.extend(names.map(|name| (*name, RequestField::Output)));
        }
        None if request.output != OutputFormat::Text => {
            body.leave_out(RequestField::Output);
        }
        None => {}
    }
    if let Some((_, field)) = fields.last().cloned() {
        fields.push(("output_config", field));
        body.set("output_config", config);
    }
    let fields = fields.into_iter();
    fields
        .map(|(name, field)| (name.to_owned(), field))
        .collect()
}

#[cfg(test)]
mod tests;
