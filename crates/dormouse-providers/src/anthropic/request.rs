//! A chat request in Anthropic's format.

use dormouse_contracts::{
    ChatRequest, Message, OutputFormat, ReasoningEffort, RequestField, ToolChoice, ToolDefinition,
};
use serde_json::{Map, Value, json};

use super::{
    conversation::{self, Conversation, ToolNames},
    generation::{Generation, ThinkingForm},
};
use crate::server::{WireRequest, WireRequestBuilder};

/// Names for the reply format in error messages of servers that do not support it.
const OUTPUT_NAMES: [&str; 4] = [
    "output_config.format",
    "output format",
    "output_format",
    "structured outputs",
];

/// Writes a streamed request. `output_limit` applies to requests without a length limit.
pub(super) fn write(
    request: &ChatRequest,
    output_limit: u32,
    mut body: WireRequestBuilder<'_>,
) -> WireRequest {
    let generation = Generation::of(body.model());
    let max_tokens = request.max_tokens.unwrap_or(output_limit);
    body.set("max_tokens", max_tokens).set("stream", true);
    messages(&mut body, request);
    let thinking = Thinking::of(request, generation.thinking(), max_tokens, &body);
    if thinking.left_out {
        body.leave_out(RequestField::ReasoningEffort);
    }
    sampling(&mut body, request, generation, &thinking);
    body.offer(
        "thinking",
        RequestField::ReasoningEffort,
        thinking.thinking.clone(),
    );
    let config = output_config(&mut body, request, thinking.effort);
    body.extra(&request.extra);
    let mut written = body.finish();
    written.optional.extend(config);
    written
}

