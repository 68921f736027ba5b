//! Calls between special tokens of a model. The server has decoded the tokens as text.

use super::{Certainty, PrintedCall, ScanBudget, json, leading_name};
use crate::CallFormat;

/// The token that starts a call, and the token between its name and its arguments.
const TOKENS: [(&str, &str); 2] = [
    ("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"),
    ("<|tool_call_begin|>", "<|tool_call_argument_begin|>"),
];
/// The kind of call that some models write before the name.
const KIND: &str = "function";

/// Parses a name and JSON between special tokens.
pub(super) fn leading<'t>(
    text: &'t str,
    budget: &mut ScanBudget,
) -> Option<(PrintedCall, &'t str)> {
    let (inner, between) = TOKENS.iter().find_map(|(begin, between)| {
        let inner = text.strip_prefix(begin)?;
        Some((inner.trim_start(), *between))
    })?;
    let (name, rest) = leading_name(inner)?;
    // Some models number their calls, as in `name:0`.
    let rest = rest.strip_prefix(':').map_or(rest, |number| {
        number.trim_start_matches(|c: char| c.is_ascii_digit())
    });
    let rest = rest.trim_start().strip_prefix(between)?.trim_start();
    if name != KIND {
        return with_arguments(name, rest, budget);
    }
    // If no name follows, `function` is the name of a tool.
    match leading_name(rest) {
        Some((name, rest)) => with_arguments(name, rest, budget),
        None => with_arguments(name, rest, budget),
    }
}

/// Parses `name[ARGS]{…}`, `name[CALL_ID]id[ARGS]{…}` or `name{…}`, after a mark that announces a call.
pub(super) fn named<'t>(text: &'t str, budget: &mut ScanBudget) -> Option<(PrintedCall, &'t str)> {
    let (name, rest) = leading_name(text)?;
    let rest = match rest.strip_prefix("[CALL_ID]") {
        Some(id) => leading_name(id)?.1,
        None => rest,
    };
    let rest = rest.strip_prefix("[ARGS]").unwrap_or(rest);
    with_arguments(name, rest, budget)
}

fn with_arguments<'t>(
    name: &str,
    rest: &'t str,
    budget: &mut ScanBudget,
) -> Option<(PrintedCall, &'t str)> {
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("```json").unwrap_or(rest).trim_start();
    if !rest.starts_with('{') {
        return None;
    }
    let (value, syntax, behind) = json::leading(rest, budget)?;
    let name = name.strip_prefix("functions.").unwrap_or(name);
    let call = PrintedCall::new(name, Some(&value), CallFormat::Tokens, Certainty::Explicit);
    Some((call.mended(syntax), behind))
}
