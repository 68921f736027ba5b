//! Decodes a JSON string, and maps the positions in the decoded text to its source.

use std::{borrow::Cow, ops::Range};

use crate::slices::within;

/// A string of JSON without its escapes.
#[derive(Clone, Debug)]
pub(super) struct Decoded<'a> {
    text: Cow<'a, [u8]>,
    /// For each byte of the text: where its character or escape starts in the source. The last number is the end of the
    /// source. Empty if the string has no escapes.
    map: Vec<usize>,
    raw: Range<usize>,
}

impl<'a> Decoded<'a> {
    /// Decodes the string with these bytes between its quotes. An invalid escape decodes to the letter after its
    /// backslash.
    pub(super) fn of(body: &'a [u8], raw: Range<usize>) -> Self {
        let bytes = within(body, raw.clone());
        if !bytes.contains(&b'\\') {
            return Self {
                text: Cow::Borrowed(bytes),
                map: Vec::new(),
                raw,
            };
        }
        let mut text = Vec::with_capacity(bytes.len());
        let mut map = Vec::with_capacity(bytes.len() + 1);
        let mut at = 0;
        while at < bytes.len() {
            let (unit, length) = unit(within(bytes, at..));
            let mut buffer = [0; 4];
            let said: &[u8] = match &unit {
                Unit::Byte(byte) => std::slice::from_ref(byte),
                Unit::Char(letter) => letter.encode_utf8(&mut buffer).as_bytes(),
            };
            text.extend_from_slice(said);
            map.resize(text.len(), raw.start + at);
            at += length;
        }
        map.push(raw.end);
        Self {
            text: Cow::Owned(text),
            map,
            raw,
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the source of a range of the text; an escape is included whole.
    pub(super) fn raw(&self, part: Range<usize>) -> Range<usize> {
        if self.map.is_empty() {
            return self.raw.start + part.start..self.raw.start + part.end;
        }
        let place = |at: usize| self.map.get(at).copied().unwrap_or(self.raw.end);
        let last = place(part.end.saturating_sub(1));
        let rest = within(&self.map, part.end..);
        let end = rest.iter().find(|at| **at != last);
        place(part.start)..end.copied().unwrap_or(self.raw.end)
    }
}

enum Unit {
    Byte(u8),
    Char(char),
}

/// Returns the first byte or escape of a string, and its length in the source.
fn unit(bytes: &[u8]) -> (Unit, usize) {
    match bytes {
        [b'\\', b'u', ..] => match code(bytes) {
            Some(high @ 0xd800..0xdc00) => {
                let low = code(within(bytes, 6..));
                let Some(low @ 0xdc00..0xe000) = low else {
                    return (Unit::Char(char::REPLACEMENT_CHARACTER), 6);
                };
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                let letter = char::from_u32(code);
                (
                    Unit::Char(letter.unwrap_or(char::REPLACEMENT_CHARACTER)),
                    12,
                )
            }
            Some(code) => {
                let letter = char::from_u32(code);
                (Unit::Char(letter.unwrap_or(char::REPLACEMENT_CHARACTER)), 6)
            }
            None => (Unit::Byte(b'u'), 2),
        },
        [b'\\', letter, ..] => {
            let byte = match letter {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'b' => 8,
                b'f' => 12,
                other => *other,
            };
            (Unit::Byte(byte), 2)
        }
        [byte, ..] => (Unit::Byte(*byte), 1),
        [] => (Unit::Byte(0), 1),
    }
}

/// Parses the number of an escape such as `\u00e9` at the start of `bytes`.
fn code(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    let digits = digits.iter().map(|digit| char::from(*digit).to_digit(16));
    digits
        .into_iter()
        .try_fold(0, |code, digit| Some(code << 4 | digit?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_decoded_range_maps_back_to_its_source() {
        let body = br#""a\u00e9\ud83d\ude00\nb""#;
        let decoded = Decoded::of(body, 1..body.len() - 1);
        assert_eq!(decoded.text(), "a\u{e9}\u{1f600}\nb".as_bytes());
        assert_eq!(decoded.raw(0..1), 1..2);
        assert_eq!(decoded.raw(1..3), 2..8);
        assert_eq!(decoded.raw(1..2), 2..8);
        assert_eq!(decoded.raw(3..7), 8..20);
        assert_eq!(decoded.raw(7..9), 20..23);
    }

    #[test]
    fn half_an_escape_at_the_end_is_kept() {
        for raw in [
            &b"a\\"[..],
            b"a\\u",
            b"a\\u00",
            b"a\\ud83d",
            b"a\\ud83d\\u00",
        ] {
            let decoded = Decoded::of(raw, 0..raw.len());
            assert!(decoded.text().starts_with(b"a"));
            assert_eq!(decoded.raw(0..decoded.text().len()), 0..raw.len());
        }
    }

    proptest! {
        #[test]
        fn a_decoded_string_equals_the_original(text in any::<String>()) {
            let written = serde_json::to_string(&text).unwrap();
            let decoded = Decoded::of(written.as_bytes(), 1..written.len() - 1);
            prop_assert_eq!(decoded.text(), text.as_bytes());
        }
    }
}
