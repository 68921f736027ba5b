//! How many tokens a whole request takes.

use dormouse_contracts::{
    ChatRequest, Message, OutputFormat, TokenCount, TokenCounter, ToolCall, ToolDefinition,
    invariant,
};
use serde::{Deserialize, Serialize};

/// What stands around a message: its beginning, its role and its end. OpenAI documents three tokens and the role.
pub(super) const PER_MESSAGE: u32 = 4;
/// The beginning of the reply, which the provider adds.
const REPLY: u32 = 3;
/// What stands around a tool call within a message.
const PER_CALL: u32 = 8;
/// What stands around the definition of a tool. No vendor documents what becomes of definitions.
const PER_TOOL: u32 = 8;
/// What introduces the tools.
const TOOLS: u32 = 12;

/// How many tokens a request takes, and of what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestCount {
    /// Those of all texts: messages, names and arguments of tool calls, definitions of tools, the schema of the reply.
    pub texts: u32,
    /// Those that stand around the texts, by what is known of OpenAI's models.
    pub framing: u32,
    /// How many messages there are.
    pub messages: u32,
    /// True where every text was counted with the model's own vocabulary. The whole is an estimate even so.
    pub exact_texts: bool,
}

impl RequestCount {
    /// All of it.
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
            // A kind of message this version has no name for: what it is on the wire, rather than nothing.
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

/// Counts everything of a request that a model reads: the messages with what stands around each, the names and arguments
/// of the tools they called, the definitions of the tools that are offered, and the schema the reply shall have. The ids of
/// calls and the further parameters ([`ChatRequest::extra`]) are no text to the model.
///
/// Takes time in proportion to the request. Whoever counts the same messages with every request gives it a
/// [`CachedCounter`](crate::CachedCounter), which looks at a text again but does not part it into tokens again; whoever
/// keeps the counts beside the messages needs neither.
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
    let mut count = RequestCount {
        framing: REPLY,
        exact_texts: true,
        ..RequestCount::default()
    };
    for message in &request.messages {
        count.message(counter, message);
    }
    if !request.tools.is_empty() {
        count.framed(TOOLS);
    }
    for tool in &request.tools {
        count.tool(counter, tool);
    }
    if let OutputFormat::Schema { name, schema } = &request.output {
        count.framed(PER_TOOL);
        count.text(counter.count(name));
        count.text(counter.count(&schema.to_string()));
    }
    count
}

#[cfg(test)]
mod tests;
