//! Asking a model what it can do.

use dormouse_contracts::{
    ChatReply, ChatRequest, Message, ModelErrorKind, ToolChoice, ToolDefinition, ToolName,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Oddity, ToolCalling, read};

/// The tool that is offered.
const TOOL: &str = "report_sum";
/// Room for a call, and for the thoughts before it.
const MAX_TOKENS: u32 = 1_024;

/// One question that a model can only answer by calling a tool.
///
/// Ask [`Required`](Self::Required) first. Servers that know tools and no choice between them refuse that; so where
/// the verdict is [`ProbeVerdict::RefusesTools`], ask [`Auto`](Self::Auto), and believe its verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Probe {
    /// The model must call a tool.
    #[default]
    Required,
    /// The model may.
    Auto,
}

/// What a probe showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProbeVerdict {
    /// It called the tool natively.
    NativeWorks,
    /// It printed a call into its text.
    PrintsCalls,
    /// It answered as if there were no tool.
    IgnoresTools,
    /// The request was refused because of the tool, or the tool was left out of it.
    RefusesTools,
    /// Nothing: it did not answer, or said nothing. Ask again another time.
    Inconclusive,
}

impl ProbeVerdict {
    /// How tools should be offered after this; `None` if it showed nothing.
    #[must_use]
    pub fn calling(self) -> Option<ToolCalling> {
        match self {
            Self::NativeWorks => Some(ToolCalling::Native),
            Self::PrintsCalls | Self::IgnoresTools | Self::RefusesTools => {
                Some(ToolCalling::Fallback)
            }
            Self::Inconclusive => None,
        }
    }
}

impl Probe {
    /// The request: two short messages, one tool, at most 1,024 tokens of reply.
    #[must_use]
    pub fn request(self) -> ChatRequest {
        let question = "What is 2 + 3? Report the sum by calling the tool report_sum.";
        let tools = ToolName::try_new(TOOL).map(|name| ToolDefinition {
            name,
            description: "Reports the sum of two numbers.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {"sum": {"type": "integer", "description": "The sum."}},
                "required": ["sum"],
            }),
        });
        ChatRequest {
            messages: vec![
                Message::System {
                    content: "Answer by calling tools, and by nothing else.".to_owned(),
                },
                Message::User {
                    content: question.to_owned(),
                },
            ],
            tools: tools.into_iter().collect(),
            tool_choice: match self {
                Self::Required => ToolChoice::Required,
                Self::Auto => ToolChoice::Auto,
            },
            max_tokens: Some(MAX_TOKENS),
            ..ChatRequest::default()
        }
    }

    /// Judges what came of the request.
    #[must_use]
    pub fn judge(self, outcome: Result<&ChatReply, ModelErrorKind>) -> ProbeVerdict {
        let reply = match outcome {
            Ok(reply) => reply,
            // There is nothing else in the request that anybody could refuse.
            Err(ModelErrorKind::Refused) => return ProbeVerdict::RefusesTools,
            Err(_) => return ProbeVerdict::Inconclusive,
        };
        // Nobody is harmed by what is read here, so it is read as generously as can be.
        let reading = read(reply, ToolCalling::Fallback, |name| name == TOOL);
        if reading.signs.native > 0 {
            ProbeVerdict::NativeWorks
        } else if reading.signs.has(Oddity::ToolsLeftOut) {
            ProbeVerdict::RefusesTools
        } else if reading.signs.printed > 0 {
            ProbeVerdict::PrintsCalls
        } else if reply.content.trim().is_empty() {
            ProbeVerdict::Inconclusive
        } else {
            ProbeVerdict::IgnoresTools
        }
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{CallId, ToolCall};

    use super::*;

    fn said(content: &str) -> ChatReply {
        ChatReply {
            content: content.to_owned(),
            ..ChatReply::default()
        }
    }

    #[test]
    fn a_probe_offers_its_tool_and_tells_five_outcomes_apart() {
        let request = Probe::Required.request();
        assert_eq!(request.tools.len(), 1);
        assert_eq!(request.tool_choice, ToolChoice::Required);
        let native = ChatReply {
            tool_calls: vec![ToolCall {
                id: CallId::try_new("1").unwrap(),
                name: TOOL.to_owned(),
                arguments: "{\"sum\": 5}".to_owned(),
            }],
            ..ChatReply::default()
        };
        let printed = said("Sure: {\"name\": \"report_sum\", \"arguments\": {\"sum\": 5}}");
        let judge = |reply: &ChatReply| Probe::Required.judge(Ok(reply));
        assert_eq!(judge(&native), ProbeVerdict::NativeWorks);
        assert_eq!(judge(&printed), ProbeVerdict::PrintsCalls);
        assert_eq!(judge(&said("It is 5.")), ProbeVerdict::IgnoresTools);
        assert_eq!(judge(&said(" ")), ProbeVerdict::Inconclusive);
        assert_eq!(
            Probe::Auto.judge(Err(ModelErrorKind::Refused)),
            ProbeVerdict::RefusesTools
        );
        assert_eq!(
            Probe::Auto.judge(Err(ModelErrorKind::Unavailable)),
            ProbeVerdict::Inconclusive
        );
    }
}
