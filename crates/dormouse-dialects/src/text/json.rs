//! The JSON value at the start of a text.

use serde_json::Value;

use super::{
    ScanBudget,
    mend::{begins_value, mended},
};

/// The deepest nesting that is read, the limit of serde_json.
const DEPTH: usize = 128;

/// Whether a value was valid JSON or had to be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    Mended,
}

/// Which quotes start a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    Double,
    /// Also single quotes, where a value or a key may start.
    Both,
}

/// The object or array at the start of a text, and the text after it.
pub(super) fn leading<'t>(
    text: &'t str,
    budget: &mut ScanBudget,
) -> Option<(Value, Syntax, &'t str)> {
    // Strict JSON first: in valid JSON an apostrophe never starts a string.
    if let Some(part) = balanced(text, Quotes::Double, budget) {
        budget.spend(part.len())?;
        if let Ok(value) = serde_json::from_str(part) {
            return Some((value, Syntax::Json, text.get(part.len()..)?));
        }
    }
    let part = balanced(text, Quotes::Both, budget)?;
    // Twice: the repair reads the part once, the parser once more.
    budget.spend(part.len().saturating_mul(2))?;
    let value = serde_json::from_str(&mended(part)?).ok()?;
    Some((value, Syntax::Mended, text.get(part.len()..)?))
}

/// Returns the text up to the brace or bracket that matches the first character. Braces and brackets within strings do
/// not count.
fn balanced<'t>(text: &'t str, quotes: Quotes, budget: &mut ScanBudget) -> Option<&'t str> {
    // Only brackets of the same kind as the first are counted. The JSON parser rejects mismatches of the other kind.
    let (open, close) = match text.as_bytes().first()? {
        b'{' => (b'{', b'}'),
        b'[' => (b'[', b']'),
        _ => return None,
    };
    // Never reads further than the budget: an unclosed brace would otherwise cost the rest of the text.
    let within = budget.left();
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
            budget.spend(at + 1)?;
            return if depth == 0 { text.get(..=at) } else { None };
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    budget.spend(text.len().min(within))?;
    None
}
