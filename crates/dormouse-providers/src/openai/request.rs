//! A chat request in the words of OpenAI's API.

use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls, ChatCompletionNamedToolChoice,
    ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage,
    ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage,
    ChatCompletionRequestUserMessage, ChatCompletionStreamOptions, ChatCompletionTool,
    ChatCompletionToolChoiceOption, ChatCompletionTools, CreateChatCompletionRequest, FunctionCall,
    FunctionName, FunctionObject, ToolChoiceOptions,
};
use dormouse_contracts::{ChatRequest, Message, ModelName, ToolCall, ToolChoice, ToolDefinition};

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
}

/// The request, streamed and with a count of what it cost at the end.
#[expect(
    deprecated,
    reason = "servers other than OpenAI's know the limit only by its old name"
)]
pub(super) fn write(
    request: &ChatRequest,
    model: &ModelName,
    length_field: LengthField,
) -> CreateChatCompletionRequest {
    let limit = |field| request.max_tokens.filter(|_| field == length_field);
    let offers_tools = !request.tools.is_empty();
    CreateChatCompletionRequest {
        model: model.as_str().to_owned(),
        messages: request.messages.iter().filter_map(message).collect(),
        tools: offers_tools.then(|| request.tools.iter().map(tool).collect()),
        tool_choice: offers_tools
            .then(|| tool_choice(&request.tool_choice))
            .flatten(),
        temperature: request.temperature,
        top_p: request.top_p,
        max_completion_tokens: limit(LengthField::MaxCompletionTokens),
        max_tokens: limit(LengthField::MaxTokens),
        stream: Some(true),
        stream_options: Some(ChatCompletionStreamOptions {
            include_usage: Some(true),
            include_obfuscation: None,
        }),
        ..CreateChatCompletionRequest::default()
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
