//! Describing a place from the result of `inspect_location`.

use serde_json::Value;

use super::phrasing::{list, plain, shorten};

/// At most so many exits, things or characters are told.
const TOLD: usize = 6;

/// The place in words. Whatever is missing is left out.
pub(super) fn describe(place: &Value) -> String {
    let mut told = Vec::new();
    if let Some(room) = name_of(place.get("room")) {
        told.push(format!("I am in {room}."));
    }
    if let Some(description) = place.get("description").and_then(Value::as_str) {
        told.push(shorten(&plain_text(description), 250));
    }
    let exits = entries(place.get("exits"), exit);
    if !exits.is_empty() {
        told.push(format!("Exits: {}.", list(&exits)));
    }
    let things = entries(place.get("things"), |thing| name_of(Some(thing)));
    if !things.is_empty() {
        told.push(format!("I see {}.", list(&things)));
    }
    let characters = entries(place.get("characters"), |who| name_of(Some(who)));
    if !characters.is_empty() {
        told.push(format!("Also here: {}.", list(&characters)));
    }
    if told.is_empty() {
        return "I looked around, but I was told nothing about this place.".to_owned();
    }
    told.join(" ")
}

fn plain_text(text: &str) -> String {
    super::event::one_line(text).replace('@', "(at)")
}

fn entries(list: Option<&Value>, word: impl Fn(&Value) -> Option<String>) -> Vec<String> {
    let all: Vec<String> = list
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(word)
        .collect();
    let more = all.len().saturating_sub(TOLD);
    let mut told: Vec<String> = all.into_iter().take(TOLD).collect();
    if more > 0 {
        told.push(format!("{more} more"));
    }
    told
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
    fn a_place_is_told_in_sentences() {
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
    fn a_crowd_is_counted_not_listed() {
        let crowd: Vec<String> = (0..50).map(|n| format!("mouse {n}")).collect();
        let told = describe(&json!({"characters": crowd}));
        assert!(told.ends_with("mouse 5 and 44 more."), "{told}");
    }
}
