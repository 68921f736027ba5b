//! Every call gets a brief answer, and accepted arguments fit the schema.

use dormouse_tools::{Registry, ToolCallError};
use proptest::{
    prelude::*,
    sample::{Index, select},
};
use serde_json::{Map, Value, json};

use crate::{call, registry, tool};

fn assert_brief(error: &ToolCallError) {
    let text = error.to_string();
    assert!(
        text.len() <= ToolCallError::DISPLAY_LIMIT,
        "{} bytes: {text}",
        text.len()
    );
    assert!(!text.chars().any(char::is_control), "{text:?}");
    assert!(!text.is_empty());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        select(vec!["Alice", "calm", ""]).prop_map(Value::from),
    ];
    let key = prop_oneof![
        3 => select(vec!["to", "text", "mood", "times"]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// An object that fits `whisper` or nearly does.
fn nearly() -> impl Strategy<Value = Value> {
    let field = prop_oneof![3 => Just(json!("Alice")), 1 => any_json()];
    (field.clone(), field.clone(), field, any::<[bool; 3]>()).prop_map(|(to, text, mood, has)| {
        let all = [("to", to), ("text", text), ("mood", mood)];
        let some = all.into_iter().zip(has).filter(|(_, has)| *has);
        let map: Map<_, _> = some
            .map(|((key, value), _)| (key.to_owned(), value))
            .collect();
        Value::Object(map)
    })
}

/// The schema of `whisper` by hand.
fn fits_whisper(arguments: &Map<String, Value>) -> bool {
    let known = ["to", "text", "mood", "times"];
    let moods = ["calm", "glad", "sleepy", "cross"];
    arguments.keys().all(|key| known.contains(&key.as_str()))
        && arguments
            .get("to")
            .and_then(Value::as_str)
            .is_some_and(|to| !to.is_empty())
        && arguments.get("text").is_some_and(Value::is_string)
        && arguments
            .get("mood")
            .is_none_or(|mood| mood.as_str().is_some_and(|mood| moods.contains(&mood)))
        && arguments.get("times").is_none_or(|times| {
            times.is_null() || times.as_f64().is_some_and(|n| n >= 1.0 && n.fract() == 0.0)
        })
}

proptest! {
    #[test]
    fn any_name_and_any_text_get_a_brief_answer(name in any::<String>(), text in any::<String>()) {
        for name in [name.as_str(), "whisper", "remember"] {
            if let Err(error) = registry().check(&call(name, &text)) {
                assert_brief(&error);
            }
        }
    }

    #[test]
    fn arguments_are_accepted_unchanged_exactly_if_they_fit(
        value in prop_oneof![any_json(), nearly()],
    ) {
        let registry = registry();
        match registry.check(&call("whisper", &value.to_string())) {
            Ok(checked) => {
                prop_assert!(fits_whisper(&checked.arguments), "{:?}", checked);
                prop_assert_eq!(Value::Object(checked.arguments), value);
            }
            Err(error) => {
                assert_brief(&error);
                prop_assert!(
                    !value.as_object().is_some_and(fits_whisper),
                    "{}: {}", value, error
                );
            }
        }
    }

    #[test]
    fn depth_alone_decides_whether_nested_arguments_are_taken(
        kinds in prop::collection::vec(any::<bool>(), 1..100),
        text in any::<String>(),
    ) {
        let nest = |inner, is_array: &bool| match is_array {
            true => json!([inner, {}]),
            false => json!({ text.clone(): inner, format!("{text}b"): [[]] }),
        };
        // The innermost level with its two empty arrays counts, and the object around all of it.
        let value = json!({ "a": kinds.iter().fold(json!([[]]), nest) });
        let checked = registry();
        let checked = checked.check(&call("remember", &value.to_string()));
        prop_assert_eq!(checked.is_ok(), kinds.len() + 3 <= Registry::ARGUMENTS_DEPTH);
    }

    #[test]
    fn json_broken_anywhere_gets_a_brief_answer(
        value in any_json(),
        at in any::<Index>(),
        junk in any::<char>(),
    ) {
        let mut chars: Vec<char> = value.to_string().chars().collect();
        let place = at.index(chars.len());
        chars[place] = junk;
        let text: String = chars.iter().collect();
        let cut: String = chars.iter().take(place).collect();
        for text in [text, cut] {
            if let Err(error) = registry().check(&call("remember", &text)) {
                assert_brief(&error);
            }
        }
    }
}

#[test]
fn a_name_of_a_megabyte_gets_a_brief_answer() {
    for piece in ["a", "\u{1b}", "é", "\u{202e}", "whisper", "\0"] {
        let name = piece.repeat((1 << 20) / piece.len());
        assert_brief(&registry().check(&call(&name, "{}")).unwrap_err());
    }
}

#[test]
fn deep_nesting_gets_a_brief_answer() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":[", "]}]")] {
        for depth in [100, 127, 128, 129, 10_000, 40_000] {
            let whole = format!("{{\"a\":{}1{}}}", open.repeat(depth), close.repeat(depth));
            let broken = format!("{{\"a\":{}", open.repeat(depth));
            let quoted = Value::String(whole.clone()).to_string();
            for text in [whole, broken, quoted] {
                if let Err(error) = registry().check(&call("remember", &text)) {
                    assert_brief(&error);
                }
            }
        }
    }
}

