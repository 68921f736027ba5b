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
pub use stop::is_stop_word;
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

/// The words of `text` in order, in lower case without accents, common words included. "Alice's" is `alice`. Text in
/// scripts without spaces between words becomes pairs of neighbouring characters.
///
/// ```
/// assert_eq!(dormouse_retrieval::words("Zoë's tea, at 5"), ["zoe", "tea", "at", "5"]);
/// ```
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let _all = each_word(text, |word| {
        words.push(word.to_owned());
        ControlFlow::Continue(())
    });
    words
}

/// The base form of a word that [`words`] returned: its English irregular form or stem. Words of other languages change
/// little.
///
/// ```
/// assert_eq!(dormouse_retrieval::base_form("bought"), "buy");
/// assert_eq!(dormouse_retrieval::base_form("horses"), dormouse_retrieval::base_form("horse"));
/// ```
#[must_use]
pub fn base_form(word: &str) -> String {
    Analyser::new().base_form(word).into_owned()
}

#[cfg(test)]
mod tests;
