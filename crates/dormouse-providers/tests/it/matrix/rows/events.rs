//! Malformed events.

use dormouse_contracts::{ChatDelta, ChatReply, FinishReason, ModelErrorKind};
use serde_json::{Value, json};

use crate::{
    double::{Counted, Dialect, KEY},
    matrix::{
        cell::Row,
        outcome::Outcome,
        scene::Scene,
        story::{body, said, shown},
    },
};

pub(super) fn rows() -> Vec<Row> {
    let row = |what, scene, outcome| Row::new("Events", what, scene, outcome);
    let malformed = Outcome::Fails(ModelErrorKind::Malformed);
    vec![
        row("invalid UTF-8 within an event", invalid_utf8, malformed),
        row(
            "an event that is not JSON",
            |d| garbled(d, b"sk-secret-key"),
            malformed,
        ),
        row("an event that is a number", |d| garbled(d, b"7"), malformed),
        row(
            "an event cut off within its JSON",
            |d| garbled(d, b"{\"a\": [1, {\"b\":"),
            malformed,
        ),
        row("`{}` as an event", |d| garbled(d, b"{}"), Outcome::Reply),
        row("`null` in every field of an event", nulls, Outcome::Reply),
        row(
            "an unknown event",
            |d| before(d, &d.unknown()),
            Outcome::Reply,
        ),
        row(
            "a byte order mark at the beginning",
            |d| before(d, "\u{feff}"),
            Outcome::Reply,
        ),
        row(
            "empty lines at the beginning",
            |d| before(d, "\r\n\n\r\n"),
            Outcome::Reply,
        ),
        row(
            "lines that end in CR LF",
            |d| Scene::of(body(d, shown(d).all().replace('\n', "\r\n"))),
            Outcome::Reply,
        ),
        row(
            "two calls with the same id",
            same_ids,
            Outcome::Other("ids apart", ids_apart),
        ),
        row(
            "two calls without ids",
            no_ids,
            Outcome::Other("ids apart", ids_apart),
        ),
        row(
            "the finish twice",
            |d| {
                let shown = shown(d);
                Scene::of(body(
                    d,
                    format!("{0}{1}{1}{2}", shown.begun, shown.finish, shown.end),
                ))
            },
            Outcome::Reply,
        ),
        row(
            "more text and calls after the finish",
            |d| {
                let shown = shown(d);
                let [start, arguments] = call(0, "call_late", "say");
                let late = [ChatDelta::Text("And".to_owned()), start, arguments];
                let late = d.stream(&late, &Counted::Nothing).begun;
                Scene::of(body(d, shown.begun + &shown.finish + &late + &shown.end))
            },
            Outcome::Reply,
        ),
        row(
            "129 calls",
            |d| {
                let calls = (0..129).flat_map(|n| call(n, &format!("call_{n}"), "say"));
                Scene::of(body(
                    d,
                    d.stream(&calls.collect::<Vec<_>>(), &Counted::Nothing)
                        .all(),
                ))
            },
            malformed,
        )
        .containing("128 tool calls"),
        row(
            "JSON of 100,000 levels",
            |d| garbled(d, "[".repeat(100_000).as_bytes()),
            malformed,
        ),
        row(
            "half of a surrogate pair",
            |d| Scene::of(body(d, shown(d).all().replace("Good ", r"Good\ud83d"))),
            Outcome::Other("U+FFFD in its place", |reply| {
                reply.content.starts_with("Good\u{fffd}day")
            }),
        ),
        row(
            "NUL and other control characters in a text",
            |d| Scene::of(body(d, shown(d).all().replace("Good ", r"\u0000\u001b[2J"))),
            Outcome::Other("characters kept", |reply| {
                reply.content == "\0\u{1b}[2Jday, schöner Tag."
            }),
        ),
        row(
            "usage missing",
            |d| counted(d, &Counted::Nothing),
            Outcome::Uncounted,
        ),
        row(
            "usage negative",
            |d| counts(d, json!(-11), json!(-4)),
            Outcome::Uncounted,
        ),
        row(
            "usage absurd",
            |d| counts(d, json!(1e300), json!(u64::MAX)),
            Outcome::Uncounted,
        ),
        row(
            "usage in strings",
            |d| counts(d, json!("11"), json!("4")),
            Outcome::Uncounted,
        ),
        row(
            "usage with fractions",
            |d| counts(d, json!(11.0), json!(4.0)),
            Outcome::Reply,
        ),
        row(
            "usage `null`",
            |d| counts(d, Value::Null, Value::Null),
            Outcome::Uncounted,
        ),
        row(
            "overloaded, within a reply with 200",
            broken_off,
            Outcome::Fails(ModelErrorKind::Unavailable),
        )
        // Its errors have words and no codes.
        .but("Ollama", Outcome::Fails(ModelErrorKind::Interrupted)),
        row(
            "the same before any text",
            |d| Scene::of(body(d, d.broken_off(&words()))),
            Outcome::Fails(ModelErrorKind::Unavailable),
        )
        .but("Ollama", Outcome::Fails(ModelErrorKind::Interrupted)),
    ]
}

