//! Requests outside of a turn: each has an answer in the form that the request asks for.

mod judgement;
mod judging;
mod summary;
mod traits;

use dormouse_contracts::{Task, TaskLine};
use dormouse_text::{beginning, one_line};
use serde_json::{Value, json};

use crate::{
    english::{
        facts::FactKind,
        said::Topic,
        spelling::{EMPTY_WORDS, FILLERS},
    },
    facts,
    intent::{Intent, recognise},
    words::words,
};

/// How many lines are read, and how many characters of each.
const MOST_LINES: usize = 500;
const READ: usize = 4_000;
/// The most members of an answer that is a list.
const MOST: usize = 64;

/// The answer to a request.
pub(crate) fn answer(task: &Task) -> String {
    match task {
        Task::Extraction { lines } => extraction(lines).to_string(),
        Task::Judgement { facts } => judgement::verdicts(facts).to_string(),
        Task::Traits { name, notes } => traits::traits(name, notes).to_string(),
        Task::Summary { lines } => summary::summary(lines),
        Task::Scoring { lines } => judging::scores(lines).to_string(),
        Task::Relationship { name, lines } => judging::relationship(name, lines).to_string(),
        Task::Difficulty { text } => judging::difficulty(text).to_string(),
        Task::Questions { lines } => summary::questions(lines).to_string(),
        Task::Reflection { lines } => summary::reflection(lines).to_string(),
        _ => Value::Null.to_string(),
    }
}

/// The part of a line that is read: who said it, and what.
struct Line<'a> {
    id: &'a str,
    speaker: String,
    text: String,
}

fn read(lines: &[TaskLine]) -> Vec<Line<'_>> {
    let read = lines.iter().take(MOST_LINES).map(|line| Line {
        id: &line.id,
        speaker: one_line(beginning(line.speaker.as_deref().unwrap_or_default(), 64)),
        text: one_line(beginning(&line.text, READ)),
    });
    read.collect()
}

/// The facts that the lines hold as plain sentences. A line that is only a greeting, a question or a request holds no
/// fact.
fn extraction(lines: &[TaskLine]) -> Value {
    let mut found = Vec::new();
    for line in read(lines) {
        for fact in facts::of_text(&line.text, &line.speaker) {
            let kind = match fact.kind {
                FactKind::Fact => "fact",
                FactKind::Preference => "preference",
            };
            found.push(json!({
                "text": fact.text,
                "kind": kind,
                "about": [fact.about],
                "from": [line.id],
                "reason": "said in a plain sentence",
            }));
        }
    }
    found.truncate(MOST);
    Value::Array(found)
}

/// Whether a line is nothing but politeness.
fn is_small_talk(text: &str) -> bool {
    matches!(
        recognise(text, &[]),
        Intent::Talk(
            Topic::Greeting
                | Topic::HowAreYou
                | Topic::Thanks
                | Topic::Bye
                | Topic::Sorry
                | Topic::Acknowledgement
        )
    )
}

/// The words of a text that carry its meaning, in lower case.
fn content_words(text: &str) -> Vec<String> {
    let all = words(text).into_iter().map(|word| word.text);
    let empty =
        |word: &String| EMPTY_WORDS.contains(&word.as_str()) || FILLERS.contains(&word.as_str());
    all.filter(|word| !empty(word)).collect()
}

#[cfg(test)]
mod tests;
