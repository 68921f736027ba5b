//! Who said what, in fewer words; and what somebody keeps coming back to.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::TaskLine;
use serde_json::{Value, json};

use super::{Line, content_words, is_small_talk, read};
use crate::{english::spelling::FILLERS, words::sentences};

/// The percentage of a line's words that is kept, and the most words of one line.
const SHARE: usize = 60;
const LONGEST: usize = 14;
/// The most characters of a summary.
const MOST_CHARS: usize = 2_000;
/// In how many lines a word has to occur.
const OFTEN: usize = 2;
/// The most conclusions.
const MOST: usize = 8;
/// The most questions.
const MOST_QUESTIONS: usize = 3;

/// A summary with fewer words than the lines, and never more than 2,000 characters. Consecutive lines of one speaker
/// are joined; small talk is left out, unless there is nothing else.
pub(super) fn summary(lines: &[TaskLine]) -> String {
    let all = read(lines);
    let (talk, rest): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|line| is_small_talk(&line.text));
    if rest.is_empty() {
        return only_small_talk(&talk);
    }
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for line in &rest {
        let said = shorter(&line.text);
        if said.is_empty() {
            continue;
        }
        match parts.last_mut() {
            Some((speaker, all)) if *speaker == line.speaker => all.push(said),
            _ => parts.push((line.speaker.clone(), vec![said])),
        }
    }
    let parts = parts.into_iter().map(|(speaker, said)| {
        let said = said.join("; ");
        match speaker.is_empty() {
            true => format!("{said}."),
            false => format!("{speaker}: {said}."),
        }
    });
    let summary = parts.collect::<Vec<_>>().join(" ");
    dormouse_text::shortened(&summary, MOST_CHARS).into_owned()
}

fn only_small_talk(talk: &[Line<'_>]) -> String {
    let names: BTreeSet<_> = talk.iter().map(|line| line.speaker.as_str()).collect();
    match names.is_empty() {
        true => String::new(),
        false => "Small talk.".to_owned(),
    }
}

/// The first words of a line, without fillers.
fn shorter(text: &str) -> String {
    let first = sentences(text).into_iter().find(|it| !is_small_talk(it));
    let first = first.unwrap_or(text).trim();
    let words: Vec<&str> = first.split(' ').filter(|word| !word.is_empty()).collect();
    let is_filler = |word: &&str| {
        let letters: String = word.chars().filter(|c| c.is_alphanumeric()).collect();
        FILLERS.contains(&letters.to_lowercase().as_str())
    };
    let most = (words.len() * SHARE).div_ceil(100).clamp(1, LONGEST);
    let kept: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !is_filler(word))
        .collect();
    let is_cut = kept.len() > most;
    let kept = kept.into_iter().take(most).collect::<Vec<_>>().join(" ");
    let kept = kept.trim_end_matches(['.', '!', ',', ';', ':']).to_owned();
    match is_cut {
        true => format!("{kept}…"),
        false => kept,
    }
}

/// What each speaker comes back to in several lines.
pub(super) fn reflection(lines: &[TaskLine]) -> Value {
    let insights = subjects(lines, OFTEN).into_iter().take(MOST);
    let insights = insights.map(|((speaker, word), ids)| {
        json!({"insight": format!("{speaker} speaks often of {word}."), "from": ids})
    });
    Value::Array(insights.collect())
}

/// Questions about the subjects of the speakers, the most frequent subjects first.
pub(super) fn questions(lines: &[TaskLine]) -> Value {
    let questions = subjects(lines, 1).into_iter().take(MOST_QUESTIONS);
    let questions = questions.map(|((speaker, word), _)| {
        Value::String(format!("What does {speaker} say about {word}?"))
    });
    Value::Array(questions.collect())
}

/// The words of each speaker that occur in at least `least` lines, with the ids of these lines, most lines first.
fn subjects(lines: &[TaskLine], least: usize) -> Vec<((String, String), Vec<&str>)> {
    let mut subjects: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    let all = read(lines);
    for line in all.iter().filter(|line| !line.speaker.is_empty()) {
        let words: BTreeSet<String> = content_words(&line.text).into_iter().collect();
        for word in words.into_iter().filter(|word| word.chars().count() > 3) {
            let key = (line.speaker.clone(), word);
            subjects.entry(key).or_default().push(line.id);
        }
    }
    let mut often: Vec<_> = subjects
        .into_iter()
        .filter(|(_, ids)| ids.len() >= least)
        .collect();
    often.sort_by_key(|(subject, ids)| (std::cmp::Reverse(ids.len()), subject.clone()));
    often
}
