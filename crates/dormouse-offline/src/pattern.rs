//! Patterns of words, as the tables write them.
//!
//! | in a pattern | matches |
//! | --- | --- |
//! | `tea` | this word |
//! | `tea/coffee` | one of these words |
//! | `?very` | this word, or nothing |
//! | `*` | any words, or none |
//! | `<x>` | one word or more, which are captured under this name |
//!
//! A pattern matches a whole sentence. Captures are as short as possible.

use std::str::SplitAsciiWhitespace;

use crate::words::Word;

/// What a pattern captured: names, and the range of words of each.
pub(crate) type Captures<'p> = Vec<(&'p str, usize, usize)>;

/// Matches a pattern against all words. Returns what it captured.
pub(crate) fn matched<'p>(pattern: &'p str, words: &[Word]) -> Option<Captures<'p>> {
    // Hundreds of patterns are tried on each sentence and few match, so nothing is allocated until something is captured.
    let mut captures = Vec::new();
    follow(pattern.split_ascii_whitespace(), words, 0, &mut captures).then_some(captures)
}

/// The text of a capture as it was written.
pub(crate) fn captured<'t>(
    text: &'t str,
    words: &[Word],
    captures: &Captures<'_>,
    name: &str,
) -> Option<&'t str> {
    let (_, from, to) = captures.iter().find(|(called, ..)| *called == name)?;
    text_of(text, words.get(*from..*to)?)
}

/// The text from the first of these words to the last.
pub(crate) fn text_of<'t>(text: &'t str, words: &[Word]) -> Option<&'t str> {
    text.get(words.first()?.from..words.last()?.to)
}

fn follow<'p>(
    mut parts: SplitAsciiWhitespace<'p>,
    words: &[Word],
    at: usize,
    captures: &mut Captures<'p>,
) -> bool {
    let Some(part) = parts.next() else {
        return at == words.len();
    };
    if part == "*" {
        let is_last = parts.clone().next().is_none();
        return is_last || (at..=words.len()).any(|at| follow(parts.clone(), words, at, captures));
    }
    if let Some(name) = part.strip_prefix('<').and_then(|it| it.strip_suffix('>')) {
        let before = captures.len();
        return (at + 1..=words.len()).any(|end| {
            captures.truncate(before);
            captures.push((name, at, end));
            follow(parts.clone(), words, end, captures)
        });
    }
    let (is_optional, options) = match part.strip_prefix('?') {
        Some(options) => (true, options),
        None => (false, part),
    };
    let is_here = words
        .get(at)
        .is_some_and(|word| options.split('/').any(|option| option == word.text));
    (is_here && follow(parts.clone(), words, at + 1, captures))
        || (is_optional && follow(parts, words, at, captures))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    fn captures(pattern: &str, text: &str) -> Option<Vec<String>> {
        let words = words(text);
        let found = matched(pattern, &words)?;
        let names: Vec<_> = found.iter().map(|(name, ..)| *name).collect();
        let texts = names
            .iter()
            .map(|name| captured(text, &words, &found, name).unwrap().to_owned());
        Some(texts.collect())
    }

    #[test]
    fn every_kind_of_part_matches_what_the_table_says() {
        let nothing = Some(Vec::new());
        for (pattern, text, expected) in [
            ("thank you", "Thank you!", nothing.clone()),
            ("thank you", "thank you Bob", None),
            ("thanks/cheers ?very ?much", "cheers", nothing.clone()),
            (
                "thanks/cheers ?very ?much",
                "Thanks very much",
                nothing.clone(),
            ),
            ("* tea", "tea", nothing.clone()),
            ("* tea *", "I like tea a lot", nothing),
            ("<x> is <y>", "the tea is", None),
            (
                "remind me <when> to <what>",
                "Remind me at six to go to Bob",
                Some(vec!["at six".to_owned(), "go to Bob".to_owned()]),
            ),
        ] {
            assert_eq!(captures(pattern, text), expected, "{pattern}: {text}");
        }
    }

    #[test]
    fn long_hostile_sentences_are_matched_in_bounded_time() {
        let text = "to ".repeat(5_000);
        assert_eq!(captures("remind * <when> to <what> now", &text), None);
        assert_eq!(captures("* <a> to <b> to <c> now", &text), None);
    }
}
