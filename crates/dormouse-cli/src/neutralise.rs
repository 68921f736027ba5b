//! Making text safe to print. Characters that could control a terminal, hide, or imitate a line of the program are
//! shown as escapes instead.

use std::borrow::Cow;

use dormouse_text::{escape, is_hidden};

pub(crate) use dormouse_text::escape_hidden_json as escape_json;

use crate::line_kind::LineKind;

#[cfg(test)]
mod tests;

/// The text in a printable form: line feeds stay, tabs become spaces, and every other [hidden](is_hidden) character is
/// escaped, as in `\u{1b}`. The characters of every [kind of line](LineKind) are escaped too. Text without any such
/// character is returned unchanged.
pub(crate) fn neutralise(text: &str) -> Cow<'_, str> {
    escape(text, |c| {
        is_hidden(c) || LineKind::ALL.iter().any(|sign| sign.char() == c)
    })
}

/// Text of several lines as one paragraph: lines after the first are indented, so that no text can imitate lines of the
/// program.
pub(crate) fn indented(text: &str) -> String {
    text.replace('\n', "\n    ")
}
