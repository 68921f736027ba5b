//! Describes a place from the result of `inspect_location`.

use dormouse_text::shortened;
use serde_json::Value;

use crate::phrasing::{list, plain, tame};

/// The maximum number of exits, things or characters in a description.
const LISTED: usize = 6;

/// Returns the direction of the exit with this name or destination, if there is one.
pub(crate) fn way_to<'a>(place: &'a Value, wanted: &str) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    if wanted.is_empty() {
        return None;
    }
    let exits = place.get("exits").and_then(Value::as_array)?;
    let called = |exit: &Value, field: &str| {
        let name = exit.get(field).and_then(Value::as_str).unwrap_or_default();
        let name = name.to_lowercase();
        name == wanted
            || name
                .split_whitespace()
                .skip(1)
                .collect::<Vec<_>>()
                .join(" ")
                == wanted
    };
    let found = |field: &str| exits.iter().find(|exit| called(exit, field));
    let exit = found("direction").or_else(|| found("to"))?;
    exit.get("direction").and_then(Value::as_str)
}

/// Whether somebody of this name is in the place. Unknown people count as present: a place may not list them.
pub(crate) fn has(place: &Value, name: &str) -> bool {
    let characters = place.get("characters").and_then(Value::as_array);
    let wanted = plain(name).to_lowercase();
    characters.is_none_or(|all| {
        let mut names = all.iter().filter_map(|who| name_of(Some(who)));
        names.any(|name| name.to_lowercase() == wanted)
    })
}

/// The name of the room in the result of `move`.
pub(crate) fn moved_to(result: &Value) -> Option<String> {
    name_of(result.get("moved_to"))
}

/// Describes the place. Missing fields are left out.
pub(crate) fn describe(place: &Value) -> String {
    let mut parts = Vec::new();
    if let Some(room) = name_of(place.get("room")) {
        parts.push(format!("I am in {room}."));
    }
    if let Some(description) = place.get("description").and_then(Value::as_str) {
        parts.push(shortened(&tame(description), 250).into_owned());
    }
    let exits = entries(place.get("exits"), exit);
    if !exits.is_empty() {
        parts.push(format!("Exits: {}.", list(&exits)));
    }
    let things = entries(place.get("things"), |thing| name_of(Some(thing)));
    if !things.is_empty() {
        parts.push(format!("I see {}.", list(&things)));
    }
    let characters = entries(place.get("characters"), |who| name_of(Some(who)));
    if !characters.is_empty() {
        parts.push(format!("Also here: {}.", list(&characters)));
    }
    if parts.is_empty() {
        return "I looked around, but I was told nothing about this place.".to_owned();
    }
    parts.join(" ")
}

fn entries(list: Option<&Value>, word: impl Fn(&Value) -> Option<String>) -> Vec<String> {
    let all: Vec<String> = list
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(word)
        .collect();
    let more = all.len().saturating_sub(LISTED);
    let mut parts: Vec<String> = all.into_iter().take(LISTED).collect();
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    parts
}

fn exit(exit: &Value) -> Option<String> {
    match (name_of(exit.get("direction")), name_of(exit.get("to"))) {
        (Some(direction), Some(to)) => Some(format!("{direction} to {to}")),
        (Some(direction), None) => Some(direction),
        (None, Some(to)) => Some(format!("to {to}")),
        (None, None) => name_of(Some(exit)),
    }
}

/// A text, or the `name` of an object.
fn name_of(value: Option<&Value>) -> Option<String> {
    let value = value?;
    let name = value.as_str().or_else(|| value.get("name")?.as_str())?;
    Some(plain(name)).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_place_is_described_in_sentences() {
        let place = json!({
            "room": "the Kitchen", "description": "Warm,\nand full of steam.",
            "exits": [{"direction": "north", "to": "the Garden"}, {"direction": "up"}],
            "things": ["a kettle", {"name": "a cup"}], "characters": ["Alice"],
        });
        assert_eq!(
            describe(&place),
            "I am in the Kitchen. Warm, and full of steam. Exits: north to the Garden and up. \
             I see a kettle and a cup. Also here: Alice."
        );
    }

    #[test]
    fn missing_and_odd_fields_are_left_out() {
        assert_eq!(
            describe(&json!({"room": "the Attic", "exits": 7, "things": [null]})),
            "I am in the Attic."
        );
        for nothing in [json!({}), json!(null), json!([])] {
            assert!(describe(&nothing).contains("told nothing"), "{nothing}");
        }
    }

    #[test]
    fn a_room_is_found_by_its_name_with_or_without_the_article() {
        let place = json!({"exits": [{"direction": "north", "to": "the Old Mill"}, {"direction": "Up", "to": "Attic"}]});
        assert_eq!(
            ["old mill", "The old mill", "attic", "up", "mill", ""]
                .map(|wanted| way_to(&place, wanted)),
            [
                Some("north"),
                Some("north"),
                Some("Up"),
                Some("Up"),
                None,
                None
            ]
        );
        assert_eq!(way_to(&json!({"exits": [7]}), "up"), None);
    }

    #[test]
    fn a_crowd_is_counted_not_listed() {
        let crowd: Vec<String> = (0..50).map(|n| format!("mouse {n}")).collect();
        let parts = describe(&json!({"characters": crowd}));
        assert!(parts.ends_with("mouse 5 and 44 more."), "{parts}");
    }
}
