//! Calls between the special tokens of a model, as they look once they are text.

use super::{Certainty, Effort, Found, json, leading_name};
use crate::Form;

/// Tokens that begin a call, and those that stand between its name and its arguments.
const TOKENS: [(&str, &str); 2] = [
    ("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"),
    ("<|tool_call_begin|>", "<|tool_call_argument_begin|>"),
];
/// What stands for the kind of a call, where that comes before its name.
const KIND: &str = "function";

/// A name and JSON between tokens of their own.
pub(super) fn leading<'t>(text: &'t str, effort: &mut Effort) -> Option<(Found, &'t str)> {
    let (inner, between) = TOKENS.iter().find_map(|(begin, between)| {
        let inner = text.strip_prefix(begin)?;
        Some((inner.trim_start(), *between))
    })?;
    let (name, rest) = leading_name(inner)?;
    // Some models number their calls.
    let rest = rest.strip_prefix(':').map_or(rest, |number| {
        number.trim_start_matches(|c: char| c.is_ascii_digit())
    });
    let rest = rest.trim_start().strip_prefix(between)?.trim_start();
    if name != KIND {
        return with_arguments(name, rest, effort);
    }
    // Unless a tool is called that, too.
    match leading_name(rest) {
        Some((name, rest)) => with_arguments(name, rest, effort),
        None => with_arguments(name, rest, effort),
    }
}

/// `name[ARGS]{…}`, `name[CALL_ID]id[ARGS]{…}` or `name{…}`, behind a mark that says that a call follows.
pub(super) fn named<'t>(text: &'t str, effort: &mut Effort) -> Option<(Found, &'t str)> {
    let (name, rest) = leading_name(text)?;
    let rest = match rest.strip_prefix("[CALL_ID]") {
        Some(id) => leading_name(id)?.1,
        None => rest,
    };
    let rest = rest.strip_prefix("[ARGS]").unwrap_or(rest);
    with_arguments(name, rest, effort)
}

fn with_arguments<'t>(name: &str, rest: &'t str, effort: &mut Effort) -> Option<(Found, &'t str)> {
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("```json").unwrap_or(rest).trim_start();
    if !rest.starts_with('{') {
        return None;
    }
    let (value, syntax, behind) = json::leading(rest, effort)?;
    let name = name.strip_prefix("functions.").unwrap_or(name);
    let call = Found::new(name, Some(&value), Form::Tokens, Certainty::Explicit);
    Some((call.mended(syntax), behind))
}
