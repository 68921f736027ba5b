//! The result of checking a model's tool call.

use std::fmt::{self, Display};

use dormouse_contracts::{Arguments, ToolName, ToolSpec};

use crate::{
    excerpt::{Bounded, Excerpt},
    kind::JsonKind,
    problem::Problem,
};

/// A call to an existing tool, with arguments that fit its schema. Only [`crate::Registry::check`] creates it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CheckedCall<'r> {
    /// The tool.
    pub spec: &'r ToolSpec,
    /// The arguments of the call.
    pub arguments: Arguments,
}

/// Why a tool call was rejected. Nothing was executed.
///
/// The text is written for the model that made the call: it says what is wrong, where, and what would be valid. It has
/// at most [`ToolCallError::DISPLAY_LIMIT`] bytes and no control characters, for any call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolCallError {
    /// No tool has this name.
    UnknownTool {
        /// The name the model used.
        name: Excerpt,
        /// Up to three tools that the model may have meant, the most similar first.
        closest: Vec<ToolName>,
        /// All tools, in the registry's order.
        available: Vec<ToolName>,
    },
    /// The arguments have more than [`crate::Registry::ARGUMENTS_LIMIT`] bytes.
    TooLarge {
        /// Their length in bytes.
        length: usize,
        /// The largest length allowed, in bytes.
        limit: usize,
    },
    /// The arguments nest deeper than [`crate::Registry::ARGUMENTS_DEPTH`] levels.
    TooDeep {
        /// The largest depth allowed.
        limit: usize,
    },
    /// To check the arguments against the tool's schema could take more steps than this.
    TooMuch {
        /// The most steps.
        limit: u64,
    },
    /// The arguments are not valid JSON, or an object contains a key twice.
    NotJson {
        /// The line where parsing stopped, from 1.
        line: usize,
        /// The column where parsing stopped, in bytes from 1.
        column: usize,
        /// The error at that position.
        what: Excerpt,
    },
    /// The arguments are valid JSON, but not an object.
    NotAnObject {
        /// The kind of JSON value that was found.
        found: JsonKind,
    },
    /// The arguments do not fit the tool's schema.
    DoesNotFit {
        /// The first problems; at least one.
        problems: Vec<Problem>,
        /// The number of further problems.
        omitted: usize,
    },
}

impl ToolCallError {
    /// The largest length of an error's text, in bytes.
    pub const DISPLAY_LIMIT: usize = 1024;

    fn describe(&self, text: &mut Bounded) {
        match self {
            Self::UnknownTool {
                name,
                closest,
                available,
            } => {
                text.write(format_args!("there is no tool \"{name}\""));
                describe_tools(text, closest, available);
            }
            Self::TooLarge { length, limit } => text.write(format_args!(
                "the arguments have {length} bytes; at most {limit} are accepted"
            )),
            Self::TooDeep { limit } => text.write(format_args!(
                "the arguments nest deeper than {limit} levels; send flatter ones"
            )),
            Self::TooMuch { limit } => text.write(format_args!(
                "to check the arguments could take more than {limit} steps; send fewer and flatter ones"
            )),
            Self::NotJson { line, column, what } => text.write(format_args!(
                "the arguments are not valid JSON: {what} at line {line} column {column}; \
                 send one JSON object"
            )),
            Self::NotAnObject { found } => text.write(format_args!(
                "the arguments must be a JSON object, but they are {found}"
            )),
            Self::DoesNotFit { problems, omitted } => {
                text.write(format_args!("the arguments do not fit: "));
                list(text, "; ", problems, *omitted);
            }
        }
    }
}

impl Display for ToolCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Bounded::new(Self::DISPLAY_LIMIT);
        self.describe(&mut text);
        f.pad(&text.finish())
    }
}

impl std::error::Error for ToolCallError {}

fn describe_tools(text: &mut Bounded, closest: &[ToolName], available: &[ToolName]) {
    if !closest.is_empty() {
        text.write(format_args!("; did you mean "));
        list(text, " or ", closest, 0);
        text.write(format_args!("?"));
    }
    if available.is_empty() {
        text.write(format_args!("; there are no tools"));
    } else {
        text.write(format_args!("; the tools are: "));
        list(text, ", ", available, 0);
    }
}

/// Writes as many items as fit, and the number of items left out, including `omitted` ones.
fn list<T: Display>(text: &mut Bounded, separator: &str, items: &[T], omitted: usize) {
    /// Room for the separator and the number of items left out.
    const TAIL: usize = 40;
    let mut left_out = items.len() + omitted;
    for (i, item) in items.iter().enumerate() {
        let separator = if i == 0 { "" } else { separator };
        let piece = format!("{separator}{item}");
        if piece.len() + TAIL > text.room() {
            break;
        }
        text.write(format_args!("{piece}"));
        left_out -= 1;
    }
    if left_out > 0 {
        text.write(format_args!("{separator}and {left_out} more"));
    }
}
