//! Values that are called a password, key, token or secret.
//!
//! How much a value has to look like a secret depends on how it is told. After `password=` nearly anything is one;
//! after `the token is` only what no sentence would go on with.

mod value;

use super::{
    SecretKind, SecretSpan,
    bytes::{at, before, has_word, part, past},
    mask_at,
};
use value::{Told, Value};

/// How sure a word is of what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// It names a secret and nothing else.
    Strong,
    /// It also names things of games and stories: a secret, a token.
    Weak,
}

struct Word {
    text: &'static str,
    kind: SecretKind,
    weight: Weight,
}

const fn word(text: &'static str, kind: SecretKind, weight: Weight) -> Word {
    Word { text, kind, weight }
}

/// What secrets are called. A space stands for a space, `_`, `-`, or nothing.
const WORDS: [Word; 21] = [
    word("password", SecretKind::Password, Weight::Strong),
    word("passwd", SecretKind::Password, Weight::Strong),
    word("passphrase", SecretKind::Password, Weight::Strong),
    word("passcode", SecretKind::Password, Weight::Strong),
    word("pass word", SecretKind::Password, Weight::Strong),
    word("pwd", SecretKind::Password, Weight::Strong),
    word("api key", SecretKind::ApiKey, Weight::Strong),
    word("api token", SecretKind::ApiKey, Weight::Strong),
    word("api secret", SecretKind::ApiKey, Weight::Strong),
    word("access key", SecretKind::ApiKey, Weight::Strong),
    word("access token", SecretKind::Token, Weight::Strong),
    word("auth token", SecretKind::Token, Weight::Strong),
    word("bot token", SecretKind::Token, Weight::Strong),
    word("bearer token", SecretKind::Token, Weight::Strong),
    word("refresh token", SecretKind::Token, Weight::Strong),
    word("client secret", SecretKind::ApiKey, Weight::Strong),
    word("secret access key", SecretKind::ApiKey, Weight::Strong),
    word("secret key", SecretKind::ApiKey, Weight::Strong),
    word("private key", SecretKind::PrivateKey, Weight::Strong),
    word("token", SecretKind::Token, Weight::Weak),
    word("secret", SecretKind::ApiKey, Weight::Weak),
];
/// How far behind a strong word its value may be told: "the password **for the north gate** is …".
const LONGEST_ASIDE: usize = 48;

/// Finds values that are called a secret.
pub(super) fn assigned(text: &str, spans: &mut Vec<SecretSpan>) {
    let mut from = 0;
    while from < text.len() {
        if let Some(length) = text.get(from..).and_then(mask_at) {
            from += length;
            continue;
        }
        match value_of_word_at(text, from) {
            Some(span) => {
                from = span.range.end;
                spans.push(span);
            }
            None => from = next_start(text, from),
        }
    }
}

/// The next place at which a word or a mask may begin.
fn next_start(text: &str, from: usize) -> usize {
    past(text, from + 1, |byte| {
        !matches!(byte | 0x20, b'p' | b'a' | b'b' | b'r' | b'c' | b's' | b't') && byte != b'['
    })
}

fn value_of_word_at(text: &str, start: usize) -> Option<SecretSpan> {
    if !is_word_start(text, start) {
        return None;
    }
    let scheme = ["bearer ", "basic "]
        .into_iter()
        .find(|scheme| has_word(text, start, scheme));
    if let Some(scheme) = scheme {
        let found = value::read(text, start + scheme.len());
        if let Some(value) = found.filter(|value| value.is_credential(text)) {
            return Some(span(text, &value, SecretKind::Token));
        }
    }
    let first = at(text, start).to_ascii_lowercase();
    let (word, end) = WORDS
        .iter()
        .filter(|word| at(word.text, 0) == first)
        .find_map(|word| Some((word, word_end(text, start, word.text)?)))?;
    let (told, at) = told(text, end, word.weight)?;
    let value = value::read(text, at)?;
    let secret = match word.weight {
        Weight::Strong => value.is_secret(text, told),
        Weight::Weak => value.is_surely_secret(text, told),
    };
    secret.then(|| span(text, &value, word.kind))
}

