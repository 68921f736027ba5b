//! Splits text into the terms that are compared.
//!
//! A term is a lower-case word without accents. A table of irregular English forms and the Snowball stemmer for English
//! reduce it to its base form; stop words are left out. Text in scripts without spaces between words becomes pairs of
//! neighbouring characters, and each emoji is a term. Numbers are words.

mod fold;
mod irregular;
mod stem;
mod stop;
mod words;

use std::ops::ControlFlow;

pub(crate) use stem::Analyser;
pub(crate) use stop::is_stop_word;
pub(crate) use words::each_word;

/// The terms of `text` in order, without stop words.
///
/// ```
/// use dormouse_retrieval::terms;
///
/// assert_eq!(terms("Alice bought the kettles' lids"), ["alic", "buy", "kettl", "lid"]);
/// assert_eq!(terms("東京へ 🍵"), ["東京", "京へ", "🍵"]);
/// ```
#[must_use]
pub fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Analyser::new().each_term(text, |term| {
        terms.push(term.to_owned());
        ControlFlow::Continue(())
    });
    terms
}

#[cfg(test)]
mod tests;
