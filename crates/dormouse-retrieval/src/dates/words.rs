//! The words and numbers that expressions of time consist of.

/// A word of a text, with the properties that the parser of dates needs.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) lower: String,
    /// Whether it begins with a capital letter.
    pub(super) capital: bool,
    /// The number that its digits express, even with the ending of an ordinal ("7th").
    pub(super) number: Option<i16>,
}

/// The words of a text. At most the first 4,096 are returned.
pub(super) fn words(text: &str) -> Vec<Word> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(4_096)
        .map(word)
        .collect()
}

fn word(text: &str) -> Word {
    let lower = text.to_lowercase();
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|ending| lower.strip_suffix(ending))
        .unwrap_or(&lower);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    Word {
        capital: text.starts_with(char::is_uppercase),
        number: is_number.then(|| digits.parse().ok()).flatten(),
        lower,
    }
}

/// The count that a word expresses, such as "3", "three" or "a".
pub(super) fn count(word: &str) -> Option<u16> {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    match word {
        "a" | "an" => Some(1),
        "couple" => Some(2),
        "few" => Some(3),
        _ => word.parse().ok().filter(|n| *n < 1_000).or_else(|| {
            let place = WORDS.iter().position(|other| *other == word)?;
            u16::try_from(place).ok()
        }),
    }
}

/// Whether a word, in lower case, is read as part of a time. Months are known to the calendar.
pub(crate) fn is_time_word(word: &str) -> bool {
    const WORDS: [&str; 30] = [
        "ago",
        "date",
        "day",
        "days",
        "friday",
        "last",
        "long",
        "monday",
        "month",
        "months",
        "next",
        "night",
        "past",
        "previous",
        "saturday",
        "since",
        "sunday",
        "thursday",
        "time",
        "today",
        "tomorrow",
        "tonight",
        "tuesday",
        "wednesday",
        "week",
        "weekend",
        "weeks",
        "year",
        "years",
        "yesterday",
    ];
    WORDS.binary_search(&word).is_ok()
}
