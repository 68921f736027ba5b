//! What comes of checking a model's tool call.

use std::fmt::{self, Display};

use dormouse_contracts::{Arguments, ToolName, ToolSpec};

use crate::{Excerpt, JsonKind, Problem, excerpt::Bounded};

/// A call whose tool exists and whose arguments fit its schema. Made by [`crate::Registry::check`] alone.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CheckedCall<'r> {
    /// The tool.
    pub spec: &'r ToolSpec,
    /// Its arguments.
    pub arguments: Arguments,
}

/// Why a call cannot be carried out. Nothing has happened.
///
/// Its text is written for the model that made the call: it says what is wrong and where, and what would be right.
/// It has at most [`CallError::DISPLAY_LIMIT`] bytes and no control characters, whatever the call held.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// There is no such tool.
    UnknownTool {
        /// The name the model used.
        name: Excerpt,
        /// Up to three tools it may have meant, the likeliest first.
        closest: Vec<ToolName>,
        /// Every tool there is, in the registry's order.
        available: Vec<ToolName>,
    },
    /// The arguments have more than [`crate::Registry::ARGUMENTS_LIMIT`] bytes.
    TooLarge {
        /// How many bytes they have.
        length: usize,
        /// How many they may have.
        limit: usize,
    },
    /// The arguments nest deeper than [`crate::Registry::ARGUMENTS_DEPTH`] levels.
    TooDeep {
        /// How many levels they may have.
        limit: usize,
    },
    /// The arguments are no JSON, or hold a key twice.
    NotJson {
        /// The line where reading ended, from 1.
        line: usize,
        /// The column where reading ended, in bytes from 1.
        column: usize,
        /// What is wrong there.
        what: Excerpt,
    },
    /// The arguments are JSON, but no object.
    NotAnObject {
        /// What they are instead.
        found: JsonKind,
    },
    /// The arguments do not fit the tool's schema.
    DoesNotFit {
        /// The first few problems; at least one.
        problems: Vec<Problem>,
        /// How many more there are.
        untold: usize,
    },
}

impl CallError {
    /// The most bytes an error's text has.
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
            Self::NotJson { line, column, what } => text.write(format_args!(
                "the arguments are not valid JSON: {what} at line {line} column {column}; \
                 send one JSON object"
            )),
            Self::NotAnObject { found } => text.write(format_args!(
                "the arguments must be a JSON object, but they are {found}"
            )),
            Self::DoesNotFit { problems, untold } => {
                text.write(format_args!("the arguments do not fit: "));
                list(text, "; ", problems, *untold);
            }
        }
    }
}

impl Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Bounded::new(Self::DISPLAY_LIMIT);
        self.describe(&mut text);
        f.pad(&text.finish())
    }
}

impl std::error::Error for CallError {}

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

/// Writes as many items as there is room for, and how many are left out, `untold` ones included.
fn list<T: Display>(text: &mut Bounded, separator: &str, items: &[T], untold: usize) {
    /// Room for the separator and the number of items left out.
    const TAIL: usize = 40;
    let mut left_out = items.len() + untold;
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
