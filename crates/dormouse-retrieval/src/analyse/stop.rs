//! Words that are too common in English to distinguish texts.

/// Whether a word that [`words`](crate::words) returned is too common in English to be searched for.
///
/// ```
/// assert!(dormouse_retrieval::is_stop_word("the"));
/// assert!(!dormouse_retrieval::is_stop_word("kettle"));
/// ```
#[must_use]
pub fn is_stop_word(word: &str) -> bool {
    word.len() <= LONGEST && STOP_WORDS.binary_search(&word).is_ok()
}

const LONGEST: usize = 10;

/// The list is sorted, and includes the remains of contractions ("ll", "ve").
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "again", "against", "ain", "all", "also", "am", "an", "and", "any", "are", "aren", "as",
    "at", "be", "because", "been", "before", "being", "between", "both", "but", "by", "can", "cannot", "could",
    "couldn", "d", "did", "didn", "do", "does", "doesn", "doing", "don", "done", "down", "during", "each", "few",
    "for", "from", "had", "hadn", "has", "hasn", "have", "haven", "having", "he", "her", "here", "hers", "herself",
    "him", "himself", "his", "how", "i", "if", "in", "into", "is", "isn", "it", "its", "itself", "just", "ll", "m",
    "may", "me", "might", "mine", "more", "most", "must", "my", "myself", "no", "nor", "not", "of", "off", "on",
    "only", "onto", "or", "other", "our", "ours", "ourselves", "out", "over", "own", "re", "s", "same", "shall",
    "she", "should", "shouldn", "so", "some", "such", "t", "than", "that", "the", "their", "theirs", "them",
    "themselves", "then", "there", "these", "they", "this", "those", "to", "too", "until", "up", "us", "ve", "very",
    "was", "wasn", "we", "were", "weren", "what", "when", "where", "which", "while", "who", "whom", "whose", "why",
    "will", "with", "won", "would", "wouldn", "you", "your", "yours", "yourself", "yourselves",
];

#[cfg(test)]
pub(super) fn stop_words() -> &'static [&'static str] {
    STOP_WORDS
}
