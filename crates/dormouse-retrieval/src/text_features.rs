//! Properties of a text other than its terms.

use crate::dates::month_number;

/// The properties of a unit's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextFeatures(pub(crate) u16);

impl TextFeatures {
    /// The text ends with a question.
    pub(crate) const ASKS: Self = Self(1);
    /// The text names a time in words: "yesterday", "for two years", "in June".
    pub(crate) const NAMES_TIME: Self = Self(1 << 1);
    /// The text is in the first person.
    pub(crate) const FIRST_PERSON: Self = Self(1 << 2);

    /// Reads the properties of a text. Words after the first [`MOST_WORDS`] are ignored. A description in square
    /// brackets at the end is ignored too: chat exports describe pictures there, and no speaker said it.
    pub(crate) fn of(text: &str) -> Self {
        let text = without_description(text);
        let mut features = Self::default();
        if text.trim_end().ends_with(['?', '？', '؟']) {
            features.add(Self::ASKS);
        }
        let mut before = PreviousWords::default();
        for word in plain_words(text) {
            if FIRST_PERSON.contains(&word.as_str()) {
                features.add(Self::FIRST_PERSON);
            }
            if before.names_time_with(&word) {
                features.add(Self::NAMES_TIME);
            }
            before.push(word);
        }
        features
    }

    fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Whether this set contains `other`.
    #[inline]
    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Whether a text ends with a question.
///
/// ```
/// assert!(dormouse_retrieval::asks("Tea? [a photo of a kettle]"));
/// assert!(!dormouse_retrieval::asks("Tea? Yes."));
/// ```
#[must_use]
pub fn asks(text: &str) -> bool {
    TextFeatures::of(text).has(TextFeatures::ASKS)
}

fn without_description(text: &str) -> &str {
    let described = text.trim_end().strip_suffix(']');
    match described.and_then(|text| text.rsplit_once('[')) {
        Some((said, _)) if !said.trim().is_empty() => said,
        _ => text,
    }
}

/// Whether a question asks for a time.
pub(crate) fn asks_when(question: &str) -> bool {
    let words: Vec<String> = plain_words(question).collect();
    let pairs = words.iter().zip(words.iter().skip(1));
    words.iter().any(|word| word == "when")
        || pairs.into_iter().any(|(first, second)| {
            let (first, second) = (first.as_str(), second.as_str());
            match first {
                "what" => matches!(second, "date" | "day" | "month" | "year" | "time"),
                "which" => matches!(second, "date" | "day" | "month" | "year"),
                "how" => second == "long",
                _ => false,
            }
        })
}

/// Whom a question is about by its pronouns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Person {
    /// "I": the one who asks.
    Asker,
    /// "You": the one who is asked.
    Asked,
}

/// Whom a question is about: "What is my dog called?", "What did you suggest?". If it is about both, the one who did
/// something counts: "What did you tell me?" is about the one who is asked, "Do you remember what I said?" about the one
/// who asks.
pub(crate) fn person_of(question: &str) -> Option<Person> {
    let (mut asker, mut asked) = (false, false);
    let mut before = String::new();
    for word in plain_words(question) {
        let is_told = before == "you" && TOLD.contains(&word.as_str());
        if is_told || (word == "you" && ["did", "have"].contains(&before.as_str())) {
            return Some(Person::Asked);
        }
        asker |= FIRST_PERSON.contains(&word.as_str());
        asked |= SECOND_PERSON.contains(&word.as_str());
        before = word;
    }
    match (asker, asked) {
        (true, _) => Some(Person::Asker),
        (false, true) => Some(Person::Asked),
        (false, false) => None,
    }
}

/// What somebody did who told something.
const TOLD: [&str; 20] = [
    "advised",
    "called",
    "described",
    "did",
    "explained",
    "gave",
    "had",
    "listed",
    "made",
    "mentioned",
    "named",
    "offered",
    "promised",
    "proposed",
    "recommended",
    "said",
    "suggested",
    "told",
    "warned",
    "wrote",
];

const SECOND_PERSON: [&str; 4] = ["you", "your", "yours", "yourself"];

const FIRST_PERSON: [&str; 10] = [
    "i",
    "me",
    "mine",
    "my",
    "myself",
    "our",
    "ours",
    "ourselves",
    "us",
    "we",
];

/// The two words before the current one.
#[derive(Default)]
struct PreviousWords {
    last: String,
    one_earlier: String,
}

impl PreviousWords {
    fn push(&mut self, word: String) {
        self.one_earlier = std::mem::replace(&mut self.last, word);
    }

