//! LoCoMo: conversations of two people over months, divided into sessions. Each question names the turns that answer
//! it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dormouse_contracts::Timestamp;
use dormouse_text::beginning;
use serde::Deserialize;
use serde_json::Value;

use super::{
    conversation::{Category, Conversation, Question, Turn},
    error::{PartLocation, Wrong},
    evidence::{Named, named},
    moment::{self, Calendar},
};

#[derive(Deserialize)]
struct Raw {
    #[serde(default)]
    sample_id: Value,
    conversation: BTreeMap<String, Value>,
    #[serde(default)]
    qa: Vec<Value>,
}

#[derive(Deserialize)]
struct RawTurn {
    #[serde(default)]
    speaker: Option<String>,
    dia_id: String,
    #[serde(default)]
    text: Option<String>,
    /// The caption of a picture. The search words that found the picture are not read: nobody said them.
    #[serde(default)]
    blip_caption: Option<String>,
}

#[derive(Deserialize)]
struct RawQuestion {
    question: String,
    #[serde(default)]
    category: Value,
    #[serde(default)]
    evidence: Value,
}

/// Reads the conversation with this number, counted from 1.
pub(super) fn conversation(
    raw: Value,
    number: usize,
    calendar: &mut Calendar,
) -> Result<Conversation, Wrong> {
    let wrong = |part: &str, entry, source: serde_json::Error| Wrong {
        place: PartLocation {
            conversation: number,
            part: part.to_owned(),
            entry,
        },
        source: source.into(),
    };
    let raw: Raw = serde_json::from_value(raw).map_err(|error| wrong("", None, error))?;
    let mut conversation = Conversation {
        name: name(&raw.sample_id, number),
        ..Conversation::default()
    };
    for (session, (key, turns)) in sessions(&raw.conversation).into_iter().enumerate() {
        let date = raw.conversation.get(&format!("{key}_date_time"));
        let begun = calendar.begin(date.and_then(Value::as_str));
        let turns: Vec<Value> = Vec::deserialize(turns).map_err(|error| wrong(key, None, error))?;
        for (place, turn) in turns.into_iter().enumerate() {
            let turn: RawTurn =
                serde_json::from_value(turn).map_err(|error| wrong(key, Some(place + 1), error))?;
            let at = moment::of_turn(begun, place);
            let thread = conversation.name.clone();
            conversation.turns.push(turn.at(at, session, thread));
        }
        conversation.sessions.push(key.clone());
    }
    let known = places(&conversation.turns);
    let last = conversation.turns.iter().map(|turn| turn.at).max();
    let asked_at = last.unwrap_or_default().plus(moment::BETWEEN_SESSIONS);
    for (place, question) in raw.qa.into_iter().enumerate() {
        let question: RawQuestion = serde_json::from_value(question)
            .map_err(|error| wrong("qa", Some(place + 1), error))?;
        conversation
            .questions
            .push(question.known(&known, asked_at));
    }
    Ok(conversation)
}

fn name(sample_id: &Value, number: usize) -> String {
    match sample_id
        .as_str()
        .map(str::trim)
        .filter(|id| !id.is_empty())
    {
        Some(id) => beginning(id, 80).to_owned(),
        None => format!("conversation {number}"),
    }
}

/// The sessions, by number.
fn sessions(conversation: &BTreeMap<String, Value>) -> Vec<(&String, &Value)> {
    let number = |key: &str| key.strip_prefix("session_")?.parse::<u64>().ok();
    let mut sessions: Vec<_> = conversation
        .iter()
        .filter(|(key, _)| number(key).is_some())
        .collect();
    sessions.sort_by_key(|(key, _)| number(key));
    sessions
}

impl RawTurn {
    fn at(self, at: Timestamp, session: usize, thread: String) -> Turn {
        let said = self.text.unwrap_or_default();
        let text = match self
            .blip_caption
            .filter(|caption| !caption.trim().is_empty())
        {
            Some(caption) => format!("{said} [{caption}]"),
            None => said,
        };
        Turn {
            id: self.dia_id,
            session,
            speaker: self.speaker.filter(|name| !name.trim().is_empty()),
            text: text.trim().to_owned(),
            thread,
            at,
        }
    }
}

/// The place of each turn. Of several turns with the same name, the first one counts.
fn places(turns: &[Turn]) -> HashMap<Named, usize> {
    let mut places = HashMap::new();
    for (place, turn) in turns.iter().enumerate() {
        for name in named(&turn.id) {
            places.entry(name).or_insert(place);
        }
    }
    places
}

impl RawQuestion {
    fn known(self, known: &HashMap<Named, usize>, asked_at: Timestamp) -> Question {
        let mut gold = BTreeSet::new();
        let mut dangling = 0;
        for entry in texts(&self.evidence) {
            let names = named(entry);
            let found: Vec<usize> = names
                .iter()
                .filter_map(|name| known.get(name).copied())
                .collect();
            dangling += names.len().max(1) - found.len();
            gold.extend(found);
        }
        Question {
            text: self.question,
            category: category(&self.category),
            gold,
            dangling,
            asked_at,
        }
    }
}

/// Evidence is a list of strings, or one string.
fn texts(evidence: &Value) -> Vec<&str> {
    match evidence {
        Value::Array(entries) => entries.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    }
}

const NAMES: [&str; 5] = [
    "multi-hop",
    "temporal",
    "open-domain",
    "single-hop",
    "adversarial",
];

fn category(category: &Value) -> Category {
    let text = category.as_str().map(str::to_owned);
    let number = category.as_u64().or_else(|| text.as_deref()?.parse().ok());
    let known = number
        .and_then(|number| usize::try_from(number).ok()?.checked_sub(1))
        .and_then(|place| NAMES.get(place));
    let name = match (known, text, number) {
        (Some(name), ..) => (*name).to_owned(),
        (None, Some(text), _) => text,
        (None, None, Some(number)) => number.to_string(),
        (None, None, None) => "none".to_owned(),
    };
    Category {
        number: number.unwrap_or(u64::MAX),
        name,
    }
}

#[cfg(test)]
mod tests;
