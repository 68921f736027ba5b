//! What a strict provider refuses in a request.

use std::{collections::HashSet, fmt};

use dormouse_contracts::{
    CallId, ChatRequest, Message, ToolCall, ToolChoice, ToolDefinition, ToolName,
};

/// What is wrong with a request: something that at least one real provider answers with a refusal.
///
/// `at` is the index of the offending message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// There is no message in it.
    NoMessages,
    /// A system message comes after another message.
    SystemNotFirst {
        /// Where it stands.
        at: usize,
    },
    /// An assistant message has neither text nor calls.
    SaysNothing {
        /// Where it stands.
        at: usize,
    },
    /// A tool message answers no call of the assistant message before it.
    AnswersNothing {
        /// Where it stands.
        at: usize,
        /// The call it claims to answer.
        call: CallId,
    },
    /// A tool message answers a call that is answered already.
    AnsweredTwice {
        /// Where the second answer stands.
        at: usize,
        /// The call.
        call: CallId,
    },
    /// A call is not answered before the conversation goes on, or ends.
    Unanswered {
        /// Where the conversation goes on; the number of messages if it ends.
        at: usize,
        /// The call.
        call: CallId,
    },
    /// Two calls of the request have the same id.
    CallIdTwice {
        /// Where the second one stands.
        at: usize,
        /// The id.
        call: CallId,
    },
    /// Two tools have the same name.
    ToolTwice {
        /// The name.
        tool: ToolName,
    },
    /// The parameters of a tool are no schema of an object.
    NoObjectSchema {
        /// The tool.
        tool: ToolName,
    },
    /// A tool must be called that is not offered, or any where none is.
    ChoiceNotOffered,
    /// A sampling parameter is out of its range.
    OutOfRange {
        /// Its name.
        parameter: &'static str,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMessages => f.write_str("the request has no messages"),
            Self::SystemNotFirst { at } => {
                write!(f, "message {at} is a system message after another message")
            }
            Self::SaysNothing { at } => {
                write!(f, "assistant message {at} has neither text nor calls")
            }
            Self::AnswersNothing { at, call } => write!(
                f,
                "message {at} answers {call}, which the assistant message before it did not call"
            ),
            Self::AnsweredTwice { at, call } => {
                write!(f, "message {at} answers {call} a second time")
            }
            Self::Unanswered { at, call } => {
                write!(f, "{call} is not answered before message {at}")
            }
            Self::CallIdTwice { at, call } => {
                write!(f, "message {at} uses the call id {call} a second time")
            }
            Self::ToolTwice { tool } => write!(f, "the tool {tool} is offered twice"),
            Self::NoObjectSchema { tool } => {
                write!(f, "the parameters of the tool {tool} are no object schema")
            }
            Self::ChoiceNotOffered => f.write_str("a tool must be called that is not offered"),
            Self::OutOfRange { parameter } => write!(f, "{parameter} is out of its range"),
        }
    }
}

impl std::error::Error for Violation {}

/// Everything that is wrong with `request`, in order.
pub(super) fn violations(request: &ChatRequest) -> Vec<Violation> {
    let mut reading = Reading::default();
    for (at, message) in request.messages.iter().enumerate() {
        reading.take(at, message);
    }
    let mut found = reading.end(request.messages.len());
    found.extend(tools(&request.tools));
    found.extend(choice(request));
    found.extend(sampling(request));
    found
}

/// A conversation as far as it has been read.
#[derive(Default)]
struct Reading<'a> {
    found: Vec<Violation>,
    /// Every call id so far.
    known: HashSet<&'a CallId>,
    /// The calls of the last assistant message that wait for their answer.
    open: Vec<&'a CallId>,
    /// The calls of the last assistant message that have theirs.
    answered: Vec<&'a CallId>,
    /// Whether anything but system messages has come.
    begun: bool,
}

impl<'a> Reading<'a> {
    fn take(&mut self, at: usize, message: &'a Message) {
        match message {
            Message::Tool { call_id, .. } => self.answer(at, call_id),
            Message::System { .. } => {
                self.go_on(at);
                if self.begun {
                    self.found.push(Violation::SystemNotFirst { at });
                }
                return;
            }
            Message::Assistant {
                content,
                tool_calls,
            } => {
                self.go_on(at);
                self.speak(at, content, tool_calls);
            }
            _ => self.go_on(at),
        }
        self.begun = true;
    }

    fn answer(&mut self, at: usize, call: &'a CallId) {
        if let Some(place) = self.open.iter().position(|open| *open == call) {
            self.answered.push(self.open.remove(place));
        } else if self.answered.contains(&call) {
            let call = call.clone();
            self.found.push(Violation::AnsweredTwice { at, call });
        } else {
            let call = call.clone();
            self.found.push(Violation::AnswersNothing { at, call });
        }
    }

    fn speak(&mut self, at: usize, content: &str, calls: &'a [ToolCall]) {
        if content.is_empty() && calls.is_empty() {
            self.found.push(Violation::SaysNothing { at });
        }
        for ToolCall { id, .. } in calls {
            if !self.known.insert(id) {
                let call = id.clone();
                self.found.push(Violation::CallIdTwice { at, call });
            }
            self.open.push(id);
        }
    }

    fn go_on(&mut self, at: usize) {
        self.answered.clear();
        let open = self.open.drain(..).cloned();
        self.found
            .extend(open.map(|call| Violation::Unanswered { at, call }));
    }

    fn end(mut self, length: usize) -> Vec<Violation> {
        self.go_on(length);
        if length == 0 {
            self.found.push(Violation::NoMessages);
        }
        self.found
    }
}

fn tools(tools: &[ToolDefinition]) -> Vec<Violation> {
    let mut names = HashSet::new();
    let mut found = Vec::new();
    for tool in tools {
        let name = || tool.name.clone();
        if !names.insert(&tool.name) {
            found.push(Violation::ToolTwice { tool: name() });
        }
        if tool.parameters.get("type").and_then(|kind| kind.as_str()) != Some("object") {
            found.push(Violation::NoObjectSchema { tool: name() });
        }
    }
    found
}

fn choice(request: &ChatRequest) -> Option<Violation> {
    let offered = match &request.tool_choice {
        ToolChoice::Required => !request.tools.is_empty(),
        ToolChoice::Tool(name) => request.tools.iter().any(|tool| tool.name == *name),
        _ => true,
    };
    (!offered).then_some(Violation::ChoiceNotOffered)
}

fn sampling(request: &ChatRequest) -> impl Iterator<Item = Violation> {
    let outside = |value: Option<f32>, most| value.is_some_and(|v| !(0.0..=most).contains(&v));
    [
        ("temperature", outside(request.temperature, 2.0)),
        ("top_p", outside(request.top_p, 1.0)),
        ("max_tokens", request.max_tokens == Some(0)),
    ]
    .into_iter()
    .filter_map(|(parameter, outside)| outside.then_some(Violation::OutOfRange { parameter }))
}

#[cfg(test)]
mod tests;
