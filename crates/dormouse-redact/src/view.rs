//! A text without its escapes, hidden characters or line ends, with a map to its source.

use std::{borrow::Cow, ops::Range};

use crate::{
    Match,
    bytes::{at, before, past},
};

/// A decoded text with a map to its source.
pub(crate) struct View {
    text: Vec<u8>,
    /// The source range of each byte.
    origins: Vec<(usize, usize)>,
}

/// The shortest part of a wrapped key on the second line, in bytes.
const SHORTEST_REST: usize = 8;
/// Invisible characters that Unicode counts as letters: the Hangul fillers.
const FILLERS: [char; 4] = ['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}'];

impl View {
    /// Decodes the escapes of JSON and URLs, and removes invisible characters. Returns `None` if that does not change
    /// the text.
    pub(crate) fn decoded(text: &[u8]) -> Option<Self> {
        let is_plain = |byte: &u8| {
            matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r') && !matches!(byte, b'\\' | b'%')
        };
        if text.iter().all(is_plain) {
            return None;
        }
        let mut view = Self::with_capacity(text.len());
        let mut from = 0;
        let mut is_same = true;
        while from < text.len() {
            let rest = text.get(from..).unwrap_or_default();
            let unit = Unit::of(rest, view.text.last());
            is_same &= unit.is_plain;
            view.push(&unit.says, from, from + unit.length);
            from += unit.length;
        }
        (!is_same).then_some(view)
    }

    /// Decodes this view once more. The new view maps to the source of this one.
    pub(crate) fn decoded_again(&self) -> Option<Self> {
        let mut again = Self::decoded(&self.text)?;
        for (start, end) in &mut again.origins {
            let first = self.origins.get(*start);
            let last = self.origins.get(end.saturating_sub(1));
            *start = first.map_or(0, |origin| origin.0);
            *end = last.map_or(0, |origin| origin.1);
        }
        Some(again)
    }

    fn with_capacity(length: usize) -> Self {
        Self {
            text: Vec::with_capacity(length),
            origins: Vec::with_capacity(length),
        }
    }

    fn push(&mut self, says: &[u8], start: usize, end: usize) {
        self.text.extend_from_slice(says);
        self.origins.resize(self.text.len(), (start, end));
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Adds the matches in this view, mapped to the source.
    pub(crate) fn translate(&self, inside: &[Match], found: &mut Vec<Match>) {
        let translated: Vec<Match> = inside.iter().filter_map(|one| self.origin(one)).collect();
        for one in found.iter_mut() {
            self.keep_escapes_whole(&mut one.range, &translated);
        }
        found.retain(|one| !one.range.is_empty());
        found.extend(translated);
    }

    fn origin(&self, one: &Match) -> Option<Match> {
        let start = self.origins.get(one.range.start)?.0;
        let end = self.origins.get(one.range.end.checked_sub(1)?)?.1;
        Some(Match {
            range: start..end,
            kind: one.kind,
            known: one.known,
        })
    }

    /// Extends a match that starts or ends inside an escape, so that the mask does not cut the escape in half. If a
    /// match of this view starts between the start of the escape and the end of the range, the range starts there
    /// instead.
    fn keep_escapes_whole(&self, range: &mut Range<usize>, translated: &[Match]) {
        if let Some(escape) = self.escape_around(range.start) {
            let real = translated
                .iter()
                .map(|one| one.range.start)
                .filter(|start| (escape.start..range.end).contains(start))
                .min();
            range.start = real.unwrap_or(escape.start);
        }
        if let Some(escape) = self.escape_around(range.end) {
            range.end = escape.end;
        }
    }

    /// Returns the escape around `place`.
    fn escape_around(&self, place: usize) -> Option<Range<usize>> {
        let next = self.origins.partition_point(|origin| origin.0 < place);
        let (start, end) = *self.origins.get(next.checked_sub(1)?)?;
        (place < end).then_some(start..end)
    }
}

/// A character, or its escape.
struct Unit<'a> {
    says: Cow<'a, [u8]>,
    length: usize,
    is_plain: bool,
}

