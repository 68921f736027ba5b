//! The words by which an entry is found.

use std::collections::BTreeSet;

use dormouse_retrieval::{is_stop_word, words};
use dormouse_text::beginning_bytes;

/// How much of a text is read, in bytes.
const READ: usize = 64 * 1024;

/// The words of a text without stop words, in lower case and without accents. Of a very long text, the first 64 KiB are read.
///
/// ```
/// let keywords = dormouse_journal::extract_keywords("The kettle is in the blue box");
/// assert!(keywords.iter().eq(["blue", "box", "kettle"]));
/// ```
#[must_use]
pub fn extract_keywords(text: &str) -> BTreeSet<String> {
    let words = words(beginning_bytes(text, READ)).into_iter();
    words.filter(|word| !is_stop_word(word)).collect()
}
