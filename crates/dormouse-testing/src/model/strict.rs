//! Checks a request as a strict provider does.

use std::collections::HashSet;

use dormouse_contracts::{
    Arguments, CallId, ChatRequest, Message, ToolCall, ToolChoice, ToolDefinition,
};

use super::violation::Violation;

/// All faults of `request`, in order.
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

/// The state of the check after some messages.
#[derive(Default)]
struct Reading<'a> {
    found: Vec<Violation>,
    /// All call ids so far.
    known: HashSet<&'a CallId>,
    /// The calls of the last assistant message that are not answered yet.
    open: Vec<&'a CallId>,
    /// The calls of the last assistant message that are answered.
    answered: Vec<&'a CallId>,
    /// Whether a message other than a system message has occurred.
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
        for ToolCall {
            id,
            name,
            arguments,
        } in calls
        {
            if !is_name(name) {
                let tool = name.clone();
                self.found.push(Violation::ToolName { tool });
            }
            if serde_json::from_str::<Arguments>(arguments).is_err() {
                let call = id.clone();
                self.found.push(Violation::NoObject { at, call });
            }
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

/// A tool's name consists of 1 to 64 letters, digits, `_` and `-`.
fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}

fn tools(tools: &[ToolDefinition]) -> Vec<Violation> {
    let mut names = HashSet::new();
    let mut found = Vec::new();
    for tool in tools {
        let name = || tool.name.clone();
        if !names.insert(&tool.name) {
            found.push(Violation::ToolTwice { tool: name() });
        }
        if !is_name(tool.name.as_str()) {
            let tool = tool.name.to_string();
            found.push(Violation::ToolName { tool });
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