/// Writes the conversation and the tools.
fn messages(body: &mut WireRequestBuilder<'_>, request: &ChatRequest) {
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
            // The API rejects calls of tools that the request does not define.
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
    if body.supports(&RequestField::Tools) {
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

/// Returns the schema of a tool's arguments; the API requires an object schema.
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

/// Writes the choice, unless it is the server's default. Some models reject a forced tool; all accept "none".
fn tool_choice(body: &mut WireRequestBuilder<'_>, choice: &ToolChoice, names: &ToolNames) {
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

/// Writes temperature and `top_p`. A thinking model accepts neither, and some models accept only one of them.
///
/// The maximum temperature of this API is 1, which is also its default. So a higher one is left out.
fn sampling(
    body: &mut WireRequestBuilder<'_>,
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

/// Writes the object `output_config`, and returns the names that a server may use in an error about it.
fn output_config(
    body: &mut WireRequestBuilder<'_>,
    request: &ChatRequest,
    effort: Option<&str>,
) -> Vec<(String, RequestField)> {
    let mut config = Map::new();
    let mut fields = Vec::new();
    if let Some(effort) = effort {
        config.insert("effort".to_owned(), effort.into());
        fields.push(("effort", RequestField::ReasoningEffort));
    }
    let format = match &request.output {
        OutputFormat::Schema { schema, .. } if body.supports(&RequestField::Output) => {
            closed(schema)
        }
        // The API has no JSON mode without a schema.
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

/// The smallest thinking budget, in tokens.
const LEAST: u32 = 1_024;

/// The thinking parameters of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Thinking {
    /// The field `thinking`.
    pub(super) thinking: Option<Value>,
    /// The field `effort` in `output_config`.
    pub(super) effort: Option<&'static str>,
    /// Whether the requested effort was left out because the API cannot express it.
    pub(super) left_out: bool,
}

impl Thinking {
    /// Chooses the parameters for a model of this form, with a reply of up to `max_tokens`.
    pub(super) fn of(
        request: &ChatRequest,
        form: ThinkingForm,
        max_tokens: u32,
        body: &WireRequestBuilder<'_>,
    ) -> Self {
        let Some(effort) = request.reasoning_effort else {
            return Self::default();
        };
        let forced = forces_a_tool(request) && body.supports(&RequestField::ToolChoice);
        match form {
            // Without the field these models do not think, which is the minimum.
            ThinkingForm::None | ThinkingForm::Budget if effort == ReasoningEffort::Minimal => {
                Self::default()
            }
            _ if !body.supports(&RequestField::ReasoningEffort) => Self::unsupported(),
            ThinkingForm::None => Self::unsupported(),
            ThinkingForm::Effort => Self::by_effort(effort, forced),
            // The API rejects a budget if a tool is forced, and within a turn that started without thoughts: those
            // would have to be sent back with their signature, which the port does not carry.
            ThinkingForm::Budget if forced || continues_a_turn(&request.messages) => {
                Self::unsupported()
            }
            ThinkingForm::Budget => Self::by_budget(effort, max_tokens),
        }
    }

    fn unsupported() -> Self {
        Self {
            left_out: true,
            ..Self::default()
        }
    }

    fn by_effort(effort: ReasoningEffort, forced: bool) -> Self {
        let thinks = effort != ReasoningEffort::Minimal && !forced;
        Self {
            thinking: thinks.then(|| json!({"type": "adaptive"})),
            effort: Some(match effort {
                ReasoningEffort::Minimal | ReasoningEffort::Low => "low",
                ReasoningEffort::High => "high",
                _ => "medium",
            }),
            left_out: false,
        }
    }

    /// Chooses a budget of at most half of the reply.
    fn by_budget(effort: ReasoningEffort, max_tokens: u32) -> Self {
        let preferred = match effort {
            ReasoningEffort::Minimal | ReasoningEffort::Low => LEAST,
            ReasoningEffort::High => 16 * LEAST,
            _ => 4 * LEAST,
        };
        let budget = preferred.min(max_tokens / 2);
        if budget < LEAST {
            return Self::unsupported();
        }
        Self {
            thinking: Some(json!({"type": "enabled", "budget_tokens": budget})),
            ..Self::default()
        }
    }
}

fn forces_a_tool(request: &ChatRequest) -> bool {
    !request.tools.is_empty()
        && matches!(
            request.tool_choice,
            ToolChoice::Required | ToolChoice::Tool(_)
        )
}

/// Whether the reply follows tool results.
fn continues_a_turn(messages: &[Message]) -> bool {
    let mut last = messages.iter().rev();
    let last = last.find(|message| !matches!(message, Message::System { .. }));
    matches!(last, Some(Message::Tool { .. } | Message::Assistant { .. }))
}

/// Keywords of JSON Schema with schemas under free names.
const NAMED: [&str; 4] = ["properties", "$defs", "definitions", "patternProperties"];

/// Keywords with one schema or a list of schemas.
const DIRECT: [&str; 5] = ["items", "prefixItems", "anyOf", "allOf", "oneOf"];

/// Returns the schema with `additionalProperties: false` in every object, which this API requires. A value that matches
/// the closed schema also matches the open one. `None` if an object has free property names.
pub(super) fn closed(schema: &Value) -> Option<Value> {
    let mut schema = schema.clone();
    close(&mut schema).then_some(schema)
}

fn close(schema: &mut Value) -> bool {
    match schema {
        Value::Object(schema) => close_object(schema),
        Value::Array(schemas) => schemas.iter_mut().all(close),
        _ => true,
    }
}

fn close_object(schema: &mut Map<String, Value>) -> bool {
    if schema
        .get("additionalProperties")
        .is_some_and(Value::is_object)
    {
        return false;
    }
    if schema.get("type").and_then(Value::as_str) == Some("object") {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    let all = NAMED.iter().all(|name| match schema.get_mut(*name) {
        Some(Value::Object(named)) => named.values_mut().all(close),
        _ => true,
    });
    all && DIRECT
        .iter()
        .all(|name| schema.get_mut(*name).is_none_or(close))
}

#[cfg(test)]
mod tests;
