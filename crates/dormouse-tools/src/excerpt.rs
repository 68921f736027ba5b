//! A short, printable excerpt of a text that may be long and hostile.

use std::fmt::{self, Write};

use dormouse_text::is_hidden;

/// The start of a text, at most [`Excerpt::LIMIT`] bytes. A shortened text ends in `…`. Hidden characters are escaped
/// as in Rust (`\n`, `\u{202e}`).
#[derive(Clone, PartialEq, Eq)]
pub struct Excerpt(Box<str>);

impl Excerpt {
    /// The largest length of an excerpt in bytes, including the `…`.
    pub const LIMIT: usize = 160;

    /// Takes the start of the text that `text` displays. Formatting stops at the limit.
    #[must_use]
    pub fn of(text: impl fmt::Display) -> Self {
        let mut bounded = Bounded::new(Self::LIMIT);
        bounded.write(format_args!("{text}"));
        Self(bounded.finish().into())
    }

    /// The excerpt as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Excerpt({})", self.0)
    }
}

const CUT: &str = "…";

/// Collects and escapes text up to a limit in bytes; everything after the limit is rejected.
pub(crate) struct Bounded {
    text: String,
    limit: usize,
    cut: bool,
}

impl Bounded {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            text: String::new(),
            limit,
            cut: false,
        }
    }

    /// Adds as much of `piece` as fits.
    pub(crate) fn write(&mut self, piece: fmt::Arguments<'_>) {
        // A formatting error shortens the text, as reaching the limit does.
        self.cut |= self.write_fmt(piece).is_err();
    }

    /// How many bytes still fit, with room reserved for the `…`.
    pub(crate) fn room(&self) -> usize {
        if self.cut {
            return 0;
        }
        self.limit
            .saturating_sub(CUT.len())
            .saturating_sub(self.text.len())
    }

    pub(crate) fn finish(mut self) -> String {
        if self.cut {
            self.text.push_str(CUT);
        }
        self.text
    }

    fn push(&mut self, c: char) -> fmt::Result {
        let width = if !is_hidden(c) {
            c.len_utf8()
        } else {
            c.escape_default().len()
        };
        if width > self.room() {
            self.cut = true;
            return Err(fmt::Error);
        }
        if !is_hidden(c) {
            self.text.push(c);
        } else {
            self.text.extend(c.escape_default());
        }
        Ok(())
    }
}

impl Write for Bounded {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        piece.chars().try_for_each(|c| self.push(c))
    }
}

#[cfg(test)]
mod tests;
