//! The content of a reply.

use dormouse_contracts::CallId;

use crate::Signs;

/// A call in a reply. The parser does not check that the tool exists or that the arguments fit its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedCall {
    /// The provider's call id; absent for a printed call.
    pub id: Option<CallId>,
    /// The name the model used.
    pub name: String,
    /// The arguments as text. A native call may have any text as arguments; a printed call has JSON.
    pub arguments: String,
}

/// The content of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Calls, in order, native or printed; at least one, at most [`NATIVE_CALLS_LIMIT`](crate::NATIVE_CALLS_LIMIT).
    Calls(Vec<ParsedCall>),
    /// Plain text, without thoughts and surrounding white space. This occurs only with native tool calling. If the
    /// prompt asked for JSON, prose is [`Unreadable`](Self::Unreadable).
    Text(String),
    /// Plain text without its end: the model reached its token limit, or a filter stopped it.
    ClippedText(String),
    /// The reply contains only thoughts, which are never shown.
    ThoughtsOnly,
    /// The reply contains nothing.
    Empty,
    /// The model reached its token limit before any usable content.
    CutOff,
    /// A filter stopped the model before any usable content.
    Filtered,
    /// The reply contains no call although one was required, or only the remains of a call.
    Unreadable,
}

/// A parsed reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedReply {
    /// The content.
    pub content: Content,
    /// The thoughts in the text, without their tags; empty without thoughts. Thoughts that a provider reports
    /// separately stay in [`ChatReply::reasoning`](dormouse_contracts::ChatReply::reasoning).
    pub thoughts: String,
    /// How many calls were left out because the reply exceeded a limit of calls.
    pub left_out: usize,
    /// The signs for the [`DialectBook`](crate::DialectBook).
    pub signs: Signs,
}

impl ParsedReply {
    /// The calls; empty if the reply contains none.
    #[must_use]
    pub fn calls(&self) -> &[ParsedCall] {
        match &self.content {
            Content::Calls(calls) => calls,
            _ => &[],
        }
    }
}
