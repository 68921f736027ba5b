//! The subject of an order, so that a later order on the same subject can replace it.

use super::{OrderSubject, recognise::beginning, sentence::sentences};

/// Words that do not change the subject, such as words for how strongly or how often.
#[rustfmt::skip]
const PASSED_OVER: [&str; 60] = [
    "always", "never", "ever", "don't", "do", "not", "please", "from", "now", "on", "in", "future", "the", "going",
    "forward", "you", "must", "should", "shall", "have", "need", "to", "i", "want", "would", "i'd", "like", "love",
    "enjoy", "hate", "dislike", "adore", "loathe", "prefer", "rather", "really", "also", "usually", "generally",
    "still", "can't", "stand", "again", "anymore", "a", "an", "no", "more", "use", "using", "avoid", "stop", "skip",
    "can", "could", "thanks", "whenever", "so", "and", "any",
];

#[rustfmt::skip]
pub(super) const LANGUAGES: [&str; 26] = [
    "english", "german", "french", "spanish", "italian", "portuguese", "dutch", "polish", "czech", "russian",
    "ukrainian", "turkish", "arabic", "hebrew", "persian", "hindi", "chinese", "mandarin", "japanese", "korean",
    "vietnamese", "swedish", "danish", "norwegian", "finnish", "greek",
];

/// The subject of the first sentence of a text. It does not depend on whether something is wanted or not: `always
/// knock` and `never knock` have the same subject. `None` if no word is left.
///
/// Forms of address and languages are subjects of their own: `call me Al` and `call me Alice` have the same subject.
/// Otherwise two texts have the same subject if they contain the same words in any order.
#[must_use]
pub fn subject_of(text: &str) -> Option<OrderSubject> {
    let mut sentences = sentences(beginning(text)).filter(|sentence| !sentence.is_question);
    sentences.find_map(|sentence| of(&sentence.plain()))
}

pub(super) fn of(words: &[&str]) -> Option<OrderSubject> {
    let has = |pair: [&str; 2]| words.windows(2).any(|two| two == pair);
    let calls = ["call", "calls", "calling", "called", "address"];
    if calls.iter().any(|call| has([call, "me"]))
        || has(["be", "called"])
        || has(["go", "by"])
        || matches!(
            words,
            ["the", "name" | "name's", ..] | ["my", "name's", "not", ..]
        )
    {
        return OrderSubject::shortened("form of address");
    }
    if words
        .windows(2)
        .any(|two| matches!(two, ["in" | "speak", language] if LANGUAGES.contains(language)))
    {
        return OrderSubject::shortened("language");
    }
    if let ["my", "favourite" | "preferred", rest @ ..] = words {
        let of_what = rest
            .iter()
            .take_while(|word| !matches!(**word, "is" | "are"));
        let of_what: Vec<_> = of_what.copied().collect();
        return OrderSubject::shortened(&format!("favourite {}", of_what.join(" ")));
    }
    OrderSubject::shortened(&words_of(words).join(" "))
}

/// The words of a text that make its subject, in the order of the alphabet, each once.
pub(super) fn words_of(words: &[&str]) -> Vec<String> {
    let mut left: Vec<_> = words
        .iter()
        .filter(|word| !PASSED_OVER.contains(word))
        .map(|word| (*word).to_owned())
        .collect();
    left.sort_unstable();
    left.dedup();
    left
}
