//! A short, printable piece of a text that may be long and hostile.

use std::fmt::{self, Write};

/// The beginning of a text, at most [`Excerpt::LIMIT`] bytes of it, ending in `…` where it was cut. Control
/// characters, and the invisible ones that reorder or hide text, are escaped as in Rust (`\n`, `\u{202e}`).
#[derive(Clone, PartialEq, Eq)]
pub struct Excerpt(Box<str>);

impl Excerpt {
    /// The most bytes an excerpt has, the mark of the cut included.
    pub const LIMIT: usize = 160;

    /// Takes the beginning of what `text` displays. What comes after the limit is not even formatted.
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

/// Collects text up to a limit in bytes, escaping as it goes, and refuses everything after that.
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

    /// Adds what fits of `piece`.
    pub(crate) fn write(&mut self, piece: fmt::Arguments<'_>) {
        // An error of the piece itself leaves the text as short as an overflow does.
        self.cut |= self.write_fmt(piece).is_err();
    }

    /// How many bytes can still be added, with room left to mark a cut.
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
        let width = if is_shown(c) {
            c.len_utf8()
        } else {
            c.escape_default().len()
        };
        if width > self.room() {
            self.cut = true;
            return Err(fmt::Error);
        }
        if is_shown(c) {
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

fn is_shown(c: char) -> bool {
    !c.is_control()
        && !matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests;
