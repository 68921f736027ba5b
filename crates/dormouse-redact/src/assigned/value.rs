//! Reads the value after a name, and decides whether it may be a secret.

use std::ops::Range;

use crate::{
    RedactionProfile,
    bytes::{at, part, past, placeholder},
};

/// The sign between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// `name=value`.
    Equals,
    /// `name: value`.
    Colon,
    /// "The name is value".
    Is,
}

/// A value in a text, without its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    start: usize,
    end: usize,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Between quotes.
    Quoted,
    /// An unquoted word.
    Word,
    /// A word longer than [`LONGEST_WORD`]. Its rest is not examined.
    Endless,
}

/// The longest value between quotes, in bytes.
const LONGEST_QUOTED: usize = 4096;
/// The longest word that is read, in bytes. Without this limit, a long word that repeats `password=` would be read
/// again from each repetition, which is quadratic.
const LONGEST_WORD: usize = 512;
/// The longest name of a setting that is read after a value, in bytes.
const LONGEST_SETTING: usize = 40;
/// The shortest value, in bytes.
const SHORTEST: usize = 4;
/// The shortest value of an ambiguous name, and the shortest unquoted value that is likely a secret.
const SHORTEST_SURE: usize = 6;
/// The shortest value of a weak name.
const SHORTEST_LONG: usize = 16;
/// The shortest value after `Bearer` and `Basic` in prose.
const SHORTEST_CREDENTIAL: usize = 12;
/// Words that describe a value or replace it. They are never the secret itself.
const NO_VALUES: &str = "\
    above below blank boolean changed correct default disabled empty enabled enter expired false \
    forgotten here hidden incorrect invalid missing need needed none null optional please redacted \
    required reset same secret string true undefined unknown wrong your masked";

/// Reads the value at `start`: up to the closing quote or, without quotes, to the end of the word, without punctuation
/// at its end. Returns `None` if there is only punctuation or a placeholder.
pub(super) fn read(text: &[u8], start: usize, profile: RedactionProfile) -> Option<Value> {
    let word = past(text, start, 4, |byte| b"\"'`*\\".contains(&byte));
    let quote = at(text, word.saturating_sub(1));
    if word > start
        && b"\"'`".contains(&quote)
        && let Some(value) = quoted(text, word, quote, profile)
    {
        return Some(value);
    }
    let (end, form) = match word_end(text, word, word + LONGEST_WORD) {
        Some(end) => (end, Form::Word),
        None => (word + LONGEST_WORD, Form::Endless),
    };
    // An exclamation mark at the end belongs to the value, because passwords often end with one.
    let bytes = part(text, word, end);
    let is_open = has_bracket(text, word);
    let ends = |byte: u8| b".,:?)*`~".contains(&byte) || !is_open && b"]}".contains(&byte);
    let signs = bytes.iter().rev().take_while(|byte| ends(**byte));
    let end = if form == Form::Word {
        end - signs.count()
    } else {
        end
    };
    (end > word).then_some(Value {
        start: word,
        end,
        form,
    })
}

/// Whether the value starts with a bracket. Then the closing bracket belongs to the value, as in `${PASSWORD}`.
fn has_bracket(text: &[u8], start: usize) -> bool {
    part(text, start, start + 2)
        .iter()
        .any(|byte| b"{[".contains(byte))
}

fn quoted(text: &[u8], start: usize, quote: u8, profile: RedactionProfile) -> Option<Value> {
    let line_end = past(text, start, LONGEST_QUOTED, |byte| {
        !matches!(byte, b'\n' | b'\r')
    });
    let line = part(text, start, line_end);
    let closing = line.iter().position(|byte| *byte == quote);
    // A recording may be truncated before the closing quote.
    let length = match closing {
        Some(length) => length,
        None if profile.is_wide() => line.len(),
        None => return None,
    };
    // An escaped quote has a backslash before it.
    let value = line.get(..length)?;
    let value = value.strip_suffix(b"\\").unwrap_or(value);
    let has_placeholder = (0..value.len())
        .filter(|place| at(value, *place) == b'[')
        .any(|place| placeholder(part(value, place, value.len())).is_some());
    (!value.is_empty() && !has_placeholder).then_some(Value {
        start,
        end: start + value.len(),
        form: Form::Quoted,
    })
}

