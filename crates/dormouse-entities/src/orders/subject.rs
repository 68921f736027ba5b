//! What an order is about, so that a later one about the same can take its place.

use super::{
    Subject,
    recognise::beginning,
    sentence::{Sentence, statements},
};

/// Words that change nothing about the subject: how, how strongly, how often.
const PASSED_OVER: [&str; 46] = [
    "always",
    "never",
    "ever",
    "don't",
    "do",
    "not",
    "please",
    "from",
    "now",
    "on",
    "in",
    "future",
    "the",
    "going",
    "forward",
    "you",
    "must",
    "should",
    "shall",
    "have",
    "need",
    "to",
    "i",
    "want",
    "would",
    "i'd",
    "like",
    "love",
    "enjoy",
    "hate",
    "dislike",
    "adore",
    "loathe",
    "prefer",
    "rather",
    "really",
    "also",
    "usually",
    "generally",
    "still",
    "can't",
    "stand",
    "again",
    "anymore",
    "a",
    "an",
];

const LANGUAGES: [&str; 26] = [
    "english",
    "german",
    "french",
    "spanish",
    "italian",
    "portuguese",
    "dutch",
    "polish",
    "czech",
    "russian",
    "ukrainian",
    "turkish",
    "arabic",
    "hebrew",
    "persian",
    "hindi",
    "chinese",
    "mandarin",
    "japanese",
    "korean",
    "vietnamese",
    "swedish",
    "danish",
    "norwegian",
    "finnish",
    "greek",
];

/// What the first statement of a text is about, in words that do not depend on whether it is wanted or not: `always
/// knock` and `never knock` are about the same. Nothing where no word is left.
///
/// How to address somebody, and in which language, are subjects of their own: `call me Al` and `call me Alice` are about
/// the same. Otherwise two texts are about the same if they use the same words, in whatever order.
#[must_use]
pub fn subject_of(text: &str) -> Option<Subject> {
    statements(beginning(text)).find_map(|sentence| of(&sentence))
}

pub(super) fn of(sentence: &Sentence<'_>) -> Option<Subject> {
    let words: Vec<&str> = sentence.words.iter().map(String::as_str).collect();
    let has = |pair: [&str; 2]| words.windows(2).any(|two| two == pair);
    if has(["call", "me"]) || has(["calling", "me"]) || has(["address", "me"]) {
        return Subject::shortened("form of address");
    }
    if words
        .windows(2)
        .any(|two| matches!(two, ["in" | "speak", language] if LANGUAGES.contains(language)))
    {
        return Subject::shortened("language");
    }
    if let ["my", "favourite" | "favorite" | "preferred", rest @ ..] = words.as_slice() {
        let of_what = rest
            .iter()
            .take_while(|word| !matches!(**word, "is" | "are"));
        let of_what: Vec<_> = of_what.copied().collect();
        return Subject::shortened(&format!("favourite {}", of_what.join(" ")));
    }
    let mut left: Vec<_> = words
        .into_iter()
        .filter(|word| !PASSED_OVER.contains(word))
        .collect();
    left.sort_unstable();
    left.dedup();
    Subject::shortened(&left.join(" "))
}
