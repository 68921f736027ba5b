//! Describes how a value does not fit a schema, and what would be valid.

use std::fmt::{self, Display};

use boon::{ErrorKind, InstanceLocation, InstanceToken, Types, ValidationError};
use dormouse_contracts::Arguments;
use dormouse_text::beginning;
use serde_json::Value;

use crate::{excerpt::Excerpt, kind::JsonKind};

/// The maximum number of problems that are reported for one call. More would not help the model to correct it.
const MOST: usize = 5;

/// One way in which arguments do not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The location, as a JSON pointer into the arguments; empty for the arguments as a whole.
    pub at: Excerpt,
    /// The problem at that location.
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

/// Returns the first problems in `error`, and how many more there are. `error` is the result of checking `value`
/// against `schema`.
pub(crate) fn problems(
    error: &ValidationError<'_, '_>,
    value: &Value,
    schema: &Value,
) -> (Vec<Problem>, usize) {
    let mut causes = Vec::new();
    flatten(error, &mut causes);
    let reported = causes.iter().take(MOST).map(|cause| Problem {
        at: Excerpt::of(&cause.instance_location),
        what: describe(cause, value, schema),
    });
    (reported.collect(), causes.len().saturating_sub(MOST))
}

/// Collects the errors that describe a problem themselves. The errors of each alternative of `anyOf`, `oneOf` or
/// `contains` are left out, because only one alternative had to fit.
fn flatten<'e, 's, 'v>(
    error: &'e ValidationError<'s, 'v>,
    causes: &mut Vec<&'e ValidationError<'s, 'v>>,
) {
    match error.kind {
        ErrorKind::Schema { .. }
        | ErrorKind::Group
        | ErrorKind::Reference { .. }
        | ErrorKind::AllOf => error.causes.iter().for_each(|cause| flatten(cause, causes)),
        _ => causes.push(error),
    }
}

/// Describes what was expected and what was found. Frequent mistakes have their own wording. Errors whose text repeats
/// the value have their own wording, too, because a value may be long.
fn describe(error: &ValidationError<'_, '_>, value: &Value, schema: &Value) -> Excerpt {
    let found = ShownValue(find(value, &error.instance_location));
    match &error.kind {
        ErrorKind::Type { want, .. } => Excerpt::of(format_args!(
            "expected {}, found {found}",
            ExpectedKinds(*want)
        )),
        ErrorKind::Required { want } => match want.as_slice() {
            [one] => Excerpt::of(format_args!("{} is missing", NameList(&[one]))),
            several => Excerpt::of(format_args!("{} are missing", NameList(several))),
        },
        ErrorKind::Enum { want } => Excerpt::of(format_args!(
            "found {found}, expected one of {}",
            Value::from(want.to_vec())
        )),
        ErrorKind::Const { want } => Excerpt::of(format_args!("found {found}, expected {want}")),
        ErrorKind::AdditionalProperties { got } => {
            let known = KnownNames::at(error, schema);
            Excerpt::of(format_args!("unknown: {}{known}", NameList(got)))
        }
        ErrorKind::FalseSchema => Excerpt::of("nothing is accepted here"),
        ErrorKind::Pattern { want, .. } => {
            Excerpt::of(format_args!("does not match the pattern {want:?}"))
        }
        ErrorKind::Format { want, .. } => Excerpt::of(format_args!("is not a valid {want}")),
        ErrorKind::AnyOf | ErrorKind::OneOf(None) => Excerpt::of(format_args!(
            "found {found}, which fits none of the alternatives"
        )),
        ErrorKind::Not => Excerpt::of(format_args!("found {found}, which is excluded")),
        other => Excerpt::of(other),
    }
}

/// The part of `value` at `location`.
fn find<'v>(value: &'v Value, location: &InstanceLocation<'_>) -> Option<&'v Value> {
    location
        .tokens
        .iter()
        .try_fold(value, |value, token| match token {
            InstanceToken::Prop(name) => value.get(name.as_ref()),
            InstanceToken::Item(at) => value.get(at),
        })
}

struct ExpectedKinds(Types);

impl Display for ExpectedKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, one) in self.0.iter().enumerate() {
            let before = if i == 0 { "" } else { " or " };
            write!(f, "{before}{one}")?;
        }
        Ok(())
    }
}

/// A few names, each shortened.
struct NameList<'a, T>(&'a [T]);

impl<T> NameList<'_, T> {
    const MOST: usize = 3;
    const CHARS: usize = 24;
}

impl<T: AsRef<str>> Display for NameList<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().take(Self::MOST).enumerate() {
            let before = if i == 0 { "" } else { ", " };
            let name = name.as_ref();
            let beginning = beginning(name, Self::CHARS);
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

/// The property names in the schema's top level; empty for a problem within a property.
struct KnownNames<'a>(Option<&'a Arguments>);

impl<'a> KnownNames<'a> {
    fn at(error: &ValidationError<'_, '_>, schema: &'a Value) -> Self {
        let properties = schema.get("properties").and_then(Value::as_object);
        Self(properties.filter(|_| error.instance_location.tokens.is_empty()))
    }
}

impl Display for KnownNames<'_> {
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

/// Shows small values and names the kind of large ones.
struct ShownValue<'a>(Option<&'a Value>);

impl ShownValue<'_> {
    const SHOWN: usize = 40;
}

impl Display for ShownValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Value::String(text)) if text.len() > Self::SHOWN => JsonKind::String.fmt(f),
            Some(value @ (Value::Array(_) | Value::Object(_))) => JsonKind::of(value).fmt(f),
            Some(value) => value.fmt(f),
            None => f.write_str("a name"),
        }
    }
}
