//! Reads LongMemEval. A haystack has the chats of one person with an assistant; each question lists the sessions that
//! answer it.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;
use serde_json::Value;

use super::{
    conversation::{Category, Conversation, Question, Turn},
    error::{PartError, PartLocation, Wrong},
    moment::{self, Calendar},
};

#[derive(Deserialize)]
struct Raw {
    #[serde(default)]
    question_id: Option<String>,
    #[serde(default)]
    question_type: Option<String>,
    #[serde(default)]
    question: Option<String>,
    /// Used instead of `question` if several questions share one haystack.
    #[serde(default)]
    questions: Vec<String>,
    #[serde(default)]
    question_date: Option<String>,
    #[serde(default)]
    answer_session_ids: Value,
    #[serde(default)]
    haystack_dates: Vec<String>,
    haystack_session_ids: Vec<String>,
    haystack_sessions: Vec<Vec<Value>>,
}

#[derive(Deserialize)]
struct RawTurn {
    role: String,
    content: String,
}

/// Reads the haystack with this number, counted from 1, and its questions.
pub(super) fn conversation(
    raw: Value,
    number: usize,
    calendar: &mut Calendar,
) -> Result<Conversation, Wrong> {
    let wrong = |part: &str, entry, source: PartError| Wrong {
        place: PartLocation {
            conversation: number,
            part: part.to_owned(),
            entry,
        },
        source,
    };
    let mut raw: Raw = serde_json::from_value(raw).map_err(|e| wrong("", None, e.into()))?;
    let mut conversation = Conversation {
        name: raw
            .question_id
            .take()
            .unwrap_or_else(|| format!("haystack {number}")),
        ..Conversation::default()
    };
    let ids = std::mem::take(&mut raw.haystack_session_ids);
    let sessions = std::mem::take(&mut raw.haystack_sessions);
    same_length(
        ("haystack_sessions", sessions.len()),
        ("haystack_session_ids", ids.len()),
    )
    .map_err(|error| wrong("", None, error))?;
    for (session, (id, turns)) in ids.into_iter().zip(sessions).enumerate() {
        let begun = calendar.begin(raw.haystack_dates.get(session).map(String::as_str));
        for (place, turn) in turns.into_iter().enumerate() {
            let turn: RawTurn = serde_json::from_value(turn)
                .map_err(|error| wrong(&format!("session {id}"), Some(place + 1), error.into()))?;
            conversation.turns.push(Turn {
                id: format!("{id}:{}", place + 1),
                session,
                speaker: Some(turn.role).filter(|role| !role.trim().is_empty()),
                text: turn.content.trim().to_owned(),
                // Every session is a chat of its own.
                thread: format!("{} {session}", conversation.name),
                at: moment::of_turn(begun, place),
            });
        }
        conversation.sessions.push(id);
    }
    conversation.questions = questions(raw, &conversation).map_err(|e| wrong("", None, e))?;
    Ok(conversation)
}

fn same_length(a: (&'static str, usize), b: (&'static str, usize)) -> Result<(), PartError> {
    if a.1 == b.1 {
        return Ok(());
    }
    Err(PartError::Lengths {
        a: a.0,
        a_length: a.1,
        b: b.0,
        b_length: b.1,
    })
}

fn questions(raw: Raw, conversation: &Conversation) -> Result<Vec<Question>, PartError> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (place, id) in conversation.sessions.iter().enumerate() {
        known.entry(id).or_insert(place);
    }
    let last = conversation.turns.iter().map(|turn| turn.at).max();
    let after = last.unwrap_or_default().plus(moment::BETWEEN_SESSIONS);
    let asked_at = raw.question_date.as_deref().and_then(moment::parse);
    let asked_at = asked_at.map_or(after, |at| at.max(last.unwrap_or_default()));
    let (texts, answers): (Vec<String>, Vec<Vec<String>>) = match raw.question {
        Some(question) => (
            vec![question],
            vec![Vec::deserialize(list(raw.answer_session_ids))?],
        ),
        None => (
            raw.questions,
            Vec::deserialize(list(raw.answer_session_ids))?,
        ),
    };
    same_length(
        ("questions", texts.len()),
        ("answer_session_ids", answers.len()),
    )?;
    let name = raw.question_type.unwrap_or_else(|| "none".to_owned());
    let asked = texts.into_iter().zip(answers).map(|(text, answers)| {
        let gold: BTreeSet<usize> = answers
            .iter()
            .filter_map(|id| known.get(id.as_str()).copied())
            .collect();
        Question {
            text,
            category: Category {
                number: 0,
                name: name.clone(),
            },
            dangling: answers
                .iter()
                .filter(|id| !known.contains_key(id.as_str()))
                .count(),
            gold,
            asked_at,
        }
    });
    Ok(asked.collect())
}

/// Returns an empty list for a missing one.
fn list(value: Value) -> Value {
    if value.is_null() {
        Value::Array(Vec::new())
    } else {
        value
    }
}

#[cfg(test)]
mod tests;
