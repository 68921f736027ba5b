//! Counts the tokens of a whole request.

use dormouse_contracts::{
    ChatRequest, Message, OutputFormat, TokenCount, TokenCounter, ToolCall, ToolDefinition,
    invariant,
};
use serde::{Deserialize, Serialize};

/// Overhead of a message: start, role and end. OpenAI documents three tokens and the role.
pub(super) const PER_MESSAGE: u32 = 4;
/// The start of the reply, which the provider adds.
const REPLY: u32 = 3;
/// Overhead of a tool call in a message.
const PER_CALL: u32 = 8;
/// Overhead of a tool definition. No vendor documents it.
const PER_TOOL: u32 = 8;
/// Overhead of the list of tools.
const TOOLS: u32 = 12;

/// The tokens of a request, by origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestCount {
    /// Tokens of all texts: messages, names and arguments of tool calls, tool definitions, the reply's schema.
    pub texts: u32,
    /// Overhead around the texts, as known for OpenAI's models.
    pub framing: u32,
    /// Number of messages.
    pub messages: u32,
    /// True if every text was counted with the model's own vocabulary. The total is an estimate in any case.
    pub exact_texts: bool,
}

impl RequestCount {
    /// Returns the total.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.texts.saturating_add(self.framing)
    }

    fn framed(&mut self, tokens: u32) {
        self.framing = self.framing.saturating_add(tokens);
    }

    fn text(&mut self, counted: TokenCount) {
        self.texts = self.texts.saturating_add(counted.tokens);
        self.exact_texts &= counted.exact;
    }

    fn message(&mut self, counter: &dyn TokenCounter, message: &Message) {
        self.messages = self.messages.saturating_add(1);
        self.framed(PER_MESSAGE);
        match message {
            Message::System { content }
            | Message::User { content }
            | Message::Tool { content, .. } => {
                self.text(counter.count(content));
            }
            Message::Assistant {
                content,
                tool_calls,
            } => {
                self.text(counter.count(content));
                tool_calls.iter().for_each(|call| self.call(counter, call));
            }
            // A kind of message that this version does not know counts as its JSON.
            other => {
                let json = invariant!(serde_json::to_string(other), "a message is JSON");
                self.text(counter.count(&json));
            }
        }
    }

    fn call(&mut self, counter: &dyn TokenCounter, call: &ToolCall) {
        self.framed(PER_CALL);
        self.text(counter.count(&call.name));
        self.text(counter.count(&call.arguments));
    }

    fn tool(&mut self, counter: &dyn TokenCounter, tool: &ToolDefinition) {
        self.framed(PER_TOOL);
        self.text(counter.count(tool.name.as_str()));
        self.text(counter.count(&tool.description));
        self.text(counter.count(&tool.parameters.to_string()));
    }
}

/// Counts every part of a request that the model reads: messages with their overhead, names and arguments of calls, tool
/// definitions, and the reply's schema. Call ids and extra parameters ([`ChatRequest::extra`]) are not shown to the
/// model.
///
/// Takes time linear in the size of the request. If you count the same messages in every request, use a
/// [`CachedCounter`](crate::CachedCounter), or store the counts with the messages.
///
/// # Examples
///
/// ```
/// use dormouse_contracts::{ChatRequest, Message};
/// use dormouse_providers::{Estimate, count_request};
///
/// let request = ChatRequest {
///     messages: vec![Message::User { content: "Where is the kettle?".to_owned() }],
///     ..ChatRequest::default()
/// };
/// let count = count_request(&Estimate::default(), &request);
/// assert_eq!((count.texts, count.framing, count.total()), (5, 7, 12));
/// ```
#[must_use]
pub fn count_request(counter: &dyn TokenCounter, request: &ChatRequest) -> RequestCount {
    let messages = request.messages.iter();
    let messages = messages.map(|message| count_message(counter, message));
    let tools = count_tools(counter, &request.tools);
    count_parts(counter, request, tools, messages)
}

/// Like [`count_request`], with the counts of the tools and of each message. They are the same for each request that has them.
pub(super) fn count_parts(
    counter: &dyn TokenCounter,
    request: &ChatRequest,
    tools: RequestCount,
    messages: impl IntoIterator<Item = RequestCount>,
) -> RequestCount {
    let mut count = tools;
    count.framed(REPLY);
    for message in messages {
        count.framed(message.framing);
        count.texts = count.texts.saturating_add(message.texts);
        count.messages = count.messages.saturating_add(message.messages);
        count.exact_texts &= message.exact_texts;
    }
    if let OutputFormat::Schema { name, schema } = &request.output {
        count.framed(PER_TOOL);
        count.text(counter.count(name));
        count.text(counter.count(&schema.to_string()));
    }
    count
}

/// Counts one message of a request.
pub(super) fn count_message(counter: &dyn TokenCounter, message: &Message) -> RequestCount {
    let mut count = RequestCount {
        exact_texts: true,
        ..RequestCount::default()
    };
    count.message(counter, message);
    count
}

/// Counts the tools of a request.
pub(super) fn count_tools(counter: &dyn TokenCounter, tools: &[ToolDefinition]) -> RequestCount {
    let mut count = RequestCount {
        exact_texts: true,
        ..RequestCount::default()
    };
    if !tools.is_empty() {
        count.framed(TOOLS);
    }
    for tool in tools {
        count.tool(counter, tool);
    }
    count
}

#[cfg(test)]
mod tests;
