//! One way in which arguments do not fit a tool's schema, told so that it can be put right.

use std::fmt::{self, Display};

use dormouse_contracts::Arguments;
use jsonschema::{
    ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use crate::{CallError, Excerpt, JsonKind};

/// The most problems that are told of one call; more would not help to put them right.
const MOST: usize = 5;

/// One way in which arguments do not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Where: a JSON pointer into the arguments; empty for the arguments as a whole.
    pub at: Excerpt,
    /// What is wrong there.
    pub what: Excerpt,
}

impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at.as_str() {
            "" => write!(f, "{}", self.what),
            at => write!(f, "{at}: {}", self.what),
        }
    }
}

/// Gives the arguments back if they fit `schema`, which `validator` was compiled from.
pub(crate) fn fit(
    validator: &Validator,
    schema: &Value,
    arguments: Arguments,
) -> Result<Arguments, CallError> {
    let value = Value::Object(arguments);
    let mut errors = validator.iter_errors(&value);
    let problems: Vec<_> = errors
        .by_ref()
        .take(MOST)
        .map(|error| problem(&error, schema))
        .collect();
    let untold = errors.count();
    match value {
        Value::Object(arguments) if problems.is_empty() => Ok(arguments),
        _ => Err(CallError::DoesNotFit { problems, untold }),
    }
}

fn problem(error: &ValidationError<'_>, schema: &Value) -> Problem {
    Problem {
        at: Excerpt::of(error.instance_path()),
        what: describe(error, schema),
    }
}

/// Says what was expected and what was found. Only the kinds that models get wrong often have words of their
/// own; the others are told in the validator's, with the value itself left out, as it may be long.
fn describe(error: &ValidationError<'_>, schema: &Value) -> Excerpt {
    let found = Found(error.instance());
    match error.kind() {
        ValidationErrorKind::Type { kind } => {
            Excerpt::of(format_args!("expected {}, found {found}", Expected(kind)))
        }
        ValidationErrorKind::Required { property } => {
            Excerpt::of(format_args!("{property} is missing"))
        }
        ValidationErrorKind::Enum { options } => {
            Excerpt::of(format_args!("found {found}, expected one of {options}"))
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known = Known::at(error, schema);
            Excerpt::of(format_args!("unknown: {}{known}", Names(unexpected)))
        }
        _ => Excerpt::of(error.masked_with("the value")),
    }
}

struct Expected<'a>(&'a TypeKind);

impl Display for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            TypeKind::Single(one) => one.fmt(f),
            TypeKind::Multiple(several) => {
                for (i, one) in several.iter().enumerate() {
                    let before = if i == 0 { "" } else { " or " };
                    write!(f, "{before}{one}")?;
                }
                Ok(())
            }
        }
    }
}

/// A few names, none of them long.
struct Names<'a>(&'a [String]);

impl Names<'_> {
    const MOST: usize = 3;
    const CHARS: usize = 24;
}

impl Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().take(Self::MOST).enumerate() {
            let before = if i == 0 { "" } else { ", " };
            let beginning: String = name.chars().take(Self::CHARS).collect();
            let cut = if beginning.len() < name.len() {
                "…"
            } else {
                ""
            };
            write!(f, "{before}{beginning:?}{cut}")?;
        }
        match self.0.len().saturating_sub(Self::MOST) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// The names that the schema itself lists for the arguments as a whole; nothing for a place within them.
struct Known<'a>(Option<&'a Arguments>);

impl<'a> Known<'a> {
    fn at(error: &ValidationError<'_>, schema: &'a Value) -> Self {
        let properties = schema.get("properties").and_then(Value::as_object);
        Self(properties.filter(|_| error.instance_path().is_empty()))
    }
}

impl Display for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.into_iter().flat_map(Arguments::keys);
        for (i, name) in names.enumerate() {
            let before = if i == 0 { " (known: " } else { ", " };
            write!(f, "{before}{name:?}")?;
        }
        match self.0 {
            Some(names) if !names.is_empty() => f.write_str(")"),
            _ => Ok(()),
        }
    }
}

/// Small values are shown, large ones are named by their kind.
struct Found<'a>(&'a Value);

impl Found<'_> {
    const SHOWN: usize = 40;
}

impl Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::String(text) if text.len() <= Self::SHOWN => write!(f, "{}", self.0),
            Value::Null | Value::Bool(_) | Value::Number(_) => write!(f, "{}", self.0),
            Value::String(_) | Value::Array(_) | Value::Object(_) => JsonKind::of(self.0).fmt(f),
        }
    }
}
