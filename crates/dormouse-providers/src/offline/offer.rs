//! Which tools there are, and in which form they are called.

use dormouse_contracts::{ChatRequest, Message, ToolChoice};
use serde_json::{Deserializer, Value};

/// The line behind which tools are listed in a system message, for models that cannot be offered any otherwise.
const LISTED: &str = "The tools, as JSON:\n";

/// How a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As a tool call of the reply.
    Native,
    /// As a JSON object that is the text of the reply.
    Text,
}

/// The tools that may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offer<'a> {
    pub(super) form: Form,
    names: Vec<Name<'a>>,
}

type Name<'a> = std::borrow::Cow<'a, str>;

impl<'a> Offer<'a> {
    /// Reads the offer of a request: its tools, or where there are none, those listed in its last system message.
    pub(super) fn of(request: &'a ChatRequest) -> Self {
        if request.tools.is_empty()
            && let Some(names) = request.messages.iter().rev().find_map(listed)
        {
            return Self {
                form: Form::Text,
                names,
            };
        }
        let allowed = |name: &str| match &request.tool_choice {
            ToolChoice::None => false,
            ToolChoice::Tool(only) => only.as_str() == name,
            _ => true,
        };
        let names = request.tools.iter().map(|tool| tool.name.as_str());
        Self {
            form: Form::Native,
            names: names.filter(|name| allowed(name)).map(Name::from).collect(),
        }
    }

    /// May this tool be called?
    pub(super) fn has(&self, tool: &str) -> bool {
        self.names.iter().any(|name| name == tool)
    }
}

/// The names in the list of a system message, if it has one. What stands behind the list does not matter.
fn listed(message: &Message) -> Option<Vec<Name<'_>>> {
    let Message::System { content } = message else {
        return None;
    };
    let (_, list) = content.rsplit_once(LISTED)?;
    let list = Deserializer::from_str(list)
        .into_iter::<Vec<Value>>()
        .next();
    let tools = list?.ok()?;
    let name = |tool: &Value| Some(tool.get("name")?.as_str()?.to_owned().into());
    Some(tools.iter().filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{ToolDefinition, ToolName};
    use serde_json::json;

    use super::*;

    fn system(content: &str) -> ChatRequest {
        ChatRequest {
            messages: vec![Message::System {
                content: content.to_owned(),
            }],
            tool_choice: ToolChoice::None,
            ..ChatRequest::default()
        }
    }

    fn tool(name: &str) -> ToolDefinition {
        ToolDefinition {
            name: ToolName::try_new(name).unwrap(),
            description: "It has a \"]\" in it.".to_owned(),
            parameters: json!({"type": "object"}),
        }
    }

    #[test]
    fn tools_that_are_listed_in_the_text_are_offered_and_called_in_text() {
        let list = serde_json::to_string(&[tool("say"), tool("noop")]).unwrap();
        for request in [
            system(&format!("Be kind.\n\n{LISTED}{list}")),
            system(&format!("{LISTED}none\n\n{LISTED}{list}\n\nBe kind.")),
        ] {
            let offer = Offer::of(&request);
            assert_eq!(offer.form, Form::Text);
            assert_eq!(offer.names, ["say", "noop"]);
            assert!(offer.has("say") && !offer.has("whisper"));
        }
    }

    #[test]
    fn tools_of_the_request_go_before_those_in_the_text() {
        let mut request = system(&format!("{LISTED}[{{\"name\": \"say\"}}]"));
        request.tools = vec![tool("noop"), tool("page")];
        let none = Offer::of(&request);
        assert_eq!((none.form, none.names.len()), (Form::Native, 0));
        request.tool_choice = ToolChoice::Auto;
        assert_eq!(Offer::of(&request).names, ["noop", "page"]);
        request.tool_choice = ToolChoice::Tool(ToolName::try_new("page").unwrap());
        assert_eq!(Offer::of(&request).names, ["page"]);
    }

    #[test]
    fn what_is_no_list_offers_nothing() {
        for content in [
            "",
            "The tools, as JSON:",
            "The tools, as JSON:\n{\"name\": \"say\"}",
            "The tools, as JSON:\n[{\"name\": \"say\"}",
            "The tools are: say",
        ] {
            let request = system(content);
            let offer = Offer::of(&request);
            assert_eq!((offer.form, offer.has("say")), (Form::Native, false));
        }
        let in_words = ChatRequest {
            messages: vec![Message::User {
                content: format!("{LISTED}[{{\"name\": \"say\"}}]"),
            }],
            ..ChatRequest::default()
        };
        assert!(!Offer::of(&in_words).has("say"));
    }
}
