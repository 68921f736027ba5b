//! The words of a message, normalised so that different spellings are equal.

use crate::english::spelling::SPELLINGS;

/// How many words of a sentence are read, at most. A longer sentence is not a request that rules can understand.
const MOST_WORDS: usize = 48;

/// The marks that end a sentence, if white space or nothing follows.
const ENDS: [char; 5] = ['.', '!', '?', '…', ';'];

/// A word, in lower case and in its full spelling, and where it is in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// The sentences of a text, with their marks.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_last = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        if ENDS.contains(&c) && is_last {
            let end = at + c.len_utf8();
            sentences.extend(text.get(start..end));
            start = end;
        }
    }
    sentences.extend(text.get(start..));
    sentences.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    sentences
}

/// Whether a sentence asks.
pub(crate) fn asks(sentence: &str) -> bool {
    sentence
        .trim_end_matches(['!', '.', ' ', ')'])
        .ends_with('?')
}

/// The words of a sentence. Mentions (`@key`) are left out, "what's" is "what is", and "10min" is "10 minutes".
pub(crate) fn words(sentence: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for (from, raw) in raw_words(sentence) {
        if words.len() >= MOST_WORDS {
            break;
        }
        let lower = raw.to_lowercase().replace('’', "'");
        let to = from + raw.len();
        let full = SPELLINGS
            .iter()
            .find_map(|(short, full)| (*short == lower).then_some(*full));
        for text in full.unwrap_or(&lower).split(' ') {
            let text = text.to_owned();
            words.push(Word { text, from, to });
        }
    }
    words
}

/// Runs of letters, and runs of digits with the marks of a time between them.
fn raw_words(sentence: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start: Option<usize> = None;
    let mut before = ' ';
    let mut is_mention = false;
    let mut chars = sentence.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        let joins = match c {
            '\'' | '’' | '-' | '_' => before.is_alphanumeric() && next.is_alphanumeric(),
            ':' | '.' => before.is_ascii_digit() && next.is_ascii_digit(),
            _ => c.is_alphanumeric(),
        };
        let turns = before.is_ascii_digit() && c.is_alphabetic();
        if let Some(from) = start.filter(|_| !joins || turns) {
            found.extend(sentence.get(from..at).map(|word| (from, word)));
            start = None;
        }
        if c == '@' {
            is_mention = true;
        } else if c.is_whitespace() || c == ',' {
            is_mention = false;
        }
        if joins && start.is_none() && !is_mention {
            start = Some(at);
        }
        before = c;
    }
    if let Some(from) = start {
        found.extend(sentence.get(from..).map(|word| (from, word)));
    }
    found
}

/// The number of words of a phrase if these words begin with it, otherwise 0.
pub(crate) fn begins(words: &[Word], phrase: &str) -> usize {
    let mut count = 0;
    for expected in phrase.split_ascii_whitespace() {
        match words.get(count) {
            Some(word) if word.text == expected => count += 1,
            _ => return 0,
        }
    }
    count
}

/// The number of words of the longest phrase that these words begin with.
pub(crate) fn longest(words: &[Word], phrases: &[&str]) -> Option<usize> {
    let counts = phrases.iter().map(|phrase| begins(words, phrase));
    counts.max().filter(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sentence: &str) -> Vec<String> {
        words(sentence).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn wordings_of_one_meaning_have_equal_words() {
        assert_eq!(
            texts("@dormouse, What’s UP?"),
            ["what", "is", "up"].map(str::to_owned)
        );
        assert_eq!(
            texts("I'm off in 10min at 6:30pm"),
            ["i", "am", "off", "in", "10", "minutes", "at", "6:30", "pm"].map(str::to_owned)
        );
        assert_eq!(
            texts("Alice's well-known tea"),
            ["alice's", "well-known", "tea"]
        );
        assert!(texts("@a @b ... !?").is_empty());
    }

    #[test]
    fn a_time_does_not_end_a_sentence() {
        assert_eq!(
            sentences("Hi! Wake me at 6.30, please. Thanks"),
            ["Hi!", " Wake me at 6.30, please.", " Thanks"]
        );
        assert!(sentences(" ... !").is_empty());
    }

    #[test]
    fn a_word_says_where_it_is() {
        let text = "Hello, dear BOB!";
        let bob = words(text).pop().unwrap();
        assert_eq!(&text[bob.from..bob.to], "BOB");
    }
}
