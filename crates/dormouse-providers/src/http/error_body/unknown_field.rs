//! Finds the request field that a server does not support.
//!
//! Servers use many wordings and few codes, so the text of the message decides. A field that is found here is left out
//! of all later requests. So an error about anything else (a value, a message, an element of a list, a schema) must
//! never match.

use dormouse_contracts::{RequestField, invariant};
use serde_json::Value;

use super::ErrorBody;

/// Parts of messages, in lower case, about a field that the server or the model does not support.
const UNKNOWN_WORDS: &[&str] = &[
    "unsupported",
    "not supported",
    "does not support",
    "doesn't support",
    "unrecognized",
    "unrecognised",
    "unknown",
    "unexpected",
    "not permitted",
    "not allowed",
    "deprecated",
    // Anthropic, about two fields that exclude each other.
    "cannot both be specified",
    "no endpoints found that support",
    // llama-server and vLLM, if the server was started without a flag.
    "requires --",
];

/// Text after these words is a hint; a field in it is not the unsupported one.
const HINTS: &[&str] = &[
    "did you mean",
    "expected one of",
    "please use",
    "use '",
    "use `",
    "instead",
];

/// Messages with these words are about a value, not about a field.
const ABOUT_A_VALUE: &[&str] = &["invalid schema", "invalid json schema"];

/// Other names that servers use for a field.
fn other_names(field: &RequestField) -> &'static [&'static str] {
    match field {
        RequestField::Tools => &[
            "tool use",
            "tool choice",
            "tool calling",
            "function calling",
        ],
        RequestField::Output => &[
            "json_schema",
            "json_object",
            "structured output",
            "structured outputs",
        ],
        RequestField::StreamUsage => &["include_usage"],
        _ => &[],
    }
}

/// Returns the location of the error: `param`, or FastAPI's `loc` (`{"detail": [{"loc": ["body", "seed"]}]}`).
pub(super) fn place(error_body: &Value) -> Option<String> {
    let param = error_body.get("param").and_then(Value::as_str);
    if let Some(param) = param.filter(|param| !param.is_empty()) {
        return Some(param.to_owned());
    }
    let details = ["/detail", "/message/detail", "/message"];
    let mut details = details.iter().filter_map(|path| error_body.pointer(path));
    let place = details.find_map(|detail| detail.pointer("/0/loc"))?;
    let segments = place.as_array()?.iter().filter(|part| *part != "body");
    let text = |part: &Value| match part {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Some(segments.map(text).collect::<Vec<_>>().join("."))
}

impl ErrorBody {
    /// Whether an answer with this status can be about the fields of the request.
    pub(in crate::http) fn may_be_about_fields(&self, status: u16) -> bool {
        match status {
            400 | 404 | 422 => !self.is_about_length(),
            // llama-server and vLLM answer with these statuses if they were started without a required flag.
            500 | 501 => self.message.contains("requires --"),
            _ => false,
        }
    }

    /// Returns the field that the server or the model does not support, among those in the request.
    pub(in crate::http) fn unknown_field(
        &self,
        optional: &[(String, RequestField)],
    ) -> Option<RequestField> {
        let message = self.message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
        let is_unknown = says(UNKNOWN_WORDS)
            || self.has_code("unsupported")
            || self.has_code("unknown_parameter");
        if !is_unknown || says(ABOUT_A_VALUE) || self.points_to("/v1/") {
            return None;
        }
        let unknown = match &self.param {
            Some(place) => optional.iter().find(|(name, _)| is_at(place, name)),
            None => named_first(without_hints(&message), optional),
        };
        unknown.map(|(_, field)| field.clone())
    }

    /// Whether the error asks the caller to use the API method with this path.
    pub(in crate::http) fn points_to(&self, path: &str) -> bool {
        let message = self.message.to_lowercase();
        let sends = [
            "only supported in",
            "use ",
            "only available",
            "only works with",
        ];
        sends.iter().any(|words| message.contains(words)) && message.contains(path)
    }
}

/// Whether the location is this field, or a part that represents the whole field. An element of a list does not
/// represent it.
fn is_at(place: &str, field: &str) -> bool {
    let parts = [
        "",
        ".type",
        ".effort",
        ".format",
        ".format.type",
        ".include_usage",
    ];
    place
        .strip_prefix(field)
        .is_some_and(|rest| parts.contains(&rest))
}

fn without_hints(message: &str) -> &str {
    let ends = HINTS.iter().filter_map(|hint| message.find(hint));
    let end = ends.min().unwrap_or(message.len());
    message.get(..end).unwrap_or(message)
}

/// Returns the field that the text names first.
fn named_first<'a>(
    text: &str,
    optional: &'a [(String, RequestField)],
) -> Option<&'a (String, RequestField)> {
    let named = |(name, field): &(String, RequestField)| {
        let known = other_names(field).iter().copied().map(str::to_owned);
        let names = known.chain([name.to_lowercase()]);
        names.filter_map(|name| named_at(text, &name)).min()
    };
    let places = optional.iter().filter_map(|one| Some((named(one)?, one)));
    places.min_by_key(|(at, _)| *at).map(|(_, one)| one)
}

/// Returns the position where the text names the field as a whole word. An element of a list with that name does not
/// count.
fn named_at(text: &str, field: &str) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut places = text.match_indices(field).filter(|(at, _)| {
        let before = invariant!(text.get(..*at), "a match begins between characters");
        let behind = invariant!(
            text.get(at + field.len()..),
            "a match ends between characters"
        );
        let is_element = behind.starts_with('[')
            || behind
                .strip_prefix('.')
                .is_some_and(|rest| rest.starts_with(is_word));
        !before.ends_with(|c: char| is_word(c) || c == '.')
            && !behind.starts_with(is_word)
            && !is_element
    });
    places.next().map(|(at, _)| at)
}

#[cfg(test)]
mod tests;