impl<'a> Unit<'a> {
    /// Returns the first unit of `rest`, which follows the byte `last`.
    fn of(rest: &'a [u8], last: Option<&u8>) -> Self {
        if let Some((letter, length)) = escaped(rest) {
            return Self {
                says: match letter {
                    Escaped::Byte(byte) => Cow::Owned(vec![byte]),
                    Escaped::Char(letter) if is_hidden(letter) => Cow::Borrowed(&[]),
                    Escaped::Char(letter) => {
                        Cow::Owned(letter.encode_utf8(&mut [0; 4]).as_bytes().to_vec())
                    }
                },
                length,
                is_plain: false,
            };
        }
        let (letter, length) = first_char(rest);
        // A character next to a space, such as a dash in prose, does not hide inside a key.
        let is_space = |byte: u8| byte == 0 || byte.is_ascii_whitespace();
        let is_apart = last.is_none_or(|last| is_space(*last)) || is_space(at(rest, length));
        let is_plain = is_apart || !letter.is_some_and(is_hidden);
        let says = if is_plain { rest.get(..length) } else { None };
        Self {
            says: Cow::Borrowed(says.unwrap_or_default()),
            length,
            is_plain,
        }
    }
}

enum Escaped {
    Byte(u8),
    Char(char),
}

/// Returns the first escape of `rest`, and its length.
fn escaped(rest: &[u8]) -> Option<(Escaped, usize)> {
    match rest {
        [b'%', high, low, ..] => Some((Escaped::Byte(hex(*high)? << 4 | hex(*low)?), 3)),
        [b'\\', b'u', ..] => unicode_escape(rest),
        [b'\\', letter, ..] => {
            let byte = match letter {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'"' | b'\\' | b'/' => *letter,
                _ => return None,
            };
            Some((Escaped::Byte(byte), 2))
        }
        _ => None,
    }
}

fn unicode_escape(rest: &[u8]) -> Option<(Escaped, usize)> {
    let code = |from: usize| -> Option<u32> {
        let digits = rest.get(from..from + 6)?.strip_prefix(b"\\u")?;
        digits
            .iter()
            .try_fold(0, |code, digit| Some(code << 4 | u32::from(hex(*digit)?)))
    };
    match code(0)? {
        high @ 0xd800..0xdc00 => {
            let low = code(6).filter(|low| (0xdc00..0xe000).contains(low))?;
            let letter = char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))?;
            Some((Escaped::Char(letter), 12))
        }
        code => Some((Escaped::Char(char::from_u32(code)?), 6)),
    }
}

fn hex(digit: u8) -> Option<u8> {
    let digit = char::from(digit).to_digit(16)?;
    u8::try_from(digit).ok()
}

/// Returns the first character of `rest`, and its length; an invalid byte has length 1.
fn first_char(rest: &[u8]) -> (Option<char>, usize) {
    let first = at(rest, 0);
    if first.is_ascii() {
        return (Some(char::from(first)), 1);
    }
    let near = rest.get(..4).unwrap_or(rest);
    let valid = near.utf8_chunks().next();
    let letter = valid.and_then(|chunk| chunk.valid().chars().next());
    (letter, letter.map_or(1, char::len_utf8))
}

/// Whether a character may hide inside a key: anything but printable ASCII, and letters, digits and spaces of any
/// script.
///
/// That includes visible characters. This causes no false alarms, because the rest must still match as a key.
fn is_hidden(letter: char) -> bool {
    match letter {
        '\t' | '\n' | '\r' | ' '..='~' => false,
        letter if letter.is_ascii() => true,
        letter => {
            !(letter.is_alphanumeric() || letter.is_whitespace()) || FILLERS.contains(&letter)
        }
    }
}

/// Joins lines that may wrap a key: the next line has only characters of a key, among them a digit. Returns `None` if
/// there are no such lines.
pub(crate) fn joined(text: &[u8]) -> Option<View> {
    let mut gaps = Vec::new();
    let mut from = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let end = from + line.len() - 1;
        let line_end = if before(text, end) == b'\r' {
            end - 1
        } else {
            end
        };
        let next = past(text, end + 1, 8, |byte| matches!(byte, b' ' | b'\t'));
        let is_wrapped = at(text, end) == b'\n' && is_key_byte(before(text, line_end));
        if is_wrapped && is_rest(text, next) {
            gaps.push(line_end..next);
        }
        from = end + 1;
    }
    if gaps.is_empty() {
        return None;
    }
    let mut view = View::with_capacity(text.len());
    let mut done = 0;
    for gap in gaps.iter().chain([&(text.len()..text.len())]) {
        for place in done..gap.start {
            view.push(&[at(text, place)], place, place + 1);
        }
        done = gap.end.max(done);
    }
    Some(view)
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.+/=".contains(&byte)
}

fn is_rest(text: &[u8], start: usize) -> bool {
    let end = past(text, start, usize::MAX, is_key_byte);
    let rest = text.get(start..end).unwrap_or_default();
    let is_whole = matches!(at(text, end), 0 | b'\n' | b'\r' | b'"' | b'\'');
    is_whole && rest.len() >= SHORTEST_REST && rest.iter().any(u8::is_ascii_digit)
}
