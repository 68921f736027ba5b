//! Finding remembered lines by their words.

use std::{cmp::Reverse, collections::BTreeSet};

use crate::state::Memory;

/// Words too common to tell one line from another.
const STOP_WORDS: &[&str] = &[
    "a", "about", "an", "and", "are", "at", "be", "been", "by", "can", "could", "did", "do",
    "does", "for", "from", "had", "has", "have", "he", "her", "him", "his", "how", "i", "in", "is",
    "it", "its", "know", "me", "my", "of", "on", "or", "please", "remember", "said", "say", "she",
    "tell", "that", "the", "their", "them", "there", "they", "this", "to", "us", "was", "we",
    "were", "what", "when", "where", "which", "who", "whom", "why", "will", "with", "would", "you",
    "your",
];

/// The words of a text that can tell lines apart: case folded, without stop words, endings cut off roughly.
fn keywords(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !STOP_WORDS.contains(&word.as_str()))
        .map(|word| stem(&word))
        .collect()
}

/// Cuts the endings that English puts on one word in a question and not in its answer.
fn stem(word: &str) -> String {
    let long_enough = |rest: &str| rest.chars().count() >= 3;
    for (ending, instead) in [
        ("ies", "y"),
        ("ing", ""),
        ("ed", ""),
        ("es", ""),
        ("s", ""),
        ("e", ""),
    ] {
        if let Some(rest) = word.strip_suffix(ending)
            && long_enough(rest)
            && !(ending == "s" && rest.ends_with('s'))
        {
            return format!("{rest}{instead}");
        }
    }
    word.to_owned()
}

/// Up to `limit` lines that share words with `query`, best first.
///
/// A shared word counts the more the fewer lines it stands in; among equals the newest comes first. Lines that
/// share nothing are left out. Takes time in proportion to all lines.
#[must_use]
pub fn recollect<'a>(memories: &'a [Memory], query: &str, limit: usize) -> Vec<&'a Memory> {
    let wanted = keywords(query);
    let lines: Vec<_> = memories
        .iter()
        .map(|memory| (memory, keywords(&memory.text)))
        .collect();
    let rarity = |word: &String| {
        let holders = lines
            .iter()
            .filter(|(_, words)| words.contains(word))
            .count();
        (1.0 + lines.len() as f64 / (1.0 + holders as f64)).ln()
    };
    let weighted: Vec<_> = wanted.iter().map(|word| (word, rarity(word))).collect();
    let mut found: Vec<_> = lines
        .iter()
        .map(|(memory, words)| {
            let score: f64 = weighted
                .iter()
                .filter(|(word, _)| words.contains(*word))
                .map(|(_, weight)| weight)
                .sum();
            (score, *memory)
        })
        .filter(|(score, _)| *score > 0.0)
        .collect();
    found.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(Reverse(x.seq).cmp(&Reverse(y.seq))));
    found
        .into_iter()
        .take(limit)
        .map(|(_, memory)| memory)
        .collect()
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{Seq, Timestamp, Trust};

    use super::*;

    fn memories(lines: &[&str]) -> Vec<Memory> {
        lines
            .iter()
            .zip(1..)
            .map(|(text, seq)| Memory {
                seq: Seq(seq),
                at: Timestamp::EPOCH,
                text: (*text).to_owned(),
                from: "Alice".to_owned(),
                trust: Trust::FULL,
            })
            .collect()
    }

    fn texts<'a>(found: &[&'a Memory]) -> Vec<&'a str> {
        found.iter().map(|memory| memory.text.as_str()).collect()
    }

    #[test]
    fn a_question_finds_the_line_that_shares_its_rarest_words() {
        let lines = memories(&["Alice prefers tea", "Alice likes Bob", "Bob sails boats"]);
        assert_eq!(
            texts(&recollect(&lines, "What does Alice prefer?", 1)),
            ["Alice prefers tea"]
        );
        assert_eq!(
            texts(&recollect(&lines, "who is sailing a boat?", 9)),
            ["Bob sails boats"]
        );
        assert!(recollect(&lines, "what is the capital of France?", 9).is_empty());
    }

    #[test]
    fn among_equals_the_newest_comes_first() {
        let lines = memories(&["the key is red", "the key is blue"]);
        assert_eq!(
            texts(&recollect(&lines, "key", 9)),
            ["the key is blue", "the key is red"]
        );
    }
}
