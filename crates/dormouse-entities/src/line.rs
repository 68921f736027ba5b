//! Texts with a bound, so that nothing that comes from outside can fill a row or break a line.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a text is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// There is nothing but white space in it.
    #[error("the text is empty")]
    Empty,
    /// It is too long.
    #[error("the text has {length} characters; at most {limit} are allowed")]
    TooLong {
        /// Its length in characters.
        length: usize,
        /// The most that is allowed, in characters.
        limit: usize,
    },
    /// It holds a line break or a control character.
    #[error("the text contains the character {character:?}")]
    Character {
        /// The first such character.
        character: char,
    },
}

/// One line of text: 1 to `CHARS` characters, not blank, without line breaks and control characters.
///
/// What it *says* is kept as it came; a prompt takes further precautions when it shows it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Line<const CHARS: usize>(Box<str>);

impl<const CHARS: usize> Line<CHARS> {
    /// The most characters it may have.
    pub const LIMIT: usize = CHARS;

    /// Takes a text as it is.
    ///
    /// # Errors
    ///
    /// [`LineError`] if it is blank, too long, or no single line.
    pub fn try_new(text: impl Into<Box<str>>) -> Result<Self, LineError> {
        let text = text.into();
        check(&text, CHARS, breaks_a_line)?;
        Ok(Self(text))
    }

    /// Makes a line of any text: white space of every kind becomes one space, control characters are left out, and what
    /// is too long is cut and ends in `…`. Nothing if nothing is left. Takes time in proportion to the bound.
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

/// What was said in a conversation: 1 to [`Passage::LIMIT`] characters, not blank; line breaks and tabs are kept, other
/// control characters are not allowed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Passage(Box<str>);

impl Passage {
    /// The most characters it may have.
    pub const LIMIT: usize = 4_000;

    /// Takes a text as it is.
    ///
    /// # Errors
    ///
    /// [`LineError`] if it is blank, too long, or holds a control character other than line feed and tab.
    pub fn try_new(text: impl Into<Box<str>>) -> Result<Self, LineError> {
        let text = text.into();
        check(&text, Self::LIMIT, is_unprintable)?;
        Ok(Self(text))
    }

    /// Makes a passage of any text: control characters other than line feed and tab are left out, and what is too long
    /// is cut and ends in `…`. Nothing if nothing is left.
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

fn check(text: &str, limit: usize, is_refused: fn(char) -> bool) -> Result<(), LineError> {
    if text.trim().is_empty() {
        return Err(LineError::Empty);
    }
    // A character has at most four bytes, so the count is only needed near the bound.
    let length = if text.len() <= limit {
        text.len()
    } else {
        text.chars().count()
    };
    if length > limit {
        return Err(LineError::TooLong { length, limit });
    }
    match text.chars().find(|c| is_refused(*c)) {
        Some(character) => Err(LineError::Character { character }),
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

    /// A space, if something follows.
    fn space(&mut self) -> bool {
        self.space = !self.text.is_empty();
        true
    }

    /// False once there is no room.
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

impl<const CHARS: usize> TryFrom<String> for Line<CHARS> {
    type Error = LineError;
    fn try_from(text: String) -> Result<Self, LineError> {
        Self::try_new(text)
    }
}

impl<const CHARS: usize> From<Line<CHARS>> for String {
    fn from(line: Line<CHARS>) -> String {
        line.0.into_string()
    }
}

impl<const CHARS: usize> fmt::Display for Line<CHARS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<const CHARS: usize> fmt::Debug for Line<CHARS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Line({:?})", self.0)
    }
}

impl TryFrom<String> for Passage {
    type Error = LineError;
    fn try_from(text: String) -> Result<Self, LineError> {
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
        assert_eq!(Line::<3>::try_new(" "), Err(LineError::Empty));
        assert_eq!(
            Line::<3>::try_new("äöüß"),
            Err(LineError::TooLong {
                length: 4,
                limit: 3
            })
        );
        assert_eq!(
            Line::<3>::try_new("a\nb"),
            Err(LineError::Character { character: '\n' })
        );
        assert!(Line::<3>::try_new("äöü").is_ok(), "characters, not bytes");
        assert!(Passage::try_new("a\nb").is_ok());
        assert!(Passage::try_new("a\u{1b}[2J").is_err());
        assert!(serde_json::from_str::<Line<3>>("\"abcd\"").is_err());
    }

    #[test]
    fn shortening_says_that_something_is_missing() {
        let line = |text| Line::<5>::shortened(text).map(String::from);
        assert_eq!(line(" ab\r\n cd "), Some("ab cd".to_owned()));
        assert_eq!(line("abcdef"), Some("abcd…".to_owned()));
        assert_eq!(line("abcd ef"), Some("abcd…".to_owned()));
        assert_eq!(line("\u{7}\u{0}"), None);
    }

    proptest! {
        #[test]
        fn whatever_is_shortened_is_always_a_valid_line(text in "\\PC{0,40}|[\\x00-\\x7f\u{2028}]{0,40}") {
            if let Some(line) = Line::<16>::shortened(&text) {
                prop_assert_eq!(Line::<16>::try_new(line.as_str()).unwrap(), line);
            }
            if let Some(passage) = Passage::shortened(&text) {
                prop_assert_eq!(Passage::try_new(passage.as_str()).unwrap(), passage);
            }
        }
    }
}
