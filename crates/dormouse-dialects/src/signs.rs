//! Signs in a reply that show how a model calls tools.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

/// The format of a printed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallFormat {
    /// `{"tool": …, "parameters": …, "reasoning": …}`, the format that Dormouse asks for in the text.
    Tool,
    /// `{"name": …, "arguments": …}`, bare or after a mark such as `<tool_call>`; also `parameters`, `args` and
    /// `input`.
    Named,
    /// `{"type": "function", "function": {"name": …, "arguments": …}}`.
    Function,
    /// `{"function_call": {"name": …, "arguments": …}}`.
    FunctionCall,
    /// `{"tool_calls": […]}`, a message of an API printed as text.
    Message,
    /// `{"action": …, "action_input": …}`.
    Action,
    /// `<function=name>{…}</function>`, or with `<parameter=key>` tags in it.
    FunctionTag,
    /// `<invoke name="…"><parameter name="…">…</parameter></invoke>`.
    Invoke,
    /// `<tool_call>name<arg_key>…</arg_key><arg_value>…</arg_value></tool_call>`.
    ArgumentTags,
    /// A name and its arguments between special tokens, as in DeepSeek, Kimi and newer Mistral models.
    Tokens,
    /// A channel of the harmony format: `<|channel|>commentary to=functions.name<|message|>{…}<|call|>`.
    Channel,
}

/// An anomaly of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Anomaly {
    /// More than one call in one reply.
    SeveralCalls,
    /// The arguments were a string that contained a JSON object.
    DoubleEncoded,
    /// The arguments of a native call are cut off.
    CutArguments,
    /// The call was wrapped in a printed API message with a role.
    WrappedMessage,
    /// Invalid quotes, commas or line ends in the JSON were repaired. Only one repair was possible.
    Mended,
    /// The tool name contained parts of the model's own format, such as `functions.look`.
    MendedName,
    /// Thoughts between tags in the text.
    PrintedThoughts,
    /// A call in the thoughts. It is never executed.
    CallInThoughts,
    /// A printed call among other words. If tools were offered natively, [`parse_reply`](crate::parse_reply) treats it
    /// as a quotation, and [`call_among_words`](crate::call_among_words) as a call.
    QuotedCall,
    /// A printed call of a tool that was not offered.
    NotOffered,
    /// The start of a printed call without its end.
    BrokenCall,
    /// The provider left the tools out, because it or the model does not support them.
    ToolsLeftOut,
}

/// The signs in a reply. The size of this value is bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signs {
    /// The number of native calls.
    #[serde(default)]
    pub native: usize,
    /// The number of accepted printed calls.
    #[serde(default)]
    pub printed: usize,
    /// The format of the first printed call, accepted or not.
    #[serde(default)]
    pub form: Option<CallFormat>,
    /// The anomalies.
    #[serde(default)]
    pub anomalies: BTreeSet<Anomaly>,
}

impl Signs {
    /// Whether the reply has this anomaly.
    #[must_use]
    pub fn has(&self, anomaly: Anomaly) -> bool {
        self.anomalies.contains(&anomaly)
    }

    pub(crate) fn add(&mut self, anomaly: Anomaly) {
        self.anomalies.insert(anomaly);
    }
}

impl fmt::Display for CallFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Tool => "tool",
            Self::Named => "named",
            Self::Function => "function",
            Self::FunctionCall => "function_call",
            Self::Message => "message",
            Self::Action => "action",
            Self::FunctionTag => "function_tag",
            Self::Invoke => "invoke",
            Self::ArgumentTags => "argument_tags",
            Self::Tokens => "tokens",
            Self::Channel => "channel",
        })
    }
}
