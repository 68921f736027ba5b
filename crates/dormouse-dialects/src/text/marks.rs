//! What models put around a call they print.

use super::Place;

/// Marks behind which there is a call.
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

/// Marks behind which a call is over.
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

/// Marks that say nothing about what follows.
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

/// What calls themselves begin with, besides a brace.
const CALLS: [&str; 6] = [
    "<function=",
    "<invoke name=",
    "<antml:invoke name=",
    "<｜tool▁call▁begin｜>",
    "<|tool_call_begin|>",
    "<|channel|>",
];

fn strip<'t>(text: &'t str, marks: &[&str]) -> Option<&'t str> {
    marks.iter().find_map(|mark| text.strip_prefix(mark))
}

/// A text from the first character that is neither white space nor a mark, and what the last mark says of it.
pub(super) fn skip(text: &str) -> (&str, Place) {
    let (mut rest, mut place) = (text.trim_start(), Place::Bare);
    loop {
        let inner = if let Some(inner) = strip(rest, &OPENING) {
            place = Place::Marked;
            inner
        } else if let Some(inner) = strip(rest, &CLOSING) {
            place = Place::Bare;
            inner
        } else if let Some(inner) = strip(rest, &NEUTRAL) {
            inner
        } else {
            return (rest, place);
        };
        rest = inner.trim_start();
    }
}

/// As [`skip`], behind a call: there a comma or a semicolon may stand, too.
pub(super) fn skip_between(text: &str) -> (&str, Place) {
    let (rest, place) = skip(text);
    match rest.strip_prefix([',', ';']) {
        Some(behind) if place == Place::Bare => match skip(behind) {
            // Nothing follows what should separate something.
            ("", _) => (rest, place),
            found => found,
        },
        _ => (rest, place),
    }
}

/// How a text begins, as far as calls are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// Like any other text.
    Words,
    /// Like one that holds nothing but calls.
    Call,
    /// Like that, and with a mark that stands nowhere else.
    MarkedCall,
}

/// How a text begins. A text that is only the beginning of a mark counts as one.
pub(crate) fn is_begun(text: &str) -> Beginning {
    let (rest, _) = skip(text);
    let is_tag = CALLS.iter().any(|call| rest.starts_with(call));
    let marks = || OPENING.iter().chain(&NEUTRAL).chain(&CALLS);
    let is_part = marks().any(|mark| mark.starts_with(text));
    let is_list = rest
        .strip_prefix('[')
        .is_some_and(|inner| inner.trim_start().starts_with('{'));
    let is_json = rest.starts_with('{') || is_list;
    let begins_with_mark = OPENING.iter().any(|mark| text.starts_with(mark));
    if is_tag || (begins_with_mark && (is_json || rest.is_empty())) {
        Beginning::MarkedCall
    } else if is_json || is_part {
        Beginning::Call
    } else {
        Beginning::Words
    }
}
