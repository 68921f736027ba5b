//! Calls that are written as tags.

use serde_json::{Map, Value};

use super::{Certainty, Effort, Found, json, leading_name};
use crate::Form;

/// The prefix that some models put before the names of such tags.
const PREFIX: &str = "antml:";
/// The most arguments of one call that are read.
const ARGUMENTS_LIMIT: usize = 64;

fn found(name: &str, arguments: Map<String, Value>, form: Form) -> Found {
    let arguments = Value::Object(arguments);
    Found::new(name, Some(&arguments), form, Certainty::Explicit)
}

/// `<function=name>{…}</function>`, or with `<parameter=key>value</parameter>` in it.
pub(super) fn function<'t>(text: &'t str, effort: &mut Effort) -> Option<(Found, &'t str)> {
    let (name, body) = leading_name(text.strip_prefix("<function=")?)?;
    let mut rest = body.strip_prefix('>')?.trim_start();
    if rest.starts_with('{') {
        let (value, syntax, behind) = json::leading(rest, effort)?;
        let call = Found::new(name, Some(&value), Form::FunctionTag, Certainty::Explicit);
        return Some((call.mended(syntax), behind));
    }
    let mut arguments = Map::new();
    while let Some(inner) = rest.strip_prefix("<parameter=") {
        let (key, inner) = leading_name(inner)?;
        let (value, behind) = until(inner.strip_prefix('>')?, "</parameter>", effort)?;
        add(&mut arguments, key, value)?;
        rest = behind.trim_start();
    }
    let behind = rest.strip_prefix("</function>")?;
    Some((found(name, arguments, Form::FunctionTag), behind))
}

/// `<invoke name="…"><parameter name="…">value</parameter></invoke>`.
pub(super) fn invoke<'t>(text: &'t str, effort: &mut Effort) -> Option<(Found, &'t str)> {
    let tag = text.strip_prefix('<')?;
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
        let (value, behind) = until(inner, &format!("</{prefix}parameter>"), effort)?;
        add(&mut arguments, key, value)?;
        rest = behind.trim_start();
    }
    let behind = rest.strip_prefix("</")?.strip_prefix(prefix)?;
    let behind = behind.strip_prefix("invoke>")?;
    Some((found(name, arguments, Form::Invoke), behind))
}

/// `name<arg_key>…</arg_key><arg_value>…</arg_value></tool_call>`, behind the mark that opens it.
pub(super) fn arguments<'t>(text: &'t str, effort: &mut Effort) -> Option<(Found, &'t str)> {
    let (name, rest) = leading_name(text)?;
    let mut rest = rest.trim_start();
    let mut arguments = Map::new();
    while let Some(inner) = rest.strip_prefix("<arg_key>") {
        let (key, behind) = until(inner, "</arg_key>", effort)?;
        let value = behind.trim_start().strip_prefix("<arg_value>")?;
        let (value, behind) = until(value, "</arg_value>", effort)?;
        add(&mut arguments, key.trim(), value)?;
        rest = behind.trim_start();
    }
    // Without the end, what stands here might be a word like any other.
    let behind = rest.strip_prefix("</tool_call>")?;
    Some((found(name, arguments, Form::ArgumentTags), behind))
}

/// The text up to `end`, and what stands behind that.
fn until<'t>(text: &'t str, end: &str, effort: &mut Effort) -> Option<(&'t str, &'t str)> {
    let found = text.split_once(end);
    let looked_at = found.map_or(text.len(), |(inner, _)| inner.len() + end.len());
    effort.spend(looked_at)?;
    found
}

/// Adds an argument. These forms do not say what kind of value it is: what is JSON is that, and all else a text. A line
/// end behind the opening tag and one before the closing one are no part of it.
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
