//! The JSON value a text begins with.

use serde_json::Value;

use super::{Effort, mend::mended};

/// The deepest nesting that is read; serde_json reads no deeper.
const DEPTH: usize = 128;

/// Whether a value was JSON as it stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    Mended,
}

/// Which quotes begin a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    Double,
    /// Single ones too, where a value or a key may begin.
    Both,
}

/// The object or array a text begins with, and what stands behind it.
pub(super) fn leading<'t>(text: &'t str, effort: &mut Effort) -> Option<(Value, Syntax, &'t str)> {
    if let Some(part) = balanced(text, Quotes::Double, effort) {
        effort.spend(part.len())?;
        if let Ok(value) = serde_json::from_str(part) {
            return Some((value, Syntax::Json, text.get(part.len()..)?));
        }
    }
    let part = balanced(text, Quotes::Both, effort)?;
    effort.spend(part.len().saturating_mul(2))?;
    let value = serde_json::from_str(&mended(part)?).ok()?;
    Some((value, Syntax::Mended, text.get(part.len()..)?))
}

/// The part of a text, if it starts with a brace or a bracket, up to the one that closes it; those in strings don't count.
fn balanced<'t>(text: &'t str, quotes: Quotes, effort: &mut Effort) -> Option<&'t str> {
    let (open, close) = match text.as_bytes().first()? {
        b'{' => (b'{', b'}'),
        b'[' => (b'[', b']'),
        _ => return None,
    };
    let within = effort.left();
    let (mut depth, mut string, mut escaped, mut before) = (0_usize, None, false, open);
    for (at, byte) in text.bytes().enumerate().take(within) {
        match (string, byte) {
            _ if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(quote), _) if quote == byte => string = None,
            (Some(_), _) => {}
            (None, b'"') => string = Some(byte),
            (None, b'\'') if quotes == Quotes::Both && begins_value(before) => string = Some(byte),
            (None, _) if byte == open => depth += 1,
            (None, _) if byte == close => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        if (depth == 0 && string.is_none()) || depth > DEPTH {
            effort.spend(at + 1)?;
            return if depth == 0 { text.get(..=at) } else { None };
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    effort.spend(text.len().min(within))?;
    None
}

/// Whether a value or a key may stand behind this byte.
pub(super) fn begins_value(before: u8) -> bool {
    matches!(before, b'{' | b'[' | b',' | b':')
}
