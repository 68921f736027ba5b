//! Which calls are accepted, with which arguments.

use dormouse_contracts::{ToolCategory, ToolName};
use dormouse_tools::{JsonKind, LoopEffect, Registry, ToolCallError, after};
use serde_json::{Value, json};

use crate::{call, registry, tool};

fn arguments(name: &str, text: &str) -> Result<Value, ToolCallError> {
    let registry = registry();
    let checked = registry.check(&call(name, text))?;
    assert_eq!(checked.spec.name.as_str(), name);
    Ok(Value::Object(checked.arguments))
}

#[test]
fn arguments_that_fit_come_back_unchanged() {
    let given = json!({"to": "Alice", "text": "pst\u{1b}", "mood": "glad", "times": 2});
    assert_eq!(arguments("whisper", &given.to_string()), Ok(given));
}

#[test]
fn no_arguments_at_all_are_an_empty_object() {
    for text in ["", " \n", "{}", "\"{}\""] {
        assert_eq!(arguments("noop", text), Ok(json!({})), "{text:?}");
    }
}

#[test]
fn arguments_encoded_twice_are_the_object_inside() {
    let given = json!({"to": "Alice", "text": "say \"hi\""});
    let twice = Value::String(given.to_string()).to_string();
    assert_eq!(arguments("whisper", &twice), Ok(given));
    let thrice = Value::String(twice).to_string();
    assert_eq!(
        arguments("whisper", &thrice),
        Err(ToolCallError::NotAnObject {
            found: JsonKind::String
        })
    );
}

#[test]
fn an_unknown_tool_is_reported_with_the_existing_ones() {
    let Err(ToolCallError::UnknownTool {
        name,
        closest,
        available,
    }) = arguments("wisper", "not even JSON")
    else {
        panic!("there is no such tool");
    };
    let tool = |name| ToolName::try_new(name).unwrap();
    assert_eq!(name.as_str(), "wisper");
    assert_eq!(closest, [tool("whisper")]);
    assert_eq!(
        available,
        [tool("whisper"), tool("noop"), tool("remember")],
        "in the registry's order"
    );
}

#[test]
fn names_are_compared_exactly() {
    for name in ["Noop", "noop ", " noop", "noop\0", ""] {
        assert!(
            matches!(
                arguments(name, "{}"),
                Err(ToolCallError::UnknownTool { .. })
            ),
            "{name:?}"
        );
    }
}

#[test]
fn json_that_is_not_an_object_is_reported() {
    for (text, found) in [
        ("null", JsonKind::Null),
        ("true", JsonKind::Bool),
        ("7", JsonKind::Number),
        ("\"Alice\"", JsonKind::String),
        ("[{}]", JsonKind::Array),
    ] {
        assert_eq!(
            arguments("remember", text),
            Err(ToolCallError::NotAnObject { found })
        );
    }
}

#[test]
fn invalid_json_is_reported_with_its_position() {
    for (text, place) in [
        ("{\"a\": 1", (1, 7)),
        ("{\"a\":\n nonsense}", (2, 3)),
        ("{} {}", (1, 4)),
        ("{\"a\": 1e999}", (1, 11)),
        ("{\"a\": \"\\ud800\"}", (1, 14)),
        ("```json\n{}\n```", (1, 1)),
        ("\"{\\\"a\\\"}\"", (1, 5)),
    ] {
        let error = arguments("remember", text).unwrap_err();
        let ToolCallError::NotJson { line, column, .. } = error else {
            panic!("{text:?} is reported as {error:?}");
        };
        assert_eq!((line, column), place, "{text:?}: {error}");
    }
}

#[test]
fn a_key_given_twice_is_refused_at_any_depth() {
    for text in [
        r#"{"to": "Alice", "to": "Bob"}"#,
        r#"{"a": [{"b": {"to": 1, "to": 1}}]}"#,
        r#"{"to": 1, "\u0074o": 2}"#,
        r#""{\"to\": 1, \"to\": 2}""#,
    ] {
        let error = arguments("remember", text).unwrap_err();
        assert!(
            error.to_string().contains("the key \"to\" is given twice"),
            "{error}"
        );
    }
    assert!(arguments("remember", r#"{"a": {"to": 1}, "b": {"to": 2}, "to": 3}"#).is_ok());
}

#[test]
fn arguments_have_a_largest_size() {
    let of = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
    assert!(arguments("remember", &of(Registry::ARGUMENTS_LIMIT)).is_ok());
    assert_eq!(
        arguments("remember", &of(Registry::ARGUMENTS_LIMIT + 1)),
        Err(ToolCallError::TooLarge {
            length: Registry::ARGUMENTS_LIMIT + 1,
            limit: Registry::ARGUMENTS_LIMIT,
        })
    );
}

#[test]
fn a_format_is_checked_only_by_drafts_that_say_so() {
    for (draft, checked) in [
        ("https://json-schema.org/draft/2020-12/schema", false),
        ("http://json-schema.org/draft-07/schema#", true),
    ] {
        let at = json!({
            "$schema": draft,
            "type": "object",
            "properties": {"at": {"type": "string", "format": "date-time"}},
        });
        let registry = Registry::try_new([tool("wake", at)]).unwrap();
        let answer = |at: &str| registry.check(&call("wake", &json!({ "at": at }).to_string()));
        assert!(answer("2026-11-22T07:00:00Z").is_ok());
        assert_eq!(answer("at seven").is_err(), checked, "{draft}");
    }
}

#[test]
fn each_category_has_its_effect_on_the_loop() {
    assert_eq!(after(ToolCategory::SafeChain), LoopEffect::Continue);
    assert_eq!(after(ToolCategory::AsyncRequired), LoopEffect::Continue);
    assert_eq!(after(ToolCategory::Terminal), LoopEffect::EndTerminal);
    assert_eq!(after(ToolCategory::Dangerous), LoopEffect::EndDangerous);
}
