//! What was seen in a reply besides what it says.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

/// The form in which a model printed a call into its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Form {
    /// `{"tool": …, "parameters": …, "reasoning": …}`, which Dormouse asks for where tools are not offered natively.
    Tool,
    /// `{"name": …, "arguments": …}`, bare or behind a mark such as `<tool_call>`; also `parameters`, `args` and `input`.
    Named,
    /// `{"type": "function", "function": {"name": …, "arguments": …}}`.
    Function,
    /// `{"function_call": {"name": …, "arguments": …}}`.
    FunctionCall,
    /// `{"tool_calls": […]}`, the message of an API printed into its own text.
    Message,
    /// `{"action": …, "action_input": …}`.
    Action,
    /// `<function=name>{…}</function>`, or with `<parameter=key>` tags in it.
    FunctionTag,
    /// `<invoke name="…"><parameter name="…">…</parameter></invoke>`.
    Invoke,
    /// `<tool_call>name<arg_key>…</arg_key><arg_value>…</arg_value></tool_call>`.
    ArgumentTags,
    /// A name and its arguments between special tokens, as DeepSeek, Kimi and newer Mistral models write them.
    Tokens,
    /// A channel of the harmony format: `<|channel|>commentary to=functions.name<|message|>{…}<|call|>`.
    Channel,
}

/// Something odd about a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Oddity {
    /// More than one call in one reply.
    SeveralCalls,
    /// Arguments that were a string with the JSON of an object in it.
    DoubleEncoded,
    /// Arguments of a native call that end in the middle.
    CutArguments,
    /// A printed message of the API around the call, with a role and all.
    WrappedMessage,
    /// Quotes, commas or line ends that are no JSON, and can only mean one thing.
    Mended,
    /// A name with something of the model's own format around it, such as `functions.look`.
    MendedName,
    /// Thoughts between tags in the text.
    PrintedThoughts,
    /// A call in the thoughts. It is never taken.
    CallInThoughts,
    /// A printed call beside other words. From a model with native tool calling it is taken for a quotation.
    QuotedCall,
    /// A printed call of a tool that was not offered.
    NotOffered,
    /// The beginning of a printed call, and no whole one.
    BrokenCall,
    /// The provider did not get the tools at all, because it or the model does not know them.
    ToolsLeftOut,
}

/// What was seen in a reply. Bounded: two counts, a form, and a set of oddities.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signs {
    /// How many native calls there were.
    #[serde(default)]
    pub native: usize,
    /// How many printed calls were taken.
    #[serde(default)]
    pub printed: usize,
    /// The form of the first printed call that was seen, taken or not.
    #[serde(default)]
    pub form: Option<Form>,
    /// What was odd.
    #[serde(default)]
    pub oddities: BTreeSet<Oddity>,
}

impl Signs {
    /// Was this seen?
    #[must_use]
    pub fn has(&self, oddity: Oddity) -> bool {
        self.oddities.contains(&oddity)
    }

    pub(crate) fn add(&mut self, oddity: Oddity) {
        self.oddities.insert(oddity);
    }
}

impl fmt::Display for Form {
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
