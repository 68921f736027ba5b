//! A probe tests whether a model calls tools.

use dormouse_contracts::{
    ChatReply, ChatRequest, Message, ModelErrorKind, ToolChoice, ToolDefinition, ToolName,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Anomaly, ToolCalling, parse_reply};

/// The offered tool.
const TOOL: &str = "report_sum";
/// Enough tokens for a call and the thoughts before it.
const MAX_TOKENS: u32 = 1_024;

/// A question that a model can only answer with a tool call.
///
/// Send [`Required`](Self::Required) first. Servers that support tools without a tool choice reject it. So after
/// [`ProbeVerdict::RefusesTools`] send [`Auto`](Self::Auto), and use its verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolProbe {
    /// The model must call a tool.
    #[default]
    Required,
    /// The model may call a tool.
    Auto,
}

/// The result of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProbeVerdict {
    /// The model called the tool natively.
    NativeWorks,
    /// The model printed a call into its text.
    PrintsCalls,
    /// The model answered as if no tool existed.
    IgnoresTools,
    /// The provider rejected the request because of the tool, or left the tool out of it.
    RefusesTools,
    /// No result: the model did not answer, or the answer was empty. Try again later.
    Inconclusive,
}

impl ProbeVerdict {
    /// How tools should be offered after this result; `None` without a result.
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

impl ToolProbe {
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

    /// Evaluates the outcome of the request.
    #[must_use]
    pub fn judge(self, outcome: Result<&ChatReply, ModelErrorKind>) -> ProbeVerdict {
        let reply = match outcome {
            Ok(reply) => reply,
            // The request contains nothing else that a provider could reject.
            Err(ModelErrorKind::Refused) => return ProbeVerdict::RefusesTools,
            Err(_) => return ProbeVerdict::Inconclusive,
        };
        // The result is never executed, so the most tolerant parsing is used.
        let reading = parse_reply(reply, ToolCalling::Fallback, |name| name == TOOL);
        if reading.signs.native > 0 {
            ProbeVerdict::NativeWorks
        } else if reading.signs.has(Anomaly::ToolsLeftOut) {
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
    fn a_probe_offers_its_tool_and_distinguishes_five_outcomes() {
        let request = ToolProbe::Required.request();
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
        let judge = |reply: &ChatReply| ToolProbe::Required.judge(Ok(reply));
        assert_eq!(judge(&native), ProbeVerdict::NativeWorks);
        assert_eq!(judge(&printed), ProbeVerdict::PrintsCalls);
        assert_eq!(judge(&said("It is 5.")), ProbeVerdict::IgnoresTools);
        assert_eq!(judge(&said(" ")), ProbeVerdict::Inconclusive);
        assert_eq!(
            ToolProbe::Auto.judge(Err(ModelErrorKind::Refused)),
            ProbeVerdict::RefusesTools
        );
        assert_eq!(
            ToolProbe::Auto.judge(Err(ModelErrorKind::Unavailable)),
            ProbeVerdict::Inconclusive
        );
    }
}