fn span(text: &str, value: &Value, kind: SecretKind) -> SecretSpan {
    SecretSpan {
        range: value.range(text),
        kind,
    }
}

/// Whether a word may begin here: after no letter or digit, or with a capital after a small letter (`dbPassword`).
fn is_word_start(text: &str, start: usize) -> bool {
    let last = before(text, start);
    !last.is_ascii_alphanumeric()
        || (last.is_ascii_lowercase() && at(text, start).is_ascii_uppercase())
}

/// Where `word` ends, if it begins at `start` and is not the beginning of a longer one.
fn word_end(text: &str, start: usize, word: &str) -> Option<usize> {
    let mut end = start;
    for (place, piece) in word.split(' ').enumerate() {
        if place > 0 && matches!(at(text, end), b' ' | b'_' | b'-') {
            end += 1;
        }
        if !has_word(text, end, piece) {
            return None;
        }
        end += piece.len();
    }
    let next = at(text, end);
    let goes_on = next.is_ascii_alphanumeric() || matches!(next, b'_' | b'-') || next >= 0x80;
    // A full-width colon is no letter.
    (!goes_on || part(text, end, end + 3) == "：").then_some(end)
}

/// How the value of a word that ends at `end` is told, and where it begins.
fn told(text: &str, end: usize, weight: Weight) -> Option<(Told, usize)> {
    if let Some(found) = sign_at(text, end).or_else(|| is_at(text, end)) {
        return Some(found);
    }
    if weight == Weight::Weak || !begins_aside(text, end) {
        return None;
    }
    let near = text.as_bytes().get(end..)?;
    let near = near.get(..LONGEST_ASIDE).unwrap_or(near);
    let ends = near.iter().position(|byte| b".;!?\n\r".contains(byte));
    let aside = near.get(..ends.unwrap_or(near.len()))?;
    let spaces = aside.iter().enumerate().filter(|(_, byte)| **byte == b' ');
    spaces
        .filter_map(|(place, _)| is_at(text, end + place))
        .next()
        .or_else(|| {
            let colon = aside.windows(2).position(|pair| pair == b": ")?;
            sign_at(text, end + colon)
        })
}

/// `:`, `=`, `=>`, `:=` after the word, its quote and bracket.
fn sign_at(text: &str, end: usize) -> Option<(Told, usize)> {
    let mut at_sign = end;
    if matches!(at(text, at_sign), b'"' | b'\'' | b'`' | b'*') {
        at_sign = past(text, at_sign, |byte| {
            matches!(byte, b'"' | b'\'' | b'`' | b'*' | b']')
        });
    }
    at_sign = past_spaces(text, at_sign);
    if part(text, at_sign, at_sign + 3) == "：" {
        return Some((Told::Colon, past_spaces(text, at_sign + 3)));
    }
    let told = match at(text, at_sign) {
        b'=' => Told::Equals,
        b':' if at(text, at_sign + 1) == b'=' => Told::Equals,
        b':' => Told::Colon,
        _ => return None,
    };
    let value = past(text, at_sign, |byte| matches!(byte, b':' | b'=' | b'>'));
    Some((told, past_spaces(text, value)))
}

/// ` is `, ` was ` and the like after the word.
fn is_at(text: &str, end: usize) -> Option<(Told, usize)> {
    let said = ["is now ", "is: ", "is ", "was ", "will be "];
    let word = (at(text, end) == b' ').then(|| past_spaces(text, end))?;
    let said = said.into_iter().find(|said| has_word(text, word, said))?;
    Some((Told::Is, past_spaces(text, word + said.len())))
}

/// Whether a phrase follows that says what the secret is for.
fn begins_aside(text: &str, end: usize) -> bool {
    [" for ", " to ", " of ", " on ", " at ", " in "]
        .into_iter()
        .any(|word| has_word(text, end, word))
}

fn past_spaces(text: &str, from: usize) -> usize {
    past(text, from, |byte| matches!(byte, b' ' | b'\t'))
}
