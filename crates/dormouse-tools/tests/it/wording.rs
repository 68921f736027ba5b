//! The exact wording of the errors that a model reads, since it corrects its call by them.

use dormouse_tools::{Excerpt, Registry, ToolCallError};
use serde_json::json;

use crate::{call, registry, tool};

fn message_for(name: &str, arguments: &str) -> String {
    registry()
        .check(&call(name, arguments))
        .unwrap_err()
        .to_string()
}

#[test]
fn an_unknown_tool() {
    assert_eq!(
        message_for("wisper", "{}"),
        r#"there is no tool "wisper"; did you mean whisper?; the tools are: whisper, noop, remember"#
    );
    assert_eq!(
        message_for("dance\u{1b}[31m\n", "{}"),
        r#"there is no tool "dance\u{1b}[31m\n"; the tools are: whisper, noop, remember"#
    );
    let none = Registry::try_new([]).unwrap();
    assert_eq!(
        none.check(&call("say", "{}")).unwrap_err().to_string(),
        r#"there is no tool "say"; there are no tools"#
    );
}

#[test]
fn arguments_that_are_not_an_object() {
    assert_eq!(
        message_for("whisper", "{\"to\": \"Alice\", \"text\": \"he"),
        "the arguments are not valid JSON: EOF while parsing a string at line 1 column 27; \
         send one JSON object"
    );
    assert_eq!(
        message_for("whisper", "[]"),
        "the arguments must be a JSON object, but they are an array"
    );
    assert_eq!(
        message_for("whisper", &" ".repeat(300_000)),
        "the arguments have 300000 bytes; at most 262144 are accepted"
    );
}

#[test]
fn arguments_that_do_not_fit() {
    for (arguments, problem) in [
        (json!({"to": "Alice"}), r#""text" is missing"#),
        (
            json!({"to": "Alice", "text": null}),
            "/text: expected string, found null",
        ),
        (
            json!({"to": ["Alice"], "text": ""}),
            "/to: expected string, found an array",
        ),
        (
            json!({"to": "Alice", "text": "", "times": "two"}),
            r#"/times: expected null or integer, found "two""#,
        ),
        (
            json!({"to": "Alice", "text": "", "times": 0}),
            "/times: must be >=1, but got 0",
        ),
        (
            json!({"to": "", "text": ""}),
            "/to: length must be >=1, but got 0",
        ),
        (
            json!({"to": "Alice", "text": "", "mood": "grim"}),
            r#"/mood: found "grim", expected one of ["calm","glad","sleepy","cross"]"#,
        ),
        (
            json!({"to": "Alice", "text": "", "a\u{7}": 1, "b": 2}),
            r#"unknown: "a\u{7}", "b" (known: "mood", "text", "times", "to")"#,
        ),
        (
            json!({"to": "Alice", "times": 1.5}),
            r#""text" is missing; /times: expected null or integer, found 1.5"#,
        ),
    ] {
        assert_eq!(
            message_for("whisper", &arguments.to_string()),
            format!("the arguments do not fit: {problem}"),
        );
    }
}

#[test]
fn a_long_value_is_named_but_not_repeated() {
    let text = message_for(
        "whisper",
        &json!({"to": 7, "text": {"deep": "x".repeat(9_000)}}).to_string(),
    );
    assert_eq!(
        text,
        "the arguments do not fit: /text: expected string, found an object; \
         /to: expected string, found 7"
    );
}

#[test]
fn the_first_problems_are_reported_and_the_others_counted() {
    let list = json!({"type": "object", "properties": {"of": {"items": {"type": "string"}}}});
    let registry = Registry::try_new([tool("list", list)]).unwrap();
    let numbers: Vec<u32> = (0..1_000).collect();
    let error = registry
        .check(&call("list", &json!({"of": numbers}).to_string()))
        .unwrap_err();
    let ToolCallError::DoesNotFit { problems, omitted } = &error else {
        panic!("{error:?}");
    };
    assert_eq!((problems.len(), *omitted), (5, 995));
    assert_eq!(problems[0].at, Excerpt::of("/of/0"));
    assert!(error.to_string().ends_with("; and 995 more"), "{error}");
}

#[test]
fn as_many_tools_are_named_as_fit() {
    let many = (0..500).map(|i| tool(&format!("tool_number_{i:03}"), json!({"type": "object"})));
    let registry = Registry::try_new(many).unwrap();
    let text = registry
        .check(&call("dance", "{}"))
        .unwrap_err()
        .to_string();
    assert!(text.len() <= ToolCallError::DISPLAY_LIMIT);
    assert!(text.contains("tool_number_000, tool_number_001"), "{text}");
    let (_, tail) = text.rsplit_once("and ").unwrap();
    let named = text.matches("tool_number_").count();
    assert_eq!(tail, format!("{} more", 500 - named));
}
