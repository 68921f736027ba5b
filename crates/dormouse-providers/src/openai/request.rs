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
    ToolChoice, ToolDefinition,
};
use serde::Serialize;
use serde_json::Value;

use crate::server::{Body, Written};

/// By which name a server knows the limit of a reply's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LengthField {
    /// `max_completion_tokens`: OpenAI, whose newer models refuse the other.
    MaxCompletionTokens,
    /// `max_tokens`: everybody else, some of whom know no other.
    MaxTokens,
}

impl LengthField {
    /// The one that the server at this host knows.
    pub(super) fn at(host: &str) -> Self {
        let is = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
        if is("openai.com") || is("openai.azure.com") {
            Self::MaxCompletionTokens
        } else {
            Self::MaxTokens
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::MaxCompletionTokens => "max_completion_tokens",
            Self::MaxTokens => "max_tokens",
        }
    }
}

/// The request, streamed and with a count of what it cost at the end.
pub(super) fn write(
    request: &ChatRequest,
    model: &ModelName,
    length_field: LengthField,
    without: &BTreeSet<RequestField>,
) -> Written {
    let messages: Vec<_> = request.messages.iter().filter_map(message).collect();
    let mut body = Body::without(without);
    body.set("model", model.as_str())
        .set("messages", json(&messages))
        .set("stream", true)
        .offer(
            "stream_options",
            RequestField::StreamUsage,
            Some(serde_json::json!({"include_usage": true})),
        );
    if !request.tools.is_empty() {
        let tools: Vec<_> = request.tools.iter().map(tool).collect();
        let choice = tool_choice(&request.tool_choice).map(|choice| json(&choice));
        body.offer("tools", RequestField::Tools, Some(json(&tools)));
        if !without.contains(&RequestField::Tools) {
            body.offer("tool_choice", RequestField::ToolChoice, choice);
        }
    }
    let effort = request.reasoning_effort.map(ReasoningEffort::as_str);
    body.offer_number(
        "temperature",
        RequestField::Temperature,
        request.temperature,
    )
    .offer_number("top_p", RequestField::TopP, request.top_p)
    .offer(
        length_field.name(),
        RequestField::MaxTokens,
        request.max_tokens,
    )
    .offer("reasoning_effort", RequestField::ReasoningEffort, effort)
    .offer(
        "response_format",
        RequestField::Output,
        format(&request.output),
    )
    .extra(&request.extra);
    body.finish()
}

/// A value in JSON. The types of this file are made of texts, lists and numbers, which JSON has.
fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn format(output: &OutputFormat) -> Option<Value> {
    match output {
        OutputFormat::Json => Some(serde_json::json!({"type": "json_object"})),
        OutputFormat::Schema { name, schema } => Some(serde_json::json!({
            "type": "json_schema", "json_schema": {"name": name, "schema": schema}
        })),
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
