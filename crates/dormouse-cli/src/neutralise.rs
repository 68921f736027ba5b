//! Making text safe to print: what could steer a terminal, hide, or pass for a line of the program is shown instead of
//! obeyed.

use std::borrow::Cow;

use dormouse_text::{escape, is_hidden};

pub(crate) use dormouse_text::escape_hidden_json as escape_json;

use crate::line_kind::LineKind;

#[cfg(test)]
mod tests;

/// The text as it may be printed: line feeds stay, tabs become spaces, and every other [hidden](is_hidden) character is
/// written out, as in `\u{1b}`. So is the character of every [kind of line](LineKind). Text without any is
/// returned as it is.
pub(crate) fn neutralise(text: &str) -> Cow<'_, str> {
    escape(text, |c| {
        is_hidden(c) || LineKind::ALL.iter().any(|sign| sign.char() == c)
    })
}

/// Text of several lines as one paragraph: lines after the first are indented, so that no text can pass for
/// lines of the program's own.
pub(crate) fn indented(text: &str) -> String {
    text.replace('\n', "\n    ")
}
