//! The marks that models put around printed calls.

use super::CallContext;

/// Marks before a call.
const OPENING: [&str; 18] = [
    "<tool_call>",
    "<tool_calls>",
    "<toolcall>",
    "<function_call>",
    "<function_calls>",
    "<antml:function_calls>",
    "<functioncall>",
    "<|python_tag|>",
    "<|tool_call|>",
    "<|tool_calls|>",
    "<|tool_call_start|>",
    "<|tool_calls_section_begin|>",
    "<｜tool▁calls▁begin｜>",
    "<tool_use>",
    "[TOOL_CALLS]",
    "[TOOL_CALL]",
    "```tool_calls",
    "```tool_call",
];

/// Marks after a call.
const CLOSING: [&str; 27] = [
    "</tool_call>",
    "</tool_calls>",
    "</toolcall>",
    "</function_call>",
    "</function_calls>",
    "</antml:function_calls>",
    "</functioncall>",
    "</function>",
    "</tool_use>",
    "<|/tool_call|>",
    "<|/tool_calls|>",
    "<|tool_call_end|>",
    "<|tool_calls_section_end|>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    "<｜end▁of▁sentence｜>",
    "[/TOOL_CALLS]",
    "[/TOOL_CALL]",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<|end|>",
    "<|call|>",
    "<|return|>",
    "<end_of_turn>",
    "</s>",
];

/// Marks without information about what follows.
const NEUTRAL: [&str; 9] = [
    "```json",
    "```xml",
    "```",
    "<s>",
    "<|begin_of_text|>",
    "<|im_start|>assistant",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<start_of_turn>model",
    "<|assistant|>",
];

/// The starts of calls, apart from a brace.
const CALLS: [&str; 6] = [
    "<function=",
    "<invoke name=",
    "<antml:invoke name=",
    "<｜tool▁call▁begin｜>",
    "<|tool_call_begin|>",
    "<|channel|>",
];

// The first matching mark counts, so a mark must precede its own prefixes: "```json" before "```".
fn strip<'t>(text: &'t str, marks: &[&str]) -> Option<&'t str> {
    marks.iter().find_map(|mark| text.strip_prefix(mark))
}

/// The text after leading white space and marks, and what the last mark says about it.
pub(super) fn skip(text: &str) -> (&str, CallContext) {
    let (mut rest, mut context) = (text.trim_start(), CallContext::Bare);
    loop {
        let inner = if let Some(inner) = strip(rest, &OPENING) {
            context = CallContext::Marked;
            inner
        } else if let Some(inner) = strip(rest, &CLOSING) {
            context = CallContext::Bare;
            inner
        } else if let Some(inner) = strip(rest, &NEUTRAL) {
            inner
        } else {
            return (rest, context);
        };
        rest = inner.trim_start();
    }
}

/// Like [`skip`], for the text after a call, where a comma or semicolon may follow.
pub(super) fn skip_between(text: &str) -> (&str, CallContext) {
    let (rest, context) = skip(text);
    match rest.strip_prefix([',', ';']) {
        Some(behind) if context == CallContext::Bare => match skip(behind) {
            // No call follows the separator, so it stays in the rest: the text does not consist of calls only.
            ("", _) => (rest, context),
            found => found,
        },
        _ => (rest, context),
    }
}

/// How a text starts, with regard to calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextStart {
    /// Like any other text.
    Words,
    /// Like a text that contains only calls.
    Call,
    /// Like a text that contains only calls, with a mark that has no other use.
    MarkedCall,
}

/// How a text starts. An incomplete mark counts as a mark.
pub(crate) fn is_begun(text: &str) -> TextStart {
    let (rest, _) = skip(text);
    let is_tag = CALLS.iter().any(|call| rest.starts_with(call));
    let marks = || OPENING.iter().chain(&NEUTRAL).chain(&CALLS);
    // A reply may be cut within a mark, so `is_part` looks for marks that start with the whole text.
    let is_part = marks().any(|mark| mark.starts_with(text));
    let is_list = rest
        .strip_prefix('[')
        .is_some_and(|inner| inner.trim_start().starts_with('{'));
    let is_json = rest.starts_with('{') || is_list;
    let begins_with_mark = OPENING.iter().any(|mark| text.starts_with(mark));
    if is_tag || (begins_with_mark && (is_json || rest.is_empty())) {
        TextStart::MarkedCall
    } else if is_json || is_part {
        TextStart::Call
    } else {
        TextStart::Words
    }
}