/// Returns the end of an unquoted value. A space, a quote, a separator of settings or a placeholder ends it. Returns
/// `None` if the value continues beyond `limit`.
fn word_end(text: &[u8], start: usize, limit: usize) -> Option<usize> {
    let near = part(text, start, limit);
    let is_open = has_bracket(text, start);
    let end = near.iter().enumerate().position(|(place, byte)| {
        let next = at(text, start + place + 1);
        match byte {
            b'[' => placeholder(part(text, start + place, text.len())).is_some(),
            // Chinese and Japanese punctuation ends a value, because these languages have no spaces.
            0xe3 => next == 0x80,
            0xef => next == 0xbc,
            b'\\' => b"\"'`\\".contains(&next),
            // Brackets and commas may be part of a password, but not before white space, quotes or other separators.
            b']' | b'}' if is_open => false,
            b',' | b')' | b']' | b'}' => {
                next == 0 || next.is_ascii_whitespace() || b"\"'`,)]}{[".contains(&next)
            }
            b'&' | b';' => separates(part(text, start + place + 1, text.len())),
            byte => byte.is_ascii_whitespace() || b"\"'`<>".contains(byte),
        }
    });
    let is_last = near.len() < limit - start;
    end.or(is_last.then_some(near.len())).map(|end| start + end)
}

/// Whether `&` or `;` separates settings: the text ends after it, or the name of the next setting follows. Otherwise it
/// may be part of a password. `&amp;` is a separator, too.
fn separates(rest: &[u8]) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.%".contains(&byte);
    let end = past(rest, 0, LONGEST_SETTING, is_name);
    let next = at(rest, end);
    match end {
        0 => next == 0 || next.is_ascii_whitespace() || b"\"'`<>&;,)]}".contains(&next),
        _ => matches!(next, b'=' | b';'),
    }
}

impl Value {
    fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        part(text, self.start, self.end)
    }

    /// Returns the secret part of the text.
    pub(super) fn range(&self, text: &[u8]) -> Range<usize> {
        let end = match self.form {
            Form::Quoted | Form::Word => self.end,
            Form::Endless => word_end(text, self.start, text.len() + 1).unwrap_or(text.len()),
        };
        self.start..end
    }

    /// Whether the value after a strong name is a secret.
    pub(super) fn is_secret(&self, text: &[u8], said: Said, profile: RedactionProfile) -> bool {
        let value = self.bytes(text);
        if self.form == Form::Endless {
            return true;
        }
        if value.len() < SHORTEST || says_none(value) {
            return false;
        }
        match (said, self.form) {
            (Said::Equals, _) | (_, Form::Quoted | Form::Endless) => true,
            // After `password:`, errors usually describe a fault and do not print the password.
            (Said::Colon, Form::Word) => {
                no_word(value) || profile != RedactionProfile::Errors && self.ends_line(text)
            }
            (Said::Is, Form::Word) => no_word(value),
        }
    }

    /// Whether the value is a secret even if its name is ambiguous.
    pub(super) fn is_surely_secret(&self, text: &[u8], said: Said) -> bool {
        let value = self.bytes(text);
        if self.form == Form::Endless {
            return true;
        }
        let is_one_word = !value.contains(&b' ');
        if value.len() < SHORTEST_SURE || !is_one_word || says_none(value) || is_number(value) {
            return false;
        }
        match (said, self.form) {
            (Said::Equals, _) | (_, Form::Quoted | Form::Endless) => {
                no_word(value) || value.len() >= SHORTEST_LONG
            }
            (Said::Colon | Said::Is, Form::Word) => alternations(value) >= 2 || has_sign(value),
        }
    }

    /// Whether the value may be a secret in a protocol, where prose is rare.
    pub(super) fn is_likely(&self, text: &[u8], said: Said) -> bool {
        let value = self.bytes(text);
        let shortest = match self.form {
            Form::Quoted => SHORTEST,
            Form::Word | Form::Endless => SHORTEST_SURE,
        };
        let has_digit = value.iter().any(u8::is_ascii_digit);
        let has_other = value.iter().any(|byte| !byte.is_ascii_digit());
        let is_password =
            said != Said::Is || has_digit && has_other && value.len() >= SHORTEST_SURE;
        value.len() >= shortest && is_password && !is_stand_in(value)
    }

    /// Whether the value is one long word, as keys are.
    pub(super) fn is_long_word(&self, text: &[u8]) -> bool {
        let value = self.bytes(text);
        self.form == Form::Endless || is_long_word(value) && !is_stand_in(value)
    }

    fn ends_line(&self, text: &[u8]) -> bool {
        let rest = past(text, self.end, usize::MAX, |byte| {
            b" \t.,\"'`*".contains(&byte)
        });
        matches!(at(text, rest), 0 | b'\n' | b'\r' | b';' | b'&')
    }
}

