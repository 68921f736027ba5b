//! The subject of an order, so that a later order on the same subject can replace it.

use super::{
    OrderSubject,
    recognise::beginning,
    sentence::{Sentence, statements},
};

/// Words that do not change the subject, such as words for how strongly or how often.
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

/// The subject of the first statement of a text. It does not depend on whether something is wanted or not: `always
/// knock` and `never knock` have the same subject. `None` if no word is left.
///
/// Forms of address and languages are subjects of their own: `call me Al` and `call me Alice` have the same subject.
/// Otherwise two texts have the same subject if they contain the same words in any order.
#[must_use]
pub fn subject_of(text: &str) -> Option<OrderSubject> {
    statements(beginning(text)).find_map(|sentence| of(&sentence))
}

pub(super) fn of(sentence: &Sentence<'_>) -> Option<OrderSubject> {
    let words: Vec<&str> = sentence.words.iter().map(String::as_str).collect();
    let has = |pair: [&str; 2]| words.windows(2).any(|two| two == pair);
    if has(["call", "me"]) || has(["calling", "me"]) || has(["address", "me"]) {
        return OrderSubject::shortened("form of address");
    }
    if words
        .windows(2)
        .any(|two| matches!(two, ["in" | "speak", language] if LANGUAGES.contains(language)))
    {
        return OrderSubject::shortened("language");
    }
    if let ["my", "favourite" | "favorite" | "preferred", rest @ ..] = words.as_slice() {
        let of_what = rest
            .iter()
            .take_while(|word| !matches!(**word, "is" | "are"));
        let of_what: Vec<_> = of_what.copied().collect();
        return OrderSubject::shortened(&format!("favourite {}", of_what.join(" ")));
    }
    let mut left: Vec<_> = words
        .into_iter()
        .filter(|word| !PASSED_OVER.contains(word))
        .collect();
    left.sort_unstable();
    left.dedup();
    OrderSubject::shortened(&left.join(" "))
}
