//! Reduces words to terms.

use std::{borrow::Cow, fmt, ops::ControlFlow};

use rust_stemmers::{Algorithm, Stemmer};

use super::{each_word, irregular, stop};

/// Turns text into terms.
pub(crate) struct Analyser {
    stemmer: Stemmer,
}

/// A stemmer holds nothing but its algorithm, and cannot be cloned.
impl Clone for Analyser {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl Analyser {
    pub(crate) fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
        }
    }

    /// Calls `each` with every term of `text` in order, until `each` breaks.
    pub(crate) fn each_term(&self, text: &str, mut each: impl FnMut(&str) -> ControlFlow<()>) {
        let _all_or_stopped = each_word(text, |word| {
            self.with_term_of_word(word, &mut each)
                .unwrap_or(ControlFlow::Continue(()))
        });
    }

    /// Calls `each` with the term of one folded word, unless it is a stop word.
    pub(crate) fn with_term_of_word<T>(
        &self,
        word: &str,
        each: impl FnOnce(&str) -> T,
    ) -> Option<T> {
        if stop::is_stop_word(word) {
            return None;
        }
        Some(each(&self.base_form(word)))
    }

    /// The base form of one folded word.
    pub(crate) fn base_form<'a>(&self, word: &'a str) -> Cow<'a, str> {
        let word = irregular::base_form(word).unwrap_or(word);
        self.stemmer.stem(word)
    }
}

impl fmt::Debug for Analyser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Analyser").finish_non_exhaustive()
    }
}
