//! Calls written as tags.

use serde_json::{Map, Value};

use super::{Certainty, PrintedCall, ScanBudget, json, leading_name};
use crate::CallFormat;

/// The prefix that some models put before the tag names.
const PREFIX: &str = "antml:";
/// The largest number of arguments per call.
const ARGUMENTS_LIMIT: usize = 64;

fn found(name: &str, arguments: Map<String, Value>, form: CallFormat) -> PrintedCall {
    let arguments = Value::Object(arguments);
    PrintedCall::new(name, Some(&arguments), form, Certainty::Explicit)
}

/// Parses `<function=name>{…}</function>`; `<parameter=key>value</parameter>` tags may replace the JSON.
pub(super) fn function<'t>(
    text: &'t str,
    budget: &mut ScanBudget,
) -> Option<(PrintedCall, &'t str)> {
    let (name, body) = leading_name(text.strip_prefix("<function=")?)?;
    let mut rest = body.strip_prefix('>')?.trim_start();
    if rest.starts_with('{') {
        // The JSON shows where the call ends; a closing tag after it is skipped as a mark.
        let (value, syntax, behind) = json::leading(rest, budget)?;
        let call = PrintedCall::new(
            name,
            Some(&value),
            CallFormat::FunctionTag,
            Certainty::Explicit,
        );
        return Some((call.mended(syntax), behind));
    }
    let mut arguments = Map::new();
    while let Some(inner) = rest.strip_prefix("<parameter=") {
        let (key, inner) = leading_name(inner)?;
        let (value, behind) = until(inner.strip_prefix('>')?, "</parameter>", budget)?;
        add(&mut arguments, key, value)?;
        rest = behind.trim_start();
    }
    let behind = rest.strip_prefix("</function>")?;
    Some((found(name, arguments, CallFormat::FunctionTag), behind))
}

/// `<invoke name="…"><parameter name="…">value</parameter></invoke>`.
pub(super) fn invoke<'t>(text: &'t str, budget: &mut ScanBudget) -> Option<(PrintedCall, &'t str)> {
    let tag = text.strip_prefix('<')?;
    // The closing tag must have the prefix of the opening one.
    let prefix = if tag.starts_with(PREFIX) { PREFIX } else { "" };
    let opening = |text: &'t str, tag: &str| -> Option<(&'t str, &'t str)> {
        let inner = text.strip_prefix('<')?.strip_prefix(prefix)?;
        let inner = inner.strip_prefix(tag)?.strip_prefix(" name=\"")?;
        let (name, inner) = leading_name(inner)?;
        Some((name, inner.strip_prefix("\">")?))
    };
    let (name, inner) = opening(text, "invoke")?;
    let mut rest = inner.trim_start();
    let mut arguments = Map::new();
    while let Some((key, inner)) = opening(rest, "parameter") {
        let (value, behind) = until(inner, &format!("</{prefix}parameter>"), budget)?;
        add(&mut arguments, key, value)?;
        rest = behind.trim_start();
    }
    let behind = rest.strip_prefix("</")?.strip_prefix(prefix)?;
    let behind = behind.strip_prefix("invoke>")?;
    Some((found(name, arguments, CallFormat::Invoke), behind))
}

/// `name<arg_key>…</arg_key><arg_value>…</arg_value></tool_call>`, after the opening `<tool_call>` tag.
pub(super) fn arguments<'t>(
    text: &'t str,
    budget: &mut ScanBudget,
) -> Option<(PrintedCall, &'t str)> {
    let (name, rest) = leading_name(text)?;
    let mut rest = rest.trim_start();
    let mut arguments = Map::new();
    while let Some(inner) = rest.strip_prefix("<arg_key>") {
        let (key, behind) = until(inner, "</arg_key>", budget)?;
        let value = behind.trim_start().strip_prefix("<arg_value>")?;
        let (value, behind) = until(value, "</arg_value>", budget)?;
        add(&mut arguments, key.trim(), value)?;
        rest = behind.trim_start();
    }
    // The closing tag is required: without it, the name could be any word.
    let behind = rest.strip_prefix("</tool_call>")?;
    Some((found(name, arguments, CallFormat::ArgumentTags), behind))
}

/// The text up to `end`, and the text after it.
fn until<'t>(text: &'t str, end: &str, budget: &mut ScanBudget) -> Option<(&'t str, &'t str)> {
    let found = text.split_once(end);
    // A search without a match reads the whole text, which must count, too.
    let looked_at = found.map_or(text.len(), |(inner, _)| inner.len() + end.len());
    budget.spend(looked_at)?;
    found
}

/// Adds an argument. These formats have no value types: valid JSON counts as JSON, everything else as text. A
/// newline after the opening tag or before the closing tag is not part of the value.
fn add(arguments: &mut Map<String, Value>, key: &str, value: &str) -> Option<()> {
    if arguments.len() >= ARGUMENTS_LIMIT {
        return None;
    }
    let value = value.strip_prefix('\n').unwrap_or(value);
    let value = value.strip_suffix('\n').unwrap_or(value);
    let parsed = serde_json::from_str(value.trim());
    let value = parsed.unwrap_or_else(|_| Value::String(value.to_owned()));
    arguments.insert(key.to_owned(), value);
    Some(())
}
