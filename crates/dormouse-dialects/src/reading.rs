//! What a reply holds.

use dormouse_contracts::CallId;

use crate::Signs;

/// A call as it stood in a reply. Whether there is such a tool, and whether the arguments fit it, is not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadCall {
    /// The provider's id of it; absent where it was printed.
    pub id: Option<CallId>,
    /// The name the model used.
    pub name: String,
    /// The arguments as JSON text; of a native call there may be anything in it, of a printed one there is JSON.
    pub arguments: String,
}

/// What can be made of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Calls, in order, native or printed; at least one, at most [`NATIVE_CALLS_LIMIT`](crate::NATIVE_CALLS_LIMIT).
    Calls(Vec<ReadCall>),
    /// Plain text, thoughts and white space around it left out. Only with native tool calling: a model that was asked
    /// for JSON and answers in prose is [`Unreadable`](Self::Unreadable).
    Text(String),
    /// Plain text whose end is missing: the model ran into its limit, or a filter stepped in.
    ClippedText(String),
    /// Nothing but thoughts, which nobody hears.
    ThoughtsOnly,
    /// Nothing at all.
    Empty,
    /// The model ran into its limit before it had said anything that can be used.
    CutOff,
    /// A filter stepped in before the model had said anything that can be used.
    Filtered,
    /// No call where one was needed, or the ruins of one.
    Unreadable,
}

/// A reply, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What can be made of it.
    pub content: Content,
    /// The thoughts that stood in its text, the tags around them left out; empty without any. What a provider tells
    /// apart from the text by itself stays in [`ChatReply::reasoning`](dormouse_contracts::ChatReply::reasoning).
    pub thoughts: String,
    /// What was seen in it.
    pub signs: Signs,
}

impl Reading {
    /// The calls; empty without any.
    #[must_use]
    pub fn calls(&self) -> &[ReadCall] {
        match &self.content {
            Content::Calls(calls) => calls,
            _ => &[],
        }
    }
}
