//! What can be wrong with a request.

use std::fmt;

use dormouse_contracts::{CallId, ToolName};

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
    /// A tool is offered or was called by a name that is not made of 1 to 64 letters, digits, `_` and `-`.
    ToolName {
        /// The name.
        tool: String,
    },
    /// The arguments of a call are the text of no JSON object.
    NoObject {
        /// Where the call stands.
        at: usize,
        /// The call.
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
            Self::ToolName { tool } => write!(f, "no tool may be named {tool:?}"),
            Self::NoObject { at, call } => {
                write!(
                    f,
                    "the arguments of {call} in message {at} are no JSON object"
                )
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
