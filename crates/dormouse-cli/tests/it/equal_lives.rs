//! Two runs with the same input live the same life: their logs differ in times and keys only.

use dormouse_contracts::EntityId;
use serde_json::Value;

use crate::program::Home;

/// A visitor who asks the assistant to walk around, forty times.
fn walk() -> String {
    let there_and_back = "page Dormouse = go up\npage Dormouse = go down\n";
    format!("{}say Well walked.\n", there_and_back.repeat(20))
}

/// Fields that hold a time, a key, or something made of them: a prompt shows times.
const TIMES_AND_KEYS: [&str; 7] = [
    "at",
    "key",
    "cause",
    "world",
    "duration_ms",
    "resume_at",
    "prompt_hash",
];

/// The events of a life, without times, keys, and the id of its world, which is its time of birth.
fn lived(home: &Home) -> Vec<Value> {
    let shown = home.run(&["log", "show", "--json"], "");
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    let mut events = shown.items();
    events.iter_mut().for_each(forget);
    events
}

fn forget(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in TIMES_AND_KEYS {
                fields.remove(name);
            }
            fields.values_mut().for_each(forget);
        }
        Value::Array(items) => items.iter_mut().for_each(forget),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The rule of each line that is output of the assistant's own command.
fn rules_of_output<'a>(events: &'a [Value]) -> Vec<&'a str> {
    let text = |event: &'a Value, path| event.pointer(path).and_then(Value::as_str);
    let is_output = |event: &&'a Value| {
        text(event, "/data/perception/attested/source") == Some("command_output")
    };
    let outputs = events.iter().filter(is_output);
    outputs
        .filter_map(|event| text(event, "/data/classification/rule"))
        .collect()
}

#[test]
fn equal_lives_have_equal_logs_and_all_output_of_forty_moves_is_captured() {
    let homes = [Home::new(), Home::new()];
    for home in &homes {
        let run = home.run(&["play"], walk());
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    }
    let [one, other] = homes.map(|home| lived(&home));
    assert_eq!(rules_of_output(&one), ["1b"; 40]);
    let results: Vec<_> = one
        .iter()
        .filter(|event| event["kind"] == "effect_settled")
        .map(|event| event["data"]["content"].as_str().unwrap())
        .filter(|content| content.contains("moved_to"))
        .collect();
    assert_eq!(results.len(), 40);
    for (place, result) in results.iter().enumerate() {
        let room = ["The Attic", "The Common Room"][place % 2];
        assert!(
            result.contains(&format!("\"output\":\"{room}\\n")),
            "{result}"
        );
    }
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(one, other);
    }
    assert_eq!(one.len(), other.len());
}

#[test]
fn a_channel_that_triggers_is_answered_on_the_channel() {
    let home = Home::new();
    home.write(
        "dormouse.toml",
        "[classify]\nchannels = { public = { action = \"trigger\" } }\n",
    );
    let run = home.play("channel public = Hello, is anybody there?\n");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let answers: Vec<_> = run
        .of_type("world")
        .into_iter()
        .filter(|item| item["by"] == "Dormouse" && item["kind"] == "channel")
        .collect();
    assert_eq!(answers.len(), 1, "{}", run.out);
    assert_eq!(answers[0]["channel"], "public");
    assert_eq!(run.end(), ("settled".to_owned(), 0));
}

#[test]
fn a_permitted_sender_does_not_trigger_by_arriving_or_leaving() {
    let home = Home::new();
    let visitor = EntityId::try_new("player:visitor").unwrap();
    home.write(
        "dormouse.toml",
        &format!("[classify]\ntrigger_permissions = [\"{visitor}\"]\n"),
    );
    let run = home.play("go north\ngo south\nsay Here I am.\n");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let heard: Vec<_> = run
        .heard()
        .into_iter()
        .map(|(text, verdict, rule)| format!("{text} {verdict} {rule}"))
        .collect();
    assert_eq!(
        heard,
        [
            "arrives. context 6",
            "goes north to the Garden. context 6",
            "arrives from the Garden. context 6",
            "Here I am. trigger 5",
        ]
    );
}
