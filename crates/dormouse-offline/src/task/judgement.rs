//! Decides about a new fact that resembles a known record.

use dormouse_contracts::DoubtfulFact;
use dormouse_text::beginning;
use serde_json::{Value, json};

use super::{MOST, READ, content_words};
use crate::words::words;

/// A verdict on each fact. It is ignored if a record says all of it. It supersedes a record that gives the same
/// property of the same subject another value. Otherwise it is linked.
pub(super) fn verdicts(facts: &[DoubtfulFact]) -> Value {
    let verdicts = facts.iter().take(MOST).map(|fact| {
        let text = beginning(&fact.text, READ);
        let records = fact.records.iter().take(MOST);
        let records = records.map(|(id, record)| (id, beginning(record, READ)));
        let mut all: Vec<_> = records.collect();
        let repeats = all.iter().find(|(_, record)| says_all(record, text));
        let replaced = all.iter().find(|(_, record)| replaces(text, record));
        let (action, record, reason) = match (repeats, replaced) {
            (Some((id, _)), _) => ("ignore", Some(*id), "it says all of it"),
            (None, Some((id, _))) => ("supersede", Some(*id), "it says something else of the same"),
            (None, None) => {
                all.truncate(1);
                let nearest = all.first().map(|(id, _)| *id);
                match nearest {
                    Some(id) => ("link", Some(id), "it is about the same"),
                    None => ("add", None, "nothing is known about it"),
                }
            }
        };
        match record {
            Some(record) => {
                json!({"fact": fact.id, "action": action, "record": record, "reason": reason})
            }
            None => json!({"fact": fact.id, "action": action, "reason": reason}),
        }
    });
    Value::Array(verdicts.collect())
}

/// Whether `record` has every significant word of `text`.
fn says_all(record: &str, text: &str) -> bool {
    let known = content_words(record);
    let new = content_words(text);
    !new.is_empty()
        && new.iter().all(|word| known.contains(word))
        && negated(record) == negated(text)
}

/// Whether both are of one form, "S is called X", and differ in X alone.
fn replaces(text: &str, record: &str) -> bool {
    match (split(text), split(record)) {
        (Some((new, new_value)), Some((old, old_value))) => new == old && new_value != old_value,
        _ => false,
    }
}

/// Splits a sentence into subject with verb, and value. Only for verbs with one value at a time.
fn split(text: &str) -> Option<(Vec<String>, Vec<String>)> {
    let all: Vec<String> = words(text).into_iter().map(|word| word.text).collect();
    let single = [
        ["is", "called"],
        ["are", "called"],
        ["lives", "in"],
        ["works", "as"],
        ["works", "at"],
        ["birthday", "is"],
        ["is", "in"],
        ["wants", "to"],
    ];
    let at = all
        .windows(2)
        .position(|pair| single.iter().any(|verb| pair == verb))?;
    let value = all.get(at + 2..)?.to_vec();
    let subject = all.get(..at + 2)?.to_vec();
    Some((subject, value)).filter(|(_, value)| !value.is_empty())
}

fn negated(text: &str) -> bool {
    let all = words(text);
    let negations = crate::english::moods::NEGATIONS;
    all.iter()
        .any(|word| negations.contains(&word.text.as_str()))
}
