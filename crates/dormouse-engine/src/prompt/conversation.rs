//! Turns as the messages of a chat, in the form that the model can read.

use dormouse_contracts::{Message, MessageDigest, ToolCall};
use dormouse_text::escape_template_tokens;
use serde_json::Value;

use super::digest_of;
use crate::{
    config::ToolCalling,
    reply::left_out_note,
    state::{CallState, Step, Turn},
};

/// The name that replaces the name of a call that servers would reject. The result of the call says what was wrong with
/// it.
const UNKNOWN_TOOL: &str = "unknown_tool";
/// The longest function name that servers accept.
const NAME_LIMIT: usize = 64;

/// The messages of a chat. Consecutive messages of the user become one message, because some chat templates reject a
/// conversation in which the roles do not alternate.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    messages: Vec<Message>,
    /// The digests of the messages, as far as they are known. It has as many items as `messages`.
    digests: Vec<Option<MessageDigest>>,
}

/// Messages that are shown in several prompts, with their digests.
#[derive(Debug, Default)]
pub(crate) struct ShownMessages(Vec<(Message, MessageDigest)>);

impl From<Conversation> for ShownMessages {
    fn from(conversation: Conversation) -> Self {
        let messages = conversation.messages.into_iter();
        let digested = messages.map(|message| {
            let digest = digest_of(&message);
            (message, digest)
        });
        Self(digested.collect())
    }
}

impl Conversation {
    /// Begins with the system's message.
    pub(super) fn of((system, digest): (Message, MessageDigest)) -> Self {
        Self {
            messages: vec![system],
            digests: vec![Some(digest)],
        }
    }

    pub(super) fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// The messages, and their digests as far as they are known.
    pub(super) fn into_parts(self) -> (Vec<Message>, Vec<Option<MessageDigest>>) {
        (self.messages, self.digests)
    }

    fn push(&mut self, message: Message, digest: Option<MessageDigest>) {
        self.messages.push(message);
        self.digests.push(digest);
    }

    /// How many messages at the start are complete, so that nothing is added to them any more.
    pub(super) fn settled(&self) -> usize {
        let is_open = matches!(self.messages.last(), Some(Message::User { .. }));
        self.messages.len() - usize::from(is_open)
    }

    pub(super) fn user(&mut self, text: &str) {
        if let Some(Message::User { content }) = self.messages.last_mut() {
            content.push_str("\n\n");
            content.push_str(text);
            // The message has changed, so its digest is not known any more.
            if let Some(digest) = self.digests.last_mut() {
                *digest = None;
            }
        } else {
            let content = text.to_owned();
            self.push(Message::User { content }, None);
        }
    }

    /// Adds messages that were made before.
    pub(super) fn add(&mut self, messages: &ShownMessages) {
        for (message, digest) in &messages.0 {
            match (message, self.messages.last()) {
                (Message::User { content }, Some(Message::User { .. })) => self.user(content),
                (message, _) => self.push(message.clone(), Some(*digest)),
            }
        }
    }

    /// Adds what the model did in a turn. `shown` returns the text that is shown of a result. A notice that asks the
    /// sender to wait is left out: a model that sees it among its own calls mistakes it for an answer.
    pub(super) fn steps(
        &mut self,
        turn: &Turn,
        form: ToolCalling,
        shown: impl Fn(&CallState) -> String,
    ) {
        for step in turn.shown_steps() {
            match form {
                ToolCalling::Native => self.native(step, &shown),
                ToolCalling::Fallback => self.fallback(step, &shown),
            }
            if step.left_out > 0 {
                self.user(&left_out_note(step.left_out));
            }
            if let Some(note) = &step.parse_failed {
                self.user(&escape_template_tokens(note));
            }
        }
    }

    /// The model's words may repeat what somebody dictated to it.
    fn assistant(&mut self, content: &str, tool_calls: Vec<ToolCall>) {
        let content = escape_template_tokens(content).into_owned();
        // An empty reply is not shown: servers reject an empty message of the assistant.
        if !(content.is_empty() && tool_calls.is_empty()) {
            let message = Message::Assistant {
                content,
                tool_calls,
            };
            self.push(message, None);
        }
    }

    fn native(&mut self, step: &Step, shown: &impl Fn(&CallState) -> String) {
        let tool_calls = step.calls.iter().map(|call| ToolCall {
            id: call.id().clone(),
            name: sendable_name(call).to_owned(),
            arguments: sendable_arguments(call),
        });
        self.assistant(&step.content, tool_calls.collect());
        for call in &step.calls {
            let message = Message::Tool {
                call_id: call.id().clone(),
                content: shown(call),
            };
            self.push(message, None);
        }
    }

    fn fallback(&mut self, step: &Step, shown: &impl Fn(&CallState) -> String) {
        if step.calls.is_empty() {
            self.assistant(&step.content, Vec::new());
        }
        for call in &step.calls {
            let (name, parameters) = (sendable_name(call), sendable_arguments(call));
            let content = format!("{{\"tool\": \"{name}\", \"parameters\": {parameters}}}");
            self.assistant(&content, Vec::new());
            self.user(&format!("[TOOL RESULT: {name}]\n{}", shown(call)));
        }
    }
}

/// The name in a form that can be sent back: servers reject the whole conversation if it has a single name that no
/// function can have.
fn sendable_name(call: &CallState) -> &str {
    let name = call.call.name.as_str();
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    if (1..=NAME_LIMIT).contains(&name.len()) && name.bytes().all(fits) {
        name
    } else {
        UNKNOWN_TOOL
    }
}

/// The arguments in a form that can be sent back: servers reject a conversation whose arguments are not a JSON object.
/// A string that contains an object becomes that object, as when the call was checked. Tokens of chat templates occur
/// only within strings, so the text without them is still JSON.
fn sendable_arguments(call: &CallState) -> String {
    let text = call.call.arguments.as_str();
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => escape_template_tokens(text).into_owned(),
        Ok(Value::String(inner)) if is_object(&inner) => {
            escape_template_tokens(&inner).into_owned()
        }
        _ => "{}".to_owned(),
    }
}

fn is_object(text: &str) -> bool {
    matches!(serde_json::from_str::<Value>(text), Ok(Value::Object(_)))
}
