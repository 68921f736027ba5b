//! What is told as the value of a secret, and whether it may be one.

use std::ops::Range;

use crate::secrets::{
    blocks::is_stand_in,
    bytes::{at, part, past},
    mask_at,
};

/// How a value is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// `name=value`.
    Equals,
    /// `name: value`.
    Colon,
    /// "The name is value".
    Is,
}

/// A value as it stands in a text, without its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) start: usize,
    pub(super) end: usize,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Between quotes.
    Quoted,
    /// A word as people write them.
    Word,
    /// A word longer than any, which is not looked at any further.
    Endless,
}

/// The longest value between quotes, in bytes.
const LONGEST_QUOTED: usize = 512;
/// The longest word that is looked at, in bytes. Without an end to it, a text of one word that keeps calling itself a
/// password would be read from each of its places.
const LONGEST_WORD: usize = 256;
/// The shortest value, in bytes.
const SHORTEST: usize = 4;
/// The shortest value of a word that need not name a secret.
const SHORTEST_SURE: usize = 6;
/// The shortest value after `Bearer` and `Basic`.
const SHORTEST_CREDENTIAL: usize = 12;
/// What is said of passwords instead of one.
const NO_VALUES: [&str; 37] = [
    "above",
    "below",
    "blank",
    "boolean",
    "changed",
    "correct",
    "default",
    "disabled",
    "empty",
    "enabled",
    "enter",
    "expired",
    "false",
    "forgotten",
    "here",
    "hidden",
    "incorrect",
    "invalid",
    "missing",
    "need",
    "needed",
    "none",
    "null",
    "optional",
    "please",
    "redacted",
    "required",
    "reset",
    "same",
    "secret",
    "string",
    "true",
    "undefined",
    "unknown",
    "wrong",
    "your",
    "masked",
];

/// The value that begins at `start`: to the closing quote, or to the end of the word and without the signs that end a
/// sentence. `None` if nothing is there but a mask or a sign.
pub(super) fn read(text: &str, start: usize) -> Option<Value> {
    let quote = at(text, start);
    if matches!(quote, b'"' | b'\'' | b'`')
        && let Some(value) = quoted(text, start + 1, quote)
    {
        return Some(value);
    }
    let start = past(text, start, |byte| {
        matches!(byte, b'"' | b'\'' | b'`' | b'*')
    });
    let limit = start + LONGEST_WORD;
    let mut end = word_end(text, start, limit);
    if end >= limit {
        let form = Form::Endless;
        return Some(Value { start, end, form });
    }
    // Many a password ends with an exclamation mark, so that one goes with it.
    while end > start && b".,:?)]}*`~".contains(&at(text, end - 1)) {
        end -= 1;
    }
    let form = Form::Word;
    (end > start).then_some(Value { start, end, form })
}

fn quoted(text: &str, start: usize, quote: u8) -> Option<Value> {
    let rest = text.as_bytes().get(start..)?;
    let length = rest
        .iter()
        .take(LONGEST_QUOTED)
        .take_while(|byte| **byte != b'\n')
        .position(|byte| *byte == quote)?;
    let value = part(text, start, start + length);
    let holds_mask = value
        .match_indices('[')
        .any(|(at, _)| value.get(at..).is_some_and(|rest| mask_at(rest).is_some()));
    (length > 0 && !holds_mask).then_some(Value {
        start,
        end: start + length,
        form: Form::Quoted,
    })
}

/// Where an unquoted value ends: at a space, a quote, a sign that parts settings, or a mask; at `limit` if it goes on.
fn word_end(text: &str, start: usize, limit: usize) -> usize {
    let near = text.as_bytes().get(..limit).unwrap_or(text.as_bytes());
    let rest = near.get(start..).unwrap_or_default();
    let end = rest
        .iter()
        .enumerate()
        .position(|(place, byte)| match byte {
            b'[' => text.get(start + place..).and_then(mask_at).is_some(),
            // The signs that end a phrase in Chinese and Japanese, where no space does.
            0xe3 => rest.get(place + 1) == Some(&0x80),
            0xef => rest.get(place + 1) == Some(&0xbc),
            byte => byte.is_ascii_whitespace() || b"\"'`&;<>".contains(byte),
        });
    end.map_or(near.len(), |end| start + end)
}

