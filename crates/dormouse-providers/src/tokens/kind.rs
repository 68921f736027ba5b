//! Kinds of characters that take different numbers of tokens.

/// The kind of a character. It also depends on the character before, because vocabularies have tokens for whole words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Kind {
    /// The first letter of a word.
    Word,
    /// Another lower-case letter.
    Letter,
    /// A capital letter within a word.
    Capital,
    /// A Latin letter beyond ASCII.
    Accented,
    /// A digit.
    Digit,
    /// A space or tab after something else: usually part of the next word.
    Space,
    /// Another space or tab, as in indented code.
    Indent,
    /// The first newline in a row.
    Line,
    /// Another newline.
    EmptyLine,
    /// The first ASCII punctuation mark in a row.
    Mark,
    /// Another punctuation mark.
    Marks,
    /// A Chinese character.
    Han,
    /// Hiragana and katakana.
    Kana,
    /// A Korean syllable.
    Hangul,
    /// A Cyrillic letter.
    Cyrillic,
    /// A Greek letter.
    Greek,
    /// An Arabic letter.
    Arabic,
    /// A Hebrew letter.
    Hebrew,
    /// Punctuation beyond ASCII: dashes, quotes, full-width forms.
    WideMark,
    /// Any other script.
    Other,
    /// Emoji and everything else beyond the basic plane.
    Beyond,
}

impl Kind {
    /// The number of kinds.
    pub(super) const COUNT: usize = Self::Beyond as usize + 1;

    /// Returns the kind of `c` after the character `before`. At the start of a text, pass a newline as `before`.
    pub(super) fn of(before: char, c: char) -> Self {
        match c {
            'a'..='z' if before.is_alphabetic() => Self::Letter,
            'A'..='Z' if before.is_alphabetic() => Self::Capital,
            'a'..='z' | 'A'..='Z' => Self::Word,
            '0'..='9' => Self::Digit,
            ' ' | '\t' if matches!(before, ' ' | '\t') => Self::Indent,
            ' ' | '\t' => Self::Space,
            '\n' | '\r' if matches!(before, '\n' | '\r') => Self::EmptyLine,
            '\n' | '\r' => Self::Line,
            _ if c.is_ascii() && before.is_ascii_punctuation() => Self::Marks,
            _ if c.is_ascii() => Self::Mark,
            _ => Self::beyond_ascii(c),
        }
    }

    fn beyond_ascii(c: char) -> Self {
        match u32::from(c) {
            0x00c0..0x0250 | 0x1e00..0x1f00 => Self::Accented,
            0x0370..0x0400 | 0x1f00..0x2000 => Self::Greek,
            0x0400..0x0530 => Self::Cyrillic,
            0x0590..0x0600 => Self::Hebrew,
            0x0600..0x0780 | 0xfb50..0xfe00 => Self::Arabic,
            0x0080..0x00c0 | 0x2000..0x2070 | 0x3000..0x3040 | 0xff00..0xff66 => Self::WideMark,
            0x3040..0x3100 | 0xff66..0xffa0 => Self::Kana,
            0x3400..0xa000 | 0xf900..0xfb00 => Self::Han,
            0xac00..0xd7b0 => Self::Hangul,
            0x1_0000.. => Self::Beyond,
            _ => Self::Other,
        }
    }
}