fn words() -> String {
    format!("we are overloaded, {KEY}")
}

fn before(dialect: &dyn Dialect, first: &str) -> Scene {
    Scene::of(body(dialect, format!("{first}{}", shown(dialect).all())))
}

/// An event that holds this, within the reply.
fn garbled(dialect: &dyn Dialect, data: &[u8]) -> Scene {
    let shown = shown(dialect);
    let rest = format!("{}{}", shown.finish, shown.end);
    let event = dialect.event(data);
    Scene::of(body(
        dialect,
        [shown.begun.as_bytes(), &event, rest.as_bytes()].concat(),
    ))
}

fn invalid_utf8(dialect: &dyn Dialect) -> Scene {
    let mut bytes = shown(dialect).all().into_bytes();
    let at = bytes.windows(6).position(|six| six == b"Good \"").unwrap();
    bytes[at] = 0xff;
    Scene::of(body(dialect, bytes))
}

/// The events of a reply, and before them one whose fields are all null.
fn nulls(dialect: &dyn Dialect) -> Scene {
    let fields = "choices usage model error id object created delta message response done done_reason item part";
    let nulls: serde_json::Map<_, _> = fields
        .split(' ')
        .map(|name| (name.to_owned(), Value::Null))
        .collect();
    garbled(dialect, Value::Object(nulls).to_string().as_bytes())
}

fn counted(dialect: &dyn Dialect, counted: &Counted) -> Scene {
    Scene::of(body(dialect, dialect.stream(&said(), counted).all()))
}

fn counts(dialect: &dyn Dialect, prompt: Value, reply: Value) -> Scene {
    counted(dialect, &Counted::Tokens(prompt, reply))
}

fn broken_off(dialect: &dyn Dialect) -> Scene {
    Scene::of(body(
        dialect,
        shown(dialect).begun + &dialect.broken_off(&words()),
    ))
}

fn call(index: usize, id: &str, name: &str) -> [ChatDelta; 2] {
    let start = ChatDelta::CallStart {
        index,
        id: id.parse().unwrap(),
        name: name.to_owned(),
    };
    let arguments = ChatDelta::CallArguments {
        index,
        fragment: format!("{{\"n\":{index}}}"),
    };
    [start, arguments]
}

fn calls(dialect: &dyn Dialect, rename: fn(String) -> String) -> Scene {
    let mut said = [call(0, "call_first", "say"), call(1, "call_other", "look")].concat();
    said.push(ChatDelta::Finished(FinishReason::ToolCalls));
    let shown = dialect.stream(&said, &Counted::tokens(11, 4)).all();
    Scene::of(body(dialect, rename(shown)))
}

fn same_ids(dialect: &dyn Dialect) -> Scene {
    calls(dialect, |shown| shown.replace("call_other", "call_first"))
}

fn no_ids(dialect: &dyn Dialect) -> Scene {
    calls(dialect, |shown| {
        shown.replace("call_other", "").replace("call_first", "")
    })
}

fn ids_apart(reply: &ChatReply) -> bool {
    let [first, other] = &reply.tool_calls[..] else {
        return false;
    };
    let arguments = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    first.id != other.id
        && first.name == "say"
        && other.name == "look"
        && arguments(&first.arguments) == json!({"n": 0})
        && arguments(&other.arguments) == json!({"n": 1})
        && reply.finish == FinishReason::ToolCalls
}