impl Value {
    fn text<'a>(&self, text: &'a str) -> &'a str {
        part(text, self.start, self.end)
    }

    /// What of the text to hide if it is a secret.
    pub(super) fn range(&self, text: &str) -> Range<usize> {
        match self.form {
            Form::Quoted | Form::Word => self.start..self.end,
            Form::Endless => self.start..word_end(text, self.start, text.len()),
        }
    }

    /// Whether it is the secret of a word that names nothing else.
    pub(super) fn is_secret(&self, text: &str, told: Told) -> bool {
        let value = self.text(text);
        if self.form == Form::Endless {
            return true;
        }
        if value.len() < SHORTEST || says_none(value) {
            return false;
        }
        match (told, self.form) {
            (Told::Equals, _) | (_, Form::Quoted | Form::Endless) => true,
            (Told::Colon, Form::Word) => is_no_word(value) || self.ends_line(text),
            (Told::Is, Form::Word) => is_no_word(value),
        }
    }

    /// Whether it is a secret even though the word may name something else.
    pub(super) fn is_surely_secret(&self, text: &str, told: Told) -> bool {
        let value = self.text(text);
        let one_word = !value.contains(' ');
        if value.len() < SHORTEST_SURE || !one_word || says_none(value) || is_number(value) {
            return false;
        }
        match (told, self.form) {
            (_, Form::Endless) => false,
            (Told::Equals, _) | (_, Form::Quoted) => is_no_word(value) || value.len() >= 16,
            (Told::Colon | Told::Is, Form::Word) => alternations(value) >= 2 || has_sign(value),
        }
    }

    /// Whether it may be what lets somebody in: long, of one word, with digits or both cases mixed.
    pub(super) fn is_credential(&self, text: &str) -> bool {
        let value = self.text(text);
        let long = value.len() >= SHORTEST_CREDENTIAL && !says_none(value) && is_no_word(value);
        long || self.form == Form::Endless
    }

    fn ends_line(&self, text: &str) -> bool {
        let rest = past(text, self.end, |byte| {
            matches!(
                byte,
                b' ' | b'\t' | b'.' | b',' | b'"' | b'\'' | b'`' | b'*'
            )
        });
        matches!(at(text, rest), 0 | b'\n' | b'\r' | b';' | b'&')
    }
}

/// Whether the value says that there is none, or only where it belongs.
fn says_none(value: &str) -> bool {
    is_stand_in(value)
        || NO_VALUES
            .into_iter()
            .any(|none| value.eq_ignore_ascii_case(none))
}

/// Whether no sentence would go on with it: a digit, a sign, or capitals in the middle of a word.
fn is_no_word(value: &str) -> bool {
    if is_number(value) {
        return value.bytes().filter(u8::is_ascii_digit).count() >= SHORTEST;
    }
    let capitals = value.as_bytes().windows(2);
    let inner = capitals
        .filter(|pair| matches!(pair, [small, capital] if small.is_ascii_lowercase() && capital.is_ascii_uppercase()))
        .take(2)
        .count();
    value.bytes().any(|byte| byte.is_ascii_digit()) || has_sign(value) || inner >= 2
}

fn has_sign(value: &str) -> bool {
    value.bytes().any(|byte| b"!@#$%^&*+=~|\\".contains(&byte))
}

fn is_number(value: &str) -> bool {
    value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b".,-/:%$".contains(&byte))
}

/// How often letters and digits take turns.
fn alternations(value: &str) -> usize {
    let mut last = None;
    let mut turns = 0;
    for byte in value.bytes().filter(u8::is_ascii_alphanumeric) {
        let digit = byte.is_ascii_digit();
        turns += usize::from(last.is_some_and(|last| last != digit));
        last = Some(digit);
    }
    turns
}
