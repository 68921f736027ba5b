//! Importance, relationships and difficulty, by the words of a text.

use dormouse_contracts::TaskLine;
use dormouse_text::beginning;
use serde_json::{Value, json};

use super::{READ, is_small_talk, read};
use crate::{
    english::moods::{HARD, HOSTILE, KIND, NEGATIONS, STEPS, WEIGHTY},
    words::{asks, sentences, words},
};

/// The importance of a line without weighty or ordinary words.
const USUAL: i32 = 4;
/// By how much one kind or hostile word changes a relationship, and the most that one assessment changes.
const STEP: f64 = 0.05;
const MOST_CHANGE: f64 = 0.2;
/// How many words before another may negate it.
const NEGATED: usize = 3;

/// A score from 1 to 10 for each line.
pub(super) fn scores(lines: &[TaskLine]) -> Value {
    let scores = read(lines).into_iter().map(|line| {
        let (score, reason) = score(&line.text);
        json!({"id": line.id, "score": score, "reason": reason})
    });
    Value::Array(scores.collect())
}

fn score(text: &str) -> (i32, &'static str) {
    if is_small_talk(text) {
        return (1, "small talk");
    }
    let words = all_words(text);
    let weight = |word: &String| WEIGHTY.iter().find(|(known, _)| known == word);
    let weights = words.iter().filter_map(weight).map(|(_, weight)| *weight);
    let (count, most) = weights.fold((0, 0), |(count, most), weight| {
        (count + 1, most.max(weight))
    });
    let long = i32::from(words.len() > 20);
    let asks = i32::from(asks(text));
    let more = i32::min(count - 1, 2).max(0);
    let score = (USUAL + most + more + long - asks).clamp(1, 10);
    let reason = match (most, asks) {
        (1.., _) => "it has weighty words",
        (_, 1) => "a question",
        _ => "nothing special",
    };
    (score, reason)
}

/// How the words of `name` change the relationship with them. Lines of others are ignored.
pub(super) fn relationship(name: &str, lines: &[TaskLine]) -> Value {
    let (mut kind, mut hostile) = (0_i32, 0_i32);
    for line in read(lines).iter().filter(|line| line.speaker == name) {
        let words = all_words(&line.text);
        for (at, word) in words.iter().enumerate() {
            let is_in = |table: &[&str]| table.contains(&word.as_str());
            let (is_kind, is_hostile) = (is_in(KIND), is_in(HOSTILE));
            let before = words
                .get(at.saturating_sub(NEGATED)..at)
                .unwrap_or_default();
            let is_negated = before.iter().any(|it| NEGATIONS.contains(&it.as_str()));
            kind += i32::from(is_kind && !is_negated);
            // "Not stupid" is neither an insult nor praise.
            hostile += i32::from((is_hostile && !is_negated) || (is_kind && is_negated));
        }
    }
    let change = (f64::from(kind - hostile) * STEP).clamp(-MOST_CHANGE, MOST_CHANGE);
    json!({
        "favorability": (change * 100.0).round() / 100.0,
        "reason": format!("kind words: {kind}, hostile words: {hostile}"),
    })
}

/// How hard a task is, by its steps, its conditions and its length.
pub(super) fn difficulty(text: &str) -> Value {
    let text = beginning(text, READ);
    let words = all_words(text);
    let count = |table: &[&str]| {
        let found = words.iter().filter(|word| table.contains(&word.as_str()));
        found.count()
    };
    let (steps, hard) = (count(STEPS), count(HARD));
    let points = steps + 2 * hard + words.len() / 25;
    let difficulty = match points {
        0 => 1,
        1 => 2,
        2..=3 => 3,
        4..=6 => 4,
        _ => 5,
    };
    json!({
        "difficulty": difficulty,
        "reason": format!("joined steps: {steps}, words that ask for more than a look: {hard}"),
    })
}

/// The words of all sentences.
fn all_words(text: &str) -> Vec<String> {
    let words = sentences(text).into_iter().flat_map(words);
    words.map(|word| word.text).collect()
}
