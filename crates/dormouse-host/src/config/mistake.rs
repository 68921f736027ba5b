//! What is wrong in the text of a configuration, for people.

use std::{collections::BTreeSet, ops::Range};

use dormouse_tools::closest;

use super::{
    position,
    table::{Setting, nearest, settings},
};

/// The longest value that an error repeats, in characters.
const LONGEST_VALUE: usize = 60;

/// Something wrong in the text of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {problem}")]
pub struct Mistake {
    /// The line, counted from 1.
    line: usize,
    /// The column in characters, counted from 1.
    column: usize,
    problem: String,
}

impl Mistake {
    /// What is wrong, without the place.
    pub(super) fn problem(&self) -> &str {
        &self.problem
    }

    /// A mistake with this problem, at this byte of the text.
    pub(super) fn at(text: &str, at: usize, problem: String) -> Self {
        let (line, column) = position::of(text, at);
        Self {
            line,
            column,
            problem,
        }
    }

    /// An error that the parser found. `read` parses a text; it is called again to find out which values are allowed.
    pub(super) fn from_toml<T>(
        text: &str,
        error: &toml::de::Error,
        read: impl Fn(&str) -> Result<T, toml::de::Error>,
    ) -> Self {
        let span = error.span().unwrap_or(0..0);
        if error.message().starts_with(NO_WORD)
            && let Some(expected) = words_for(text, &span, read)
        {
            return Self::of_value(text, span, &expected);
        }
        Self::of_value(text, span, error.message())
    }

    /// What is wrong with the value in this part of the text.
    pub(super) fn of_value(text: &str, span: Range<usize>, message: &str) -> Self {
        let field = position::field(text, span.start);
        let value = text.get(span.clone()).unwrap_or_default();
        Self::at(text, span.start, problem(field.as_deref(), value, message))
    }
}

/// The parser's message begins with this if a setting must be one of a few words and its value is not a string. The
/// message does not list the words.
const NO_WORD: &str = "wanted string or table";

/// The allowed words of a setting. The parser lists them when it reads a string that is not one of them.
fn words_for<T>(
    text: &str,
    span: &Range<usize>,
    read: impl Fn(&str) -> Result<T, toml::de::Error>,
) -> Option<String> {
    let (before, after) = (text.get(..span.start)?, text.get(span.end..)?);
    let error = read(&format!("{before}\"?\"{after}")).err()?;
    let (_, expected) = named(error.message(), "unknown variant")?;
    Some(expected)
}

/// The sentence for a message of the parser or of a type.
fn problem(field: Option<&str>, value: &str, message: &str) -> String {
    if let Some((name, expected)) = named(message, "unknown field") {
        if looks_like_a_key(name) {
            return keys_do_not_belong_here(field);
        }
        let field = field.unwrap_or(name);
        let mut nearest = nearest(field);
        if nearest.is_empty() && !field.contains('.') {
            let sections = settings().iter().map(|setting| setting.place().0);
            let near = closest(field, sections.collect::<BTreeSet<_>>());
            nearest = near.iter().map(|section| format!("[{section}]")).collect();
        }
        return match nearest.is_empty() {
            true => format!("{field} is not a setting; {expected}"),
            false => format!(
                "{field} is not a setting; {expected}; did you mean {}?",
                nearest.join(" or ")
            ),
        };
    }
    if let Some((name, expected)) = named(message, "unknown variant") {
        return with_value(field, &format!("{name:?}"), &expected);
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        let section = field.unwrap_or("the file");
        return format!("{section} has no {}; add it", name.trim_matches('`'));
    }
    if message == "duplicate key" {
        let field = field.unwrap_or(value);
        return format!("{field} is given twice; remove one of the two");
    }
    match expected_type(message) {
        Some(expected) => with_value(field, value, &with_bounds(field, expected)),
        None => with_value(field, value, message),
    }
}

/// Splits a message such as "unknown field `a`, expected `b` or `c`" into the name and what was expected.
fn named<'a>(message: &'a str, start: &str) -> Option<(&'a str, String)> {
    let rest = message.strip_prefix(start)?.strip_prefix(" `")?;
    let (name, expected) = rest.split_once('`')?;
    let expected = expected.trim_start_matches(", ").replace('`', "");
    Some((name, expected))
}

/// What a message such as "invalid type: string \"a\", expected u64" expects, without the names of Rust types.
fn expected_type(message: &str) -> Option<String> {
    let is_mismatch = message.starts_with("invalid ");
    let (_, expected) = message.split_once(", expected ").filter(|_| is_mismatch)?;
    let plain = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "a borrowed string" => "a text in quotes",
        "a sequence" => "a list such as [\"a\", \"b\"]",
        "a map" => "a section or a table such as { a = 1 }",
        other if other.starts_with("struct ") => "a section or a table such as { a = 1 }",
        other if other.starts_with("a nonzero ") => "a whole number, 1 or more",
        other => other,
    };
    Some(format!("expected {plain}"))
}

/// Adds the bounds of the setting to what is expected of its type, as in "expected a whole number, 1 to 3600 seconds".
fn with_bounds(field: Option<&str>, expected: String) -> String {
    let kinds = ["expected a whole number", "expected a number"];
    let kind = kinds.into_iter().find(|kind| expected.starts_with(kind));
    let setting = settings().iter().find(|it| Some(it.name.as_str()) == field);
    let bounds = setting.and_then(Setting::bounds);
    match (kind, bounds) {
        (Some(kind), Some(bounds)) => format!("{kind}, {bounds}"),
        _ => expected,
    }
}

/// The field, its value if that may be printed, and what is wrong or was expected.
fn with_value(field: Option<&str>, value: &str, message: &str) -> String {
    let field = field.map(|field| {
        if may_be_printed(field, value) {
            format!("{field} is {value}")
        } else {
            field.to_owned()
        }
    });
    match field {
        Some(field) if message.starts_with("expected ") => format!("{field}; {message}"),
        Some(field) => format!("{field}: {message}"),
        None => message.to_owned(),
    }
}

/// Whether the value is short, and its field cannot contain a key.
fn may_be_printed(field: &str, value: &str) -> bool {
    let is_value = !value.is_empty() && !value.starts_with('[') && !value.contains(['\n', '@']);
    let can_be_shown = settings()
        .iter()
        .filter(|setting| format!("{field}.").starts_with(&format!("{}.", setting.name)))
        .all(|setting| setting.can_be_shown(value));
    is_value && can_be_shown && value.chars().count() <= LONGEST_VALUE
}

fn keys_do_not_belong_here(field: Option<&str>) -> String {
    let what = "keys do not belong in this file. Set the environment variable OPENAI_API_KEY, ANTHROPIC_API_KEY, \
                OPENROUTER_API_KEY or DORMOUSE_API_KEY instead, or say where the key is with key_from in [provider]";
    match field {
        Some(field) => format!("{field}: {what}"),
        None => what.to_owned(),
    }
}

fn looks_like_a_key(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "key"
        || ["api", "secret", "token", "password"]
            .iter()
            .any(|word| name.contains(word))
}