    /// Whether `word` names a time, alone or with the words before it.
    fn names_time_with(&self, word: &str) -> bool {
        let is_span = matches!(
            word,
            "day" | "days" | "week" | "weeks" | "month" | "months" | "year" | "years"
        );
        match word {
            "yesterday" | "today" | "tonight" | "tomorrow" | "last" | "next" | "ago" | "since"
            | "recently" | "weekend" | "monday" | "tuesday" | "wednesday" | "thursday"
            | "friday" | "saturday" | "sunday" => true,
            // Both are verbs more often than months.
            "may" | "march" => false,
            _ if self.last == "this" => matches!(
                word,
                "week"
                    | "month"
                    | "year"
                    | "morning"
                    | "summer"
                    | "spring"
                    | "fall"
                    | "autumn"
                    | "winter"
            ),
            _ if is_span => self.last == "for" || self.one_earlier == "for",
            _ => word.len() > 3 && word != "sept" && month_number(word).is_some(),
        }
    }
}

/// The words of a text in lower case. A contraction is cut at its apostrophe: "I'm" is "i".
fn plain_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '\u{2019}' | '\u{2018}')))
        .filter_map(|word| {
            word.split(['\'', '\u{2019}', '\u{2018}'])
                .find(|part| !part.is_empty())
        })
        .take(MOST_WORDS)
        .map(str::to_lowercase)
}

const MOST_WORDS: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::{Person, TextFeatures, asks_when, person_of};

    #[test]
    fn a_text_that_ends_with_a_question_mark_asks() {
        assert!(TextFeatures::of("Have you seen it? ").has(TextFeatures::ASKS));
        assert!(TextFeatures::of("茶は？").has(TextFeatures::ASKS));
        assert!(!TextFeatures::of("Have you? I have.").has(TextFeatures::ASKS));
    }

    #[test]
    fn the_description_of_a_picture_is_not_what_was_said() {
        let features = TextFeatures::of("Have you seen it? [a photo of my cat, yesterday]");
        assert_eq!(features, TextFeatures::ASKS);
        assert!(TextFeatures::of("[I saw it yesterday]").has(TextFeatures::NAMES_TIME));
    }

    #[test]
    fn times_in_words_are_noticed() {
        for text in [
            "I saw her yesterday",
            "Last week!",
            "this morning",
            "for years",
            "for two months",
            "In June we left",
            "since then",
            "on Friday",
        ] {
            assert!(
                TextFeatures::of(text).has(TextFeatures::NAMES_TIME),
                "{text}"
            );
        }
        for text in [
            "",
            "this is it",
            "you may march",
            "many years",
            "a dec",
            "three of us",
        ] {
            assert!(
                !TextFeatures::of(text).has(TextFeatures::NAMES_TIME),
                "{text}"
            );
        }
    }

    #[test]
    fn speaking_of_oneself_is_seen_in_contractions_too() {
        for text in [
            "I'm here",
            "that is mine",
            "It is OUR house",
            "we met \u{2018}I\u{2019}",
        ] {
            assert!(
                TextFeatures::of(text).has(TextFeatures::FIRST_PERSON),
                "{text}"
            );
        }
        assert!(!TextFeatures::of("she was in the house").has(TextFeatures::FIRST_PERSON));
    }

    #[test]
    fn a_question_is_about_the_one_who_did_something() {
        for text in [
            "What is my dog called?",
            "Where do I live",
            "Do you remember what I said about the kettle?",
            "Can you tell me how much I paid?",
            "What did I tell you about my sister?",
            "I've lost it: which box was ours?",
        ] {
            assert_eq!(person_of(text), Some(Person::Asker), "{text}");
        }
        for text in [
            "What did you suggest for my dinner?",
            "Can you remind me what you said about the kettle?",
            "Which book have you recommended to me?",
            "What is your favourite tea?",
        ] {
            assert_eq!(person_of(text), Some(Person::Asked), "{text}");
        }
        for text in ["", "What does Alice drink?", "mining, youth"] {
            assert_eq!(person_of(text), None, "{text}");
        }
    }

    #[test]
    fn questions_for_a_time_are_distinguished_from_others() {
        for text in [
            "When did she go?",
            "In which year?",
            "what day is it",
            "How long was it?",
        ] {
            assert!(asks_when(text), "{text}");
        }
        for text in [
            "",
            "Where was it?",
            "What did she do that day?",
            "how many",
            "whenever",
        ] {
            assert!(!asks_when(text), "{text}");
        }
    }
}
