//! The faults of a request.

use std::fmt;

use dormouse_contracts::{CallId, ToolName};

/// A fault of a request. At least one real provider rejects requests with this fault.
///
/// `at` is the index of the message with the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// The request has no message.
    NoMessages,
    /// A system message comes after another message.
    SystemNotFirst {
        /// The index of the message.
        at: usize,
    },
    /// An assistant message has neither text nor calls.
    SaysNothing {
        /// The index of the message.
        at: usize,
    },
    /// A tool message answers a call that the assistant message before it did not make.
    AnswersNothing {
        /// The index of the message.
        at: usize,
        /// The call it claims to answer.
        call: CallId,
    },
    /// A tool message answers a call that already has an answer.
    AnsweredTwice {
        /// The index of the second answer.
        at: usize,
        /// The call.
        call: CallId,
    },
    /// The conversation continues or ends before a call is answered.
    Unanswered {
        /// The index of the next message; the number of messages if the conversation ends.
        at: usize,
        /// The call.
        call: CallId,
    },
    /// Two calls of the request have the same id.
    CallIdTwice {
        /// The index of the message with the second one.
        at: usize,
        /// The id.
        call: CallId,
    },
    /// The name of an offered or called tool does not consist of 1 to 64 letters, digits, `_` and `-`.
    ToolName {
        /// The name.
        tool: String,
    },
    /// The arguments of a call are not a JSON object.
    NoObject {
        /// The index of the message with the call.
        at: usize,
        /// The call.
        call: CallId,
    },
    /// Two tools have the same name.
    ToolTwice {
        /// The name.
        tool: ToolName,
    },
    /// The parameters of a tool are not the schema of an object.
    NoObjectSchema {
        /// The tool.
        tool: ToolName,
    },
    /// The tool choice requires a tool that is not offered, or any tool although none is offered.
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
                    "the arguments of {call} in message {at} are not a JSON object"
                )
            }
            Self::ToolTwice { tool } => write!(f, "the tool {tool} is offered twice"),
            Self::NoObjectSchema { tool } => {
                write!(
                    f,
                    "the parameters of the tool {tool} are not an object schema"
                )
            }
            Self::ChoiceNotOffered => {
                f.write_str("the tool choice requires a tool that is not offered")
            }
            Self::OutOfRange { parameter } => write!(f, "{parameter} is out of its range"),
        }
    }
}

impl std::error::Error for Violation {}
