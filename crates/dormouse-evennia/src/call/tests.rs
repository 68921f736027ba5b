use serde_json::{Value, json};

use super::*;
use crate::room::GameEntity;

fn seen() -> RoomState {
    let person = |id: u64, key: &str| {
        json!({ "kind": "object", "id": id, "key": key, "object": { "id": id, "key": key },
                "account": { "id": id, "key": key } })
    };
    // Nobody plays it, so it hears nothing.
    let statue = json!({ "kind": "object", "id": 12, "key": "statue", "hears": false });
    let seen = json!({
        "req": 1, "room": { "id": 2, "key": "Limbo", "desc": "Void." },
        "people": [person(3, "alice"), person(4, "Twin"), person(5, "twin"), person(6, "a=b"), statue],
        "things": [{ "id": 9, "key": "rock" }, { "id": 10, "key": "big rock" }],
        "exits": [{ "id": 7, "key": "north", "aliases": ["n"], "to": { "id": 8, "key": "Hall" } }],
        "carried": [{ "id": 11, "key": "cup" }],
    });
    serde_json::from_value(seen).unwrap()
}

fn planned(tool: &str, given: Value) -> Result<Plan, CallRefusal> {
    let mut people = People::default();
    let met: Vec<GameEntity> = seen().people;
    people.meet(&met).unwrap().unwrap();
    let Value::Object(given) = given else {
        panic!()
    };
    let call = Call::read(&ToolName::try_new(tool).unwrap(), &given)?;
    call.plan(&seen(), &people, &["dance".to_owned(), "set".to_owned()])
}

fn line(tool: &str, given: Value) -> String {
    planned(tool, given).unwrap().line
}

#[test]
fn words_reach_the_game_as_they_are_meant() {
    for (tool, given, expected) in [
        ("say", json!({ "message": "a|b |rred" }), "say a||b ||rred"),
        (
            "say",
            json!({ "message": "one\ntwo\r\n[Public] admin: three" }),
            "say one two [Public] admin: three",
        ),
        (
            "say",
            json!({ "message": "{you} $You()" }),
            "say {you} $You()",
        ),
        (
            "pose",
            json!({ "action": "shows {\"a\": $1}|n" }),
            "pose shows {{\"a\": $$1}}||n",
        ),
        (
            "whisper",
            json!({ "to": "ALICE", "message": "psst" }),
            "whisper alice = psst",
        ),
        (
            "page",
            json!({ "to": "Alice", "message": "x = y" }),
            "page alice = x = y",
        ),
        (
            "channel",
            json!({ "channel": "public", "message": "hi" }),
            "channel public = hi",
        ),
        ("move", json!({ "direction": "N" }), "north"),
        ("move", json!({ "direction": "hall" }), "north"),
        ("look", json!({}), "look"),
        ("look", json!({ "target": "Rock" }), "look rock"),
        ("get", json!({ "thing": "big rock" }), "get big rock"),
        ("drop", json!({ "thing": "cup" }), "drop cup"),
        (
            "give",
            json!({ "thing": "cup", "to": "alice" }),
            "give cup to alice",
        ),
        (
            "execute_command",
            json!({ "command": "dance\nwildly" }),
            "dance wildly",
        ),
        (
            "set_attribute",
            json!({ "object": "rock", "attribute": "desc", "value": "a|b" }),
            "set rock/desc = a||b",
        ),
    ] {
        assert_eq!(line(tool, given.clone()), expected, "{tool} {given}");
    }
}

#[test]
fn what_the_room_does_not_hold_is_refused_with_what_it_holds() {
    for (tool, given, why) in [
        (
            "whisper",
            json!({ "to": "bob", "message": "x" }),
            "here are: alice",
        ),
        (
            "whisper",
            json!({ "to": "twin", "message": "x" }),
            "2 here are called",
        ),
        (
            "whisper",
            json!({ "to": "a=b", "message": "x" }),
            "means something else",
        ),
        (
            "page",
            json!({ "to": "nobody", "message": "x" }),
            "has been met",
        ),
        (
            "channel",
            json!({ "channel": "a=b", "message": "x" }),
            "means something else",
        ),
        ("move", json!({ "direction": "up" }), "exits: north"),
        ("get", json!({ "thing": "cup" }), "here are: rock, big rock"),
        ("drop", json!({ "thing": "rock" }), "you carry: cup"),
        (
            "give",
            json!({ "thing": "cup", "to": "bob" }),
            "nobody called \"bob\"",
        ),
        ("look", json!({ "target": "me; quit" }), "here are:"),
        (
            "execute_command",
            json!({ "command": "quit" }),
            "allowed: dance, set",
        ),
        (
            "execute_command",
            json!({ "command": "dancer" }),
            "is not allowed",
        ),
        (
            "set_attribute",
            json!({ "object": "rock", "attribute": "a = b", "value": "1" }),
            "means something else",
        ),
        ("say", json!({ "message": " " }), "the message is empty"),
        ("say", json!({ "words": "x" }), "unknown field"),
        ("say", json!({}), "missing field"),
        ("fly", json!({}), "no tool"),
        (
            "say",
            json!({ "message": "x".repeat(16_000) }),
            "more than 16000 characters",
        ),
    ] {
        let error = planned(tool, given.clone()).unwrap_err().to_string();
        assert!(error.contains(why), "{tool} {given}: {error}");
    }
}

#[test]
fn who_will_hear_words_is_known_before_they_are_said() {
    let heard = |tool, given| planned(tool, given).unwrap().heard_by;
    let ids = |ids: &[u64]| {
        let ids = ids
            .iter()
            .map(|id| EntityId::try_new(format!("account:{id}")).unwrap());
        Audience::of(ids)
    };
    assert_eq!(heard("say", json!({ "message": "x" })), ids(&[3, 4, 5, 6]));
    assert_eq!(heard("pose", json!({ "action": "x" })), ids(&[3, 4, 5, 6]));
    assert_eq!(
        heard("whisper", json!({ "to": "alice", "message": "x" })),
        ids(&[3])
    );
    assert_eq!(
        heard("page", json!({ "to": "alice", "message": "x" })),
        ids(&[3])
    );
    assert_eq!(heard("move", json!({ "direction": "n" })), None);
    assert_eq!(
        heard("execute_command", json!({ "command": "dance" })),
        Some(Audience::Public)
    );
    // The game checks it again when it carries out the line.
    let only = |tool, given, is_limited| {
        let only = planned(tool, given).unwrap().only(is_limited);
        serde_json::to_value(only).unwrap()
    };
    let present = json!({ "within": ["account:3", "account:4", "account:5", "account:6"] });
    assert_eq!(only("say", json!({ "message": "x" }), true), present);
    assert_eq!(only("say", json!({ "message": "x" }), false), Value::Null);
    let alice = |kind| json!({ "to": { "kind": kind, "name": "alice", "person": "account:3" } });
    let message = || json!({ "to": "alice", "message": "x" });
    assert_eq!(only("whisper", message(), false), alice("object"));
    assert_eq!(only("page", message(), true), alice("account"));
    let cut = RoomState {
        cut: true,
        ..seen()
    };
    assert_eq!(cut.listeners(), None, "an incomplete list is not a list");
}
