//! What was promised to somebody, from the result of `get_entity_profile`.

use dormouse_contracts::Timestamp;
use serde_json::Value;

use crate::{
    english::said::Topic,
    phrasing::{Voice, list, tame},
};

/// The most promises that are listed.
const LISTED: usize = 5;
/// The longest text of one promise, in characters.
const LONGEST: usize = 80;

/// The id of the first pending action with this description, and, if a moment is given and the action has one, with this moment.
pub(crate) fn id_of(profile: &Value, wanted: &str, due_at: Option<Timestamp>) -> Option<u64> {
    let is_it = |action: &&Value| {
        let description = action.get("description").and_then(Value::as_str);
        let at = action.get("due_at").and_then(Value::as_str);
        let at = at.and_then(|at| at.parse::<Timestamp>().ok());
        let is_other = |wanted: Timestamp| at.is_some_and(|at| at != wanted);
        description == Some(wanted) && !due_at.is_some_and(is_other)
    };
    actions(profile).find(is_it)?.get("id")?.as_u64()
}

/// Says what is pending for somebody.
pub(crate) fn listed(profile: &Value, voice: &Voice<'_>) -> String {
    let one = |action: &Value| {
        let what = tame(action.get("description")?.as_str()?);
        let what = dormouse_text::shortened(&what, LONGEST).into_owned();
        let at = action.get("due_at").and_then(Value::as_str);
        let at = at.and_then(|at| Some(format!("{} at {}", at.get(..10)?, at.get(11..16)?)));
        Some(match at {
            Some(at) => format!("{what} (on {at}, UTC)"),
            None => what,
        })
    };
    let all: Vec<String> = actions(profile).filter_map(one).take(LISTED).collect();
    match all.is_empty() {
        true => voice.say(Topic::NoPromises, ""),
        false => format!("What I mean to do for you: {}.", list(&all)),
    }
}

fn actions(profile: &Value) -> impl Iterator<Item = &Value> {
    let actions = profile.get("pending_actions").and_then(Value::as_array);
    actions.into_iter().flatten()
}
