//! What is nearly JSON, and can only mean one thing.

use std::fmt::Write as _;

use super::json::begins_value;

/// JSON for a text that is JSON but for single quotes around strings, Python's `True`, `False` and `None`, commas before
/// a closing brace, and line ends within strings. `None` if a word in it is neither; whether the rest is JSON has
/// still to be seen. Nothing is guessed: a text that is read as something here has no other reading.
pub(super) fn mended(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut before = b'[';
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '"' => string(rest, '"', &mut out)?,
            '\'' if begins_value(before) => string(rest, '\'', &mut out)?,
            '}' | ']' => {
                // A comma with nothing behind it separates nothing.
                if before == b',' {
                    let end = out.trim_end().len().checked_sub(1)?;
                    out.truncate(end);
                }
                out.push(first);
                rest.get(1..)?
            }
            'a'..='z' | 'A'..='Z' => word(rest, &mut out)?,
            _ => {
                out.push(first);
                rest.get(first.len_utf8()..)?
            }
        };
        if !first.is_ascii_whitespace() {
            before = u8::try_from(first).unwrap_or(b'?');
        }
    }
    Some(out)
}

/// Takes a string with its quotes; what stands behind it.
fn string<'t>(text: &'t str, quote: char, out: &mut String) -> Option<&'t str> {
    out.push('"');
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            _ if c == quote => {
                out.push('"');
                return text.get(at + 1..);
            }
            '"' => out.push_str("\\\""),
            '\\' => match chars.next()?.1 {
                '\'' => out.push('\''),
                escaped => out.extend(['\\', escaped]),
            },
            c if u32::from(c) < 0x20 => {
                // Writing into a string does not fail.
                write!(out, "\\u{:04x}", u32::from(c)).ok()?;
            }
            c => out.push(c),
        }
    }
    None
}

/// Takes a word that is a value; what stands behind it.
fn word<'t>(text: &'t str, out: &mut String) -> Option<&'t str> {
    let end = text
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (word, behind) = text.split_at(end);
    out.push_str(match word {
        "true" | "True" => "true",
        "false" | "False" => "false",
        "null" | "None" => "null",
        // The exponent of a number.
        "e" | "E" => "e",
        _ => return None,
    });
    Some(behind)
}
