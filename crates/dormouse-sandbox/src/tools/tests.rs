use serde_json::json;

use super::*;

fn name(text: &str) -> ToolName {
    ToolName::try_new(text).unwrap()
}

fn arguments(value: &Value) -> Arguments {
    value.as_object().unwrap().clone()
}

#[test]
fn every_tool_says_how_far_it_reaches_and_what_it_does_to_the_loop() {
    let listed: Vec<_> = (sandbox_tools().unwrap().into_iter())
        .map(|spec| (spec.name.to_string(), spec.category, spec.reach))
        .collect();
    let expected = [
        ("say", ToolCategory::Terminal, ToolReach::Effect),
        ("whisper", ToolCategory::Terminal, ToolReach::Effect),
        ("page", ToolCategory::Terminal, ToolReach::Effect),
        ("channel", ToolCategory::Terminal, ToolReach::Effect),
        ("pose", ToolCategory::SafeChain, ToolReach::Effect),
        (
            "inspect_location",
            ToolCategory::SafeChain,
            ToolReach::Query,
        ),
        ("move", ToolCategory::SafeChain, ToolReach::Effect),
        ("ring_bell", ToolCategory::Dangerous, ToolReach::Effect),
    ];
    let expected = expected.map(|(name, category, reach)| (name.to_owned(), category, reach));
    assert_eq!(listed, expected);
}

#[test]
fn every_schema_is_closed_and_every_text_in_it_is_bounded() {
    for spec in sandbox_tools().unwrap() {
        let schema = &spec.parameters;
        assert_eq!(schema["type"], "object", "{}", spec.name);
        assert_eq!(schema["additionalProperties"], false, "{}", spec.name);
        for required in schema["required"].as_array().unwrap() {
            assert!(schema["properties"][required.as_str().unwrap()].is_object());
        }
        for (property, schema) in schema["properties"].as_object().unwrap() {
            let bounded = schema["enum"].is_array()
                || (schema["minLength"] == 1 && schema["maxLength"].as_u64().unwrap() <= 4_000);
            assert!(bounded, "{}.{property}", spec.name);
        }
    }
}

#[test]
fn the_longest_text_a_schema_allows_is_a_message() {
    let longest = "\u{10ffff}".repeat(MESSAGE_LIMIT);
    let said = act(&name("say"), &arguments(&json!({ "message": longest })));
    assert!(matches!(said, Ok(Act::Say(_))), "{said:?}");
}

#[test]
fn a_call_that_does_not_fit_is_refused_with_the_reason() {
    let refusal = |tool: &str, value: Value| {
        act(&name(tool), &arguments(&value))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(refusal("fly", json!({})), r#"this world has no tool "fly""#);
    assert!(refusal("say", json!({})).contains("missing field `message`"));
    assert!(refusal("say", json!({ "message": 7 })).contains("expected a string"));
    assert!(
        refusal("say", json!({ "message": "hi", "as": "Orla" })).contains("unknown field `as`")
    );
    assert_eq!(
        refusal("say", json!({ "message": " " })),
        "the message is empty"
    );
    assert!(refusal("inspect_location", json!({})).contains("only looks"));
    let looked = look(&name("say"), &arguments(&json!({ "message": "hi" })));
    assert!(
        looked
            .unwrap_err()
            .to_string()
            .contains("not a way of looking")
    );
    let looked = look(
        &name("inspect_location"),
        &arguments(&json!({ "detail_level": "deep" })),
    );
    assert!(looked.unwrap_err().to_string().contains("unknown variant"));
}
