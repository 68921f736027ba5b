//! Texts with a length limit, so that input from outside can neither fill a row nor break a line.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a text is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextLineError {
    /// The text is blank.
    #[error("the text is empty")]
    Empty,
    /// The text is too long.
    #[error("the text has {length} characters; at most {limit} are allowed")]
    TooLong {
        /// Its length in characters.
        length: usize,
        /// The limit in characters.
        limit: usize,
    },
    /// The text contains a line break or a control character.
    #[error("the text contains the character {character:?}")]
    Character {
        /// The first such character.
        character: char,
    },
}

/// One line of text: 1 to `CHARS` characters, not blank, without line breaks and control characters.
///
/// The content is stored unchanged; it is made safe when a prompt shows it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TextLine<const CHARS: usize>(Box<str>);

impl<const CHARS: usize> TextLine<CHARS> {
    /// The largest number of characters.
    pub const LIMIT: usize = CHARS;

    /// Accepts a text unchanged.
    ///
    /// # Errors
    ///
    /// [`TextLineError`] if the text is blank, too long, or not a single line.
    pub fn try_new(text: impl Into<Box<str>>) -> Result<Self, TextLineError> {
        let text = text.into();
        check(&text, CHARS, breaks_a_line)?;
        Ok(Self(text))
    }

    /// Makes a line of any text: white space becomes single spaces, control characters are dropped, and a long text is
    /// cut and ends in `…`. `None` if nothing is left. Takes time linear in the limit.
    #[must_use]
    pub fn shortened(text: &str) -> Option<Self> {
        let mut line = Shortened::new(CHARS);
        for c in text.chars() {
            let taken = if c.is_whitespace() {
                line.space()
            } else if breaks_a_line(c) {
                true
            } else {
                line.push(c)
            };
            if !taken {
                break;
            }
        }
        line.finish().map(Self)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A message of a conversation: 1 to [`Passage::LIMIT`] characters, not blank. Line breaks and tabs are allowed, other
/// control characters are not.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Passage(Box<str>);

impl Passage {
    /// The largest number of characters.
    pub const LIMIT: usize = 4_000;

    /// Accepts a text unchanged.
    ///
    /// # Errors
    ///
    /// [`TextLineError`] if the text is blank, too long, or contains a control character other than line feed and tab.
    pub fn try_new(text: impl Into<Box<str>>) -> Result<Self, TextLineError> {
        let text = text.into();
        check(&text, Self::LIMIT, is_unprintable)?;
        Ok(Self(text))
    }

    /// Makes a passage of any text: control characters other than line feed and tab are dropped, and a long text is cut
    /// and ends in `…`. `None` if nothing is left.
    #[must_use]
    pub fn shortened(text: &str) -> Option<Self> {
        let mut passage = Shortened::new(Self::LIMIT);
        for c in text.trim().chars().filter(|c| !is_unprintable(*c)) {
            if !passage.push(c) {
                break;
            }
        }
        passage.finish().map(Self)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check(text: &str, limit: usize, is_refused: fn(char) -> bool) -> Result<(), TextLineError> {
    if text.trim().is_empty() {
        return Err(TextLineError::Empty);
    }
    // A character has at most four bytes, so characters must be counted only near the limit.
    let length = if text.len() <= limit {
        text.len()
    } else {
        text.chars().count()
    };
    if length > limit {
        return Err(TextLineError::TooLong { length, limit });
    }
    match text.chars().find(|c| is_refused(*c)) {
        Some(character) => Err(TextLineError::Character { character }),
        None => Ok(()),
    }
}

fn breaks_a_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

fn is_unprintable(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

struct Shortened {
    text: String,
    chars: usize,
    limit: usize,
    space: bool,
}

impl Shortened {
    fn new(limit: usize) -> Self {
        Self {
            text: String::new(),
            chars: 0,
            limit,
            space: false,
        }
    }

    /// Adds a space before the next character.
    fn space(&mut self) -> bool {
        self.space = !self.text.is_empty();
        true
    }

    /// Returns `false` when no room is left.
    fn push(&mut self, c: char) -> bool {
        let wanted = 1 + usize::from(self.space);
        if self.chars + wanted > self.limit {
            if self.chars == self.limit {
                self.text.pop();
            }
            self.text.push('…');
            return false;
        }
        if std::mem::take(&mut self.space) {
            self.text.push(' ');
        }
        self.text.push(c);
        self.chars += wanted;
        true
    }

    fn finish(self) -> Option<Box<str>> {
        (!self.text.trim().is_empty()).then(|| self.text.into_boxed_str())
    }
}

impl<const CHARS: usize> TryFrom<String> for TextLine<CHARS> {
    type Error = TextLineError;
    fn try_from(text: String) -> Result<Self, TextLineError> {
        Self::try_new(text)
    }
}

impl<const CHARS: usize> From<TextLine<CHARS>> for String {
    fn from(line: TextLine<CHARS>) -> String {
        line.0.into_string()
    }
}

impl<const CHARS: usize> fmt::Display for TextLine<CHARS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<const CHARS: usize> fmt::Debug for TextLine<CHARS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TextLine({:?})", self.0)
    }
}

impl TryFrom<String> for Passage {
    type Error = TextLineError;
    fn try_from(text: String) -> Result<Self, TextLineError> {
        Self::try_new(text)
    }
}

impl From<Passage> for String {
    fn from(passage: Passage) -> String {
        passage.0.into_string()
    }
}

impl fmt::Debug for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Passage({:?})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_that_does_not_fit_says_why() {
        assert_eq!(TextLine::<3>::try_new(" "), Err(TextLineError::Empty));
        assert_eq!(
            TextLine::<3>::try_new("äöüß"),
            Err(TextLineError::TooLong {
                length: 4,
                limit: 3
            })
        );
        assert_eq!(
            TextLine::<3>::try_new("a\nb"),
            Err(TextLineError::Character { character: '\n' })
        );
        assert!(
            TextLine::<3>::try_new("äöü").is_ok(),
            "characters, not bytes"
        );
        assert!(Passage::try_new("a\nb").is_ok());
        assert!(Passage::try_new("a\u{1b}[2J").is_err());
        assert!(serde_json::from_str::<TextLine<3>>("\"abcd\"").is_err());
    }

    #[test]
    fn shortening_says_that_something_is_missing() {
        let line = |text| TextLine::<5>::shortened(text).map(String::from);
        assert_eq!(line(" ab\r\n cd "), Some("ab cd".to_owned()));
        assert_eq!(line("abcdef"), Some("abcd…".to_owned()));
        assert_eq!(line("abcd ef"), Some("abcd…".to_owned()));
        assert_eq!(line("\u{7}\u{0}"), None);
    }

    proptest! {
        #[test]
        fn a_shortened_text_is_always_a_valid_line(text in "\\PC{0,40}|[\\x00-\\x7f\u{2028}]{0,40}") {
            if let Some(line) = TextLine::<16>::shortened(&text) {
                prop_assert_eq!(TextLine::<16>::try_new(line.as_str()).unwrap(), line);
            }
            if let Some(passage) = Passage::shortened(&text) {
                prop_assert_eq!(Passage::try_new(passage.as_str()).unwrap(), passage);
            }
        }
    }
}