/// Arguments of so many levels, the object itself included.
fn nested(levels: usize, open: &str, close: &str) -> String {
    let inner = levels - 1;
    let text = format!("{{\"a\":{}1{}}}", open.repeat(inner), close.repeat(inner));
    serde_json::from_str::<Value>(&text).unwrap();
    text
}

#[test]
fn arguments_nest_to_64_levels_and_no_deeper() {
    let limit = Registry::ARGUMENTS_DEPTH;
    let registry = registry();
    for (open, close) in [("[", "]"), ("{\"]}\\\"[\":", "}")] {
        let deepest = nested(limit, open, close);
        let deeper = nested(limit + 1, open, close);
        let quoted = |text: &str| Value::from(text).to_string();
        for text in [deepest.clone(), quoted(&deepest)] {
            let checked = registry.check(&call("remember", &text)).unwrap();
            // What holds the arguments of a call adds a few levels of its own, and must be readable again.
            let held = (0..60).fold(Value::Object(checked.arguments), |held, _| json!([held]));
            serde_json::from_str::<Value>(&held.to_string()).unwrap();
        }
        for text in [
            deeper.clone(),
            quoted(&deeper),
            format!(" {}", open.repeat(100_000)),
        ] {
            let Err(error) = registry.check(&call("remember", &text)) else {
                panic!("{} levels were taken", limit + 1);
            };
            let expected = match text.len() > Registry::ARGUMENTS_LIMIT {
                true => "bytes",
                false => "nest deeper than 64 levels",
            };
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
    let brackets = json!({ "a": "[{\"".repeat(1_000), "b": "\\" }).to_string();
    assert!(registry.check(&call("remember", &brackets)).is_ok());
}

#[test]
fn many_wrong_values_and_long_keys_get_a_brief_answer() {
    let strict = tool(
        "strict",
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
    );
    let registry = Registry::try_new([strict]).unwrap();
    let many: Map<_, _> = (0..10_000).map(|i| (format!("k{i}"), json!(i))).collect();
    let long = Map::from_iter([("\u{7}/~".repeat(60_000), json!(1))]);
    for arguments in [many, long] {
        let text = Value::Object(arguments).to_string();
        let text = text.replace("\\u0007", "\u{7f}");
        let error = registry.check(&call("strict", &text)).unwrap_err();
        assert!(matches!(error, ToolCallError::DoesNotFit { .. }), "{error}");
        assert_brief(&error);
    }
}

#[test]
fn a_pattern_made_to_backtrack_for_ever_answers_at_once() {
    let greedy = tool(
        "greedy",
        json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}),
    );
    let registry = Registry::try_new([greedy]).unwrap();
    let text = json!({"a": format!("{}!", "a".repeat(100_000))}).to_string();
    let error = registry.check(&call("greedy", &text)).unwrap_err();
    assert_brief(&error);
}
