//! A chat request in the words of OpenAI's API.

use std::collections::BTreeSet;

use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls, ChatCompletionNamedToolChoice,
    ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage,
    ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage,
    ChatCompletionRequestUserMessage, ChatCompletionTool, ChatCompletionToolChoiceOption,
    ChatCompletionTools, FunctionCall, FunctionName, FunctionObject, ToolChoiceOptions,
};
use dormouse_contracts::{
    ChatRequest, Message, ModelName, OutputFormat, ReasoningEffort, RequestField, ToolCall,
    ToolChoice, ToolDefinition, invariant,
};
use serde::Serialize;
use serde_json::Value;

use super::{length::LengthField, schema::may_be_strict};
use crate::server::Body;

/// What differs between servers of chat completions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// The name of the limit of a reply's length.
    length_field: LengthField,
    /// How they are told to count what a reply cost.
    counting: (&'static str, &'static str),
    /// How they are told how much to think: a field of its own, or within another.
    effort: Effort,
}

/// How a server is told how much the model shall think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effort {
    /// `reasoning_effort: "low"`.
    Plain,
    /// `reasoning: {"effort": "low"}`.
    Within,
}

impl Dialect {
    /// OpenAI's, and that of all who took it over.
    pub(super) fn openai(length_field: LengthField) -> Self {
        Self {
            length_field,
            counting: ("stream_options", "include_usage"),
            effort: Effort::Plain,
        }
    }

    /// OpenRouter's.
    pub(crate) fn openrouter() -> Self {
        Self {
            length_field: LengthField::MaxTokens,
            counting: ("usage", "include"),
            effort: Effort::Within,
        }
    }
}

/// The request, streamed and with a count of what it cost at the end. What else a server is to be told comes between this
/// and [`Body::extra`].
pub(crate) fn chat<'a>(
    request: &ChatRequest,
    model: &ModelName,
    dialect: Dialect,
    without: &'a BTreeSet<RequestField>,
) -> Body<'a> {
    let messages: Vec<_> = request.messages.iter().filter_map(message).collect();
    let mut body = Body::without(without);
    let (counting, include) = dialect.counting;
    body.set("model", model.as_str())
        .set("messages", json(&messages))
        .set("stream", true)
        .offer(
            counting,
            RequestField::StreamUsage,
            Some(serde_json::json!({include: true})),
        );
    if offers_tools(request, without) {
        let tools: Vec<_> = request.tools.iter().map(tool).collect();
        let choice = tool_choice(&request.tool_choice).map(|choice| json(&choice));
        body.offer("tools", RequestField::Tools, Some(json(&tools)));
        if !without.contains(&RequestField::Tools) {
            body.offer("tool_choice", RequestField::ToolChoice, choice);
        }
    }
    let effort = request.reasoning_effort.map(ReasoningEffort::as_str);
    let (effort_field, effort) = match dialect.effort {
        Effort::Plain => ("reasoning_effort", effort.map(Value::from)),
        Effort::Within => (
            "reasoning",
            effort.map(|effort| serde_json::json!({"effort": effort})),
        ),
    };
    body.offer_number(
        "temperature",
        RequestField::Temperature,
        request.temperature,
    )
    .offer_number("top_p", RequestField::TopP, request.top_p)
    .offer(
        dialect.length_field.name(),
        RequestField::MaxTokens,
        request.max_tokens,
    )
    .offer(effort_field, RequestField::ReasoningEffort, effort)
    .offer(
        "response_format",
        RequestField::Output,
        format(&request.output),
    );
    body
}

/// Are there tools that may be called? Where it cannot be said that none of them may be, none is offered.
pub(super) fn offers_tools(request: &ChatRequest, without: &BTreeSet<RequestField>) -> bool {
    let may_say = !without.contains(&RequestField::ToolChoice);
    !request.tools.is_empty() && (may_say || request.tool_choice != ToolChoice::None)
}

/// A value in JSON.
fn json(value: &impl Serialize) -> Value {
    invariant!(
        serde_json::to_value(value),
        "requests are made of texts, lists and numbers, which JSON has"
    )
}

fn format(output: &OutputFormat) -> Option<Value> {
    match output {
        OutputFormat::Json => Some(serde_json::json!({"type": "json_object"})),
        OutputFormat::Schema { name, schema } => {
            let mut described = serde_json::json!({"name": name, "schema": schema});
            if may_be_strict(schema)
                && let Some(described) = described.as_object_mut()
            {
                described.insert("strict".to_owned(), Value::Bool(true));
            }
            Some(serde_json::json!({"type": "json_schema", "json_schema": described}))
        }
        _ => None,
    }
}

fn message(message: &Message) -> Option<ChatCompletionRequestMessage> {
    Some(match message {
        Message::System { content } => {
            ChatCompletionRequestSystemMessage::from(content.as_str()).into()
        }
        Message::User { content } => {
            ChatCompletionRequestUserMessage::from(content.as_str()).into()
        }
        Message::Assistant {
            content,
            tool_calls,
        } => assistant(content, tool_calls).into(),
        Message::Tool { call_id, content } => ChatCompletionRequestToolMessage {
            content: content.as_str().into(),
            tool_call_id: call_id.as_str().to_owned(),
        }
        .into(),
        // A kind of message that did not exist when this was written.
        _ => return None,
    })
}

fn assistant(content: &str, tool_calls: &[ToolCall]) -> ChatCompletionRequestAssistantMessage {
    ChatCompletionRequestAssistantMessage {
        // Content may only be left out where something else is there.
        content: (!content.is_empty() || tool_calls.is_empty()).then(|| content.into()),
        tool_calls: (!tool_calls.is_empty()).then(|| tool_calls.iter().map(call).collect()),
        ..ChatCompletionRequestAssistantMessage::default()
    }
}

fn call(call: &ToolCall) -> ChatCompletionMessageToolCalls {
    ChatCompletionMessageToolCalls::Function(ChatCompletionMessageToolCall {
        id: call.id.as_str().to_owned(),
        function: FunctionCall {
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        },
    })
}

fn tool(tool: &ToolDefinition) -> ChatCompletionTools {
    ChatCompletionTools::Function(ChatCompletionTool {
        function: FunctionObject {
            name: tool.name.as_str().to_owned(),
            description: Some(tool.description.clone()),
            parameters: Some(tool.parameters.clone()),
            strict: None,
        },
    })
}

/// The choice; left out where it is the server's default.
fn tool_choice(choice: &ToolChoice) -> Option<ChatCompletionToolChoiceOption> {
    match choice {
        ToolChoice::None => Some(ChatCompletionToolChoiceOption::Mode(
            ToolChoiceOptions::None,
        )),
        ToolChoice::Required => Some(ChatCompletionToolChoiceOption::Mode(
            ToolChoiceOptions::Required,
        )),
        ToolChoice::Tool(name) => Some(ChatCompletionToolChoiceOption::Function(
            ChatCompletionNamedToolChoice {
                function: FunctionName {
                    name: name.as_str().to_owned(),
                },
            },
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