/// Whether it is one word of at least 16 characters, with digits or capitals.
pub(super) fn is_long_word(value: &[u8]) -> bool {
    let is_mixed = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    value.len() >= SHORTEST_LONG
        && value.iter().all(u8::is_ascii_graphic)
        && value.iter().any(is_mixed)
}

/// Whether it may be a credential: a long word with digits or mixed case.
pub(crate) fn is_sure_credential(value: &[u8]) -> bool {
    value.len() >= SHORTEST_CREDENTIAL && !says_none(value) && no_word(value)
}

/// Whether a value is a placeholder: `****`, `<password>`, `${PASSWORD}`, `%s`, `[secret-1]`. `Bearer` or `Basic` may
/// come before it.
pub(crate) fn is_stand_in(value: &[u8]) -> bool {
    let value = [&b"Bearer "[..], b"Basic "]
        .into_iter()
        .find_map(|word| value.strip_prefix(word))
        .unwrap_or(value);
    let first = at(value, 0);
    let last = at(value, value.len().saturating_sub(1));
    let is_one_sign = value.iter().all(|byte| *byte == first) && b"*.xX#_-?".contains(&first);
    let inside = value
        .get(1..value.len().saturating_sub(1))
        .unwrap_or_default();
    let is_word = |word: &[u8]| {
        word.iter()
            .all(|byte| byte.is_ascii_alphabetic() || b"_- ".contains(byte))
    };
    let is_marked = matches!((first, last), (b'<', b'>') | (b'{', b'}') | (b'[', b']'));
    let variable = value
        .strip_prefix(b"${")
        .and_then(|rest| rest.strip_suffix(b"}"));
    is_one_sign
        || is_marked && is_word(inside)
        || variable.is_some_and(is_word)
        || value.starts_with(b"$(")
        || first == b'%' && value.len() <= 3
        || placeholder(value).is_some_and(|length| length == value.len())
}

/// Whether the value describes a missing secret, or is a placeholder.
fn says_none(value: &[u8]) -> bool {
    let is_none = |none: &str| value.eq_ignore_ascii_case(none.as_bytes());
    is_stand_in(value) || NO_VALUES.split(' ').any(is_none)
}

/// Whether the value cannot be a word of a sentence, because it has a digit, a sign, or several capitals inside. A
/// number needs at least [`SHORTEST`] digits.
pub(crate) fn no_word(value: &[u8]) -> bool {
    if is_number(value) {
        return value.iter().filter(|byte| byte.is_ascii_digit()).count() >= SHORTEST;
    }
    let is_inner = |pair: &&[u8]| matches!(pair, [small, capital] if small.is_ascii_lowercase() && capital.is_ascii_uppercase());
    let inner = value.windows(2).filter(is_inner).take(2).count();
    value.iter().any(u8::is_ascii_digit) || has_sign(value) || inner >= 2
}

fn has_sign(value: &[u8]) -> bool {
    value.iter().any(|byte| b"!@#$%^&*+=~|\\".contains(byte))
}

fn is_number(value: &[u8]) -> bool {
    value
        .iter()
        .all(|byte| byte.is_ascii_digit() || b".,-/:%$".contains(byte))
}

/// Counts the changes between letters and digits.
fn alternations(value: &[u8]) -> usize {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphanumeric());
    let digits: Vec<bool> = letters.map(u8::is_ascii_digit).collect();
    digits
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a != b))
        .count()
}
