//! Repairs text that is almost JSON and has only one possible meaning.

use std::fmt::Write as _;

/// Repairs single quotes around strings, Python's `True`, `False` and `None`, commas before a closing brace, and line
/// ends within strings. `None` if the text contains any other word; the result may still be invalid JSON. Nothing is
/// guessed: each repair has only one possible reading.
pub(super) fn mended(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    // As after an opening bracket, so that the text may start with a value.
    let mut before = b'[';
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '"' => string(rest, '"', &mut out)?,
            // An apostrophe within a word ("it's") is not at the start of a value, so it opens no string.
            '\'' if begins_value(before) => string(rest, '\'', &mut out)?,
            '}' | ']' => {
                // A trailing comma: remove it.
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
        // After a string or a word this is its first character, after which no value may start.
        if !first.is_ascii_whitespace() {
            before = u8::try_from(first).unwrap_or(b'?');
        }
    }
    Some(out)
}

/// Copies a string with its quotes, and returns the text after it.
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
                // JSON has no `\'`.
                '\'' => out.push('\''),
                escaped => out.extend(['\\', escaped]),
            },
            // Control characters must be escaped in JSON strings (RFC 8259, section 7).
            c if u32::from(c) < 0x20 => {
                // Writing into a string does not fail.
                write!(out, "\\u{:04x}", u32::from(c)).ok()?;
            }
            c => out.push(c),
        }
    }
    None
}

/// Copies a word that is a value, and returns the text after it.
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

/// Whether a value or a key may follow this byte.
pub(super) fn begins_value(before: u8) -> bool {
    matches!(before, b'{' | b'[' | b',' | b':')
}
