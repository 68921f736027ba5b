//! The offered tools, and how they are called.

use dormouse_contracts::{ChatRequest, ToolChoice, ToolName};

/// How a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As a tool call of the reply.
    Native,
    /// As a JSON object that is the text of the reply.
    Text,
}

/// The offered tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offer<'a> {
    pub(crate) form: Form,
    names: Vec<&'a str>,
}

impl<'a> Offer<'a> {
    /// Returns the offer of a request: its tools, or else those listed in its instructions.
    pub(crate) fn of(request: &'a ChatRequest) -> Self {
        let listed = request.turn.as_ref().map(|turn| &turn.tools_in_text);
        match listed.filter(|listed| request.tools.is_empty() && !listed.is_empty()) {
            Some(listed) => Self {
                form: Form::Text,
                names: listed.iter().map(ToolName::as_str).collect(),
            },
            None => Self::native(request),
        }
    }

    fn native(request: &'a ChatRequest) -> Self {
        let allowed = |name: &&str| match &request.tool_choice {
            ToolChoice::None => false,
            ToolChoice::Tool(only) => only.as_str() == *name,
            _ => true,
        };
        let names = request.tools.iter().map(|tool| tool.name.as_str());
        Self {
            form: Form::Native,
            names: names.filter(allowed).collect(),
        }
    }

    /// Whether this tool is offered.
    pub(crate) fn has(&self, tool: &str) -> bool {
        self.names.contains(&tool)
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{ToolDefinition, TurnContext};
    use dormouse_testing::Perceive;
    use serde_json::json;

    use super::*;

    fn name(name: &str) -> ToolName {
        ToolName::try_new(name).unwrap()
    }

    fn tool(of: &str) -> ToolDefinition {
        ToolDefinition {
            name: name(of),
            description: String::new(),
            parameters: json!({"type": "object"}),
        }
    }

    fn listing(tools: &[&str]) -> ChatRequest {
        let turn = TurnContext {
            tools_in_text: tools.iter().map(|tool| name(tool)).collect(),
            ..TurnContext::new(Perceive::say("Alice", "hello").build().into())
        };
        ChatRequest {
            turn: Some(Box::new(turn)),
            ..ChatRequest::default()
        }
    }

    #[test]
    fn tools_that_the_instructions_list_are_called_in_text() {
        let request = listing(&["say", "noop"]);
        let offer = Offer::of(&request);
        assert_eq!(offer.form, Form::Text);
        assert!(offer.has("say") && offer.has("noop") && !offer.has("whisper"));
    }

    #[test]
    fn tools_of_the_request_win_over_listed_ones() {
        let mut request = listing(&["say"]);
        request.tools = vec![tool("noop"), tool("page")].into();
        assert_eq!(Offer::of(&request).names, ["noop", "page"]);
        request.tool_choice = ToolChoice::Tool(name("page"));
        assert_eq!(Offer::of(&request).names, ["page"]);
        request.tool_choice = ToolChoice::None;
        let none = Offer::of(&request);
        assert_eq!((none.form, none.names.len()), (Form::Native, 0));
    }

    #[test]
    fn a_request_without_tools_offers_nothing() {
        for request in [listing(&[]), ChatRequest::default()] {
            let offer = Offer::of(&request);
            assert_eq!((offer.form, offer.has("say")), (Form::Native, false));
        }
    }
}
