//! Patterns: regular expressions over bytes.

use std::{ops::Range, sync::OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use crate::bytes::at;

/// A regular expression over bytes with ASCII classes, compiled at its first use.
pub(crate) struct Pattern {
    source: &'static str,
    regex: OnceLock<Regex>,
}

impl Pattern {
    pub(crate) const fn new(source: &'static str) -> Self {
        Self {
            source,
            regex: OnceLock::new(),
        }
    }

    #[cfg(test)]
    pub(crate) fn source(&self) -> &str {
        self.source
    }

    pub(crate) fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| compile(self.source))
    }

    /// Returns all matches in order, without overlaps.
    pub(crate) fn all<'a>(&'a self, text: &'a [u8]) -> regex::bytes::Matches<'a, 'a> {
        self.regex().find_iter(text)
    }
}

/// Compiles a pattern of this crate.
#[expect(
    clippy::expect_used,
    reason = "the patterns are constants, and a test compiles each of them"
)]
pub(crate) fn compile(source: &str) -> Regex {
    let mut builder = RegexBuilder::new(source);
    builder
        .unicode(false)
        .build()
        .expect("the pattern of a rule is valid")
}

/// Matches before a word: the start of the text, or a character other than a letter or digit.
pub(crate) const BOUNDARY: &str = "(?:^|[^A-Za-z0-9])";

/// Removes the character of [`BOUNDARY`].
pub(crate) fn behind_boundary(text: &[u8], whole: Range<usize>) -> Range<usize> {
    let sign = usize::from(!at(text, whole.start).is_ascii_alphanumeric());
    whole.start + sign..whole.end
}
