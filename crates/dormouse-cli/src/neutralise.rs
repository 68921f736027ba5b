//! Making text safe to print: what could steer a terminal, or make text read in another order than it is
//! written, is shown instead of obeyed.

use std::{borrow::Cow, fmt::Write};

#[cfg(test)]
mod tests;

/// Whether a character could do something to whoever displays it, other than being displayed.
///
/// These are the control characters (C0, DEL, C1), the marks that turn the direction of writing, the separators
/// that end a line, and those that are invisible. Joiners stay: without them some scripts and emoji cannot be
/// written.
pub(crate) fn is_active(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The text as it may be printed: line feeds stay, tabs become spaces, and every other [active](is_active)
/// character is written out, as in `\u{1b}`. Text without any is returned as it is.
pub(crate) fn neutralise(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| is_active(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' => safe.push('\n'),
            '\t' => safe.push(' '),
            active if is_active(active) => safe.extend(active.escape_unicode()),
            plain => safe.push(plain),
        }
    }
    Cow::Owned(safe)
}

/// The same for JSON text: active characters become `\u` escapes, so that the parsed value stays what it was.
///
/// Outside strings JSON has no such characters but white space, which serde_json does not write.
pub(crate) fn escape_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_active) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if is_active(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing into a string does not fail.
                write!(safe, "\\u{unit:04x}").ok();
            }
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// Text of several lines as one paragraph: lines after the first are indented, so that no text can pass for
/// lines of the program's own.
pub(crate) fn indented(text: &str) -> String {
    text.replace('\n', "\n    ")
}
