//! Lasting traits in notes about somebody.

use dormouse_text::{beginning, one_line};
use serde_json::{Map, Value, json};

use super::READ;
use crate::{
    english::moods::{NEGATIONS, STYLES, TEMPERS},
    pattern::{captured, matched},
    words::{Word, words},
};

/// The most notes, interests and preferences, and the longest of them in words.
const MOST_NOTES: usize = 50;
const MOST: usize = 8;
const LONGEST: usize = 6;
/// How many words before another may negate it.
const NEGATED: usize = 3;

/// Sentences that name an interest.
const INTERESTS: &[&str] = &[
    "* likes/loves/enjoys/collects <x>",
    "* is fond of <x>",
    "* is interested in <x>",
    "* talks/speaks/spoke/talked ?often about/of <x>",
];

/// The traits that the notes name. What they do not name is `null` or empty.
pub(super) fn traits(name: &str, notes: &[String]) -> Value {
    let notes = notes.iter().take(MOST_NOTES);
    let notes: Vec<String> = notes.map(|note| one_line(beginning(note, READ))).collect();
    let mut interests: Vec<String> = Vec::new();
    let mut preferences = Map::new();
    let (mut style, mut temperament) = (None, None);
    for note in &notes {
        let words = words(note);
        // A note may also be about somebody else; only sentences that name a trait are read.
        if is_negated(&words) {
            continue;
        }
        let named = |word: &Word| STYLES.iter().find(|(known, _)| *known == word.text);
        style = style.or_else(|| words.iter().find_map(named).map(|(_, style)| *style));
        let temper = |word: &Word| TEMPERS.iter().find(|known| **known == word.text);
        temperament = temperament.or_else(|| words.iter().find_map(temper).copied());
        if let Some(value) = found(note, &words, &["* prefers <x>"])
            && let Some(subject) = crate::words::words(&value).pop()
            && preferences.len() < MOST
        {
            preferences.insert(subject.text, value.into());
        } else if let Some(interest) = found(note, &words, INTERESTS)
            && !interests.contains(&interest)
            && !interest.eq_ignore_ascii_case(name)
        {
            interests.push(interest);
        }
    }
    interests.truncate(MOST);
    json!({
        "communication_style": style,
        "interests": interests,
        "temperament": temperament,
        "preferences": preferences,
    })
}

fn found(note: &str, words: &[Word], patterns: &[&str]) -> Option<String> {
    patterns.iter().find_map(|pattern| {
        let captures = matched(pattern, words)?;
        let value = captured(note, words, &captures, "x")?;
        let is_short = value.split(' ').count() <= LONGEST;
        is_short.then(|| value.to_owned())
    })
}

fn is_negated(words: &[Word]) -> bool {
    let first = words.iter().take(NEGATED + 2);
    let mut first = first.map(|word| word.text.as_str());
    first.any(|word| NEGATIONS.contains(&word))
}
