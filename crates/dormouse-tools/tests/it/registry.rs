//! Which sets of tools a registry accepts.

use std::{error::Error, time::Duration};

use dormouse_contracts::{CachePolicy, CacheScope, ToolDefinition, ToolReach, ToolSpec};
use dormouse_tools::{Registry, RegistryError};
use serde_json::{Value, json};

use crate::{call, tool};

fn object() -> Value {
    json!({"type": "object"})
}

fn refused(spec: ToolSpec) -> RegistryError {
    Registry::try_new([tool("first", object()), spec]).unwrap_err()
}

#[test]
fn tools_are_found_and_listed_in_the_order_given() {
    let specs = ["say", "move", "look", "again"].map(|name| tool(name, object()));
    let registry = Registry::try_new(specs.clone()).unwrap();
    assert!(registry.specs().eq(&specs));
    assert_eq!(registry.get("look"), Some(&specs[2]));
    assert_eq!(registry.get("Look"), None);
    let offered: Vec<_> = specs.iter().map(ToolDefinition::from).collect();
    assert_eq!(registry.definitions(), offered);
    assert_eq!(format!("{registry:?}").matches("ToolName").count(), 4);
}

#[test]
fn a_registry_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    shared(&Registry::try_new([]).unwrap());
}

#[test]
fn two_tools_of_one_name_are_refused() {
    let error = refused(tool("first", object()));
    assert!(matches!(error, RegistryError::Duplicate { .. }));
    assert_eq!(error.to_string(), r#"two tools are named "first""#);
}

#[test]
fn a_name_that_providers_refuse_is_refused_before_they_do() {
    let error = refused(tool("world.say", object()));
    assert!(matches!(error, RegistryError::FullStop { .. }));
    assert_eq!(
        error.to_string(),
        r#"the tool "world.say" has a '.' in its name, which providers refuse; use '_' or '-' instead"#
    );
    assert!(Registry::try_new([tool("world_say-2", object())]).is_ok());
}

#[test]
fn a_tool_without_description_or_time_is_refused() {
    let silent = ToolSpec {
        description: " \n".to_owned(),
        ..tool("second", object())
    };
    assert!(matches!(
        refused(silent),
        RegistryError::NoDescription { name } if name.as_str() == "second"
    ));
    let hasty = ToolSpec {
        timeout: Duration::ZERO,
        ..tool("second", object())
    };
    assert!(matches!(
        refused(hasty),
        RegistryError::NoTimeout { name } if name.as_str() == "second"
    ));
}

#[test]
fn only_a_query_can_have_its_results_cached() {
    let cache = Some(CachePolicy {
        scope: CacheScope::Session,
        ttl: None,
    });
    let launch = ToolSpec {
        cache,
        reach: ToolReach::Effect,
        ..tool("launch", object())
    };
    let error = refused(launch.clone());
    assert!(
        matches!(error, RegistryError::CachedEffect { .. }),
        "{error}"
    );
    let weather = ToolSpec {
        reach: ToolReach::Query,
        ..launch
    };
    assert!(Registry::try_new([weather]).is_ok());
}

#[test]
fn parameters_that_are_not_an_object_schema_are_refused() {
    for parameters in [
        json!(null),
        json!(true),
        json!([]),
        json!({}),
        json!({"type": "string"}),
        json!({"type": ["object", "null"]}),
        json!({"properties": {}}),
    ] {
        let error = refused(tool("second", parameters.clone()));
        assert!(
            matches!(error, RegistryError::NotAnObjectSchema { .. }),
            "{parameters}: {error}"
        );
    }
}

#[test]
fn a_schema_that_cannot_be_used_is_refused_with_the_part_that_is_wrong() {
    for (wrong, part) in [
        (json!({"properties": {"a": {"type": "strng"}}}), "strng"),
        (json!({"properties": []}), "object"),
        (json!({"required": "a"}), "array"),
        (json!({"required": ["a", "a"]}), "equal"),
        (
            json!({"properties": {"a": {"minLength": -1}}}),
            "/properties/a/minLength: must be >=0",
        ),
        (json!({"properties": {"a": {"pattern": "("}}}), "regex"),
        (
            json!({"properties": {"a": {"pattern": "^(?!x).*$"}}}),
            "regex",
        ),
        (
            json!({"properties": {"a": {"$ref": "#/$defs/missing"}}}),
            "missing",
        ),
        (json!({"$schema": "https://example.org/own"}), "example.org"),
    ] {
        let mut parameters = object();
        let map = parameters.as_object_mut().unwrap();
        map.extend(wrong.as_object().unwrap().clone());
        let error = refused(tool("second", parameters));
        assert!(
            matches!(error, RegistryError::Schema { .. }),
            "{wrong}: {error}"
        );
        let source = error.source().unwrap().to_string();
        assert!(source.contains(part), "{wrong}: {source}");
    }
}

#[test]
fn a_reference_out_of_the_schema_is_refused_and_never_followed() {
    for target in [
        "http://127.0.0.1:9/schema.json",
        "https://example.org/schema.json",
        "file:///etc/hostname",
        "other.json",
        "urn:example:other",
    ] {
        for parameters in [
            json!({"type": "object", "properties": {"a": {"$ref": target}}}),
            json!({"type": "object", "$ref": target}),
            json!({"type": "object", "$id": "https://example.org/mine", "allOf": [{"$ref": target}]}),
        ] {
            let error = refused(tool("second", parameters.clone()));
            assert!(
                matches!(error, RegistryError::Schema { .. }),
                "{parameters}: {error}"
            );
        }
    }
}

#[test]
fn references_within_a_schema_work_and_cycles_end() {
    let tree = json!({
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
        "additionalProperties": false,
    });
    let circle = json!({
        "type": "object",
        "allOf": [{"$ref": "#/$defs/a"}],
        "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}},
    });
    let itself = json!({"type": "object", "$ref": "#"});
    let registry = Registry::try_new([
        tool("tree", tree),
        tool("circle", circle),
        tool("itself", itself),
    ])
    .unwrap();
    let nested = r#"{"children": [{"children": [{}, {}]}]}"#;
    assert!(registry.check(&call("tree", nested)).is_ok());
    let wrong = r#"{"children": [{"children": [{}, {"x": 1}]}]}"#;
    assert!(registry.check(&call("tree", wrong)).is_err());
    for name in ["circle", "itself"] {
        // The meaning of circular references is up to the schema, but the check must end.
        assert!(registry.check(&call(name, "[]")).is_err());
        drop(registry.check(&call(name, "{}")));
    }
}

#[test]
fn a_schema_that_nests_too_deep_is_refused_before_it_is_compiled() {
    let nest = |levels: usize| {
        let mut schema = object();
        for _ in 0..levels {
            schema = json!({"type": "object", "not": schema});
        }
        tool("deep", schema)
    };
    assert!(Registry::try_new([nest(Registry::SCHEMA_DEPTH - 2)]).is_ok());
    let error = Registry::try_new([nest(Registry::SCHEMA_DEPTH)]).unwrap_err();
    assert!(matches!(error, RegistryError::TooDeep { .. }));
}

#[test]
fn a_schema_that_refers_to_itself_in_alternatives_checks_the_deepest_arguments() {
    let alternatives = json!([{"type": "integer"}, {"allOf": [{"$ref": "#/$defs/node"}]}]);
    let node = json!({
        "type": "object",
        "additionalProperties": {"anyOf": alternatives},
        "unevaluatedProperties": false,
    });
    let tree = json!({
        "type": "object",
        "allOf": [{"$ref": "#/$defs/node"}],
        "$defs": {"node": node},
    });
    let registry = Registry::try_new([tool("tree", tree)]).unwrap();
    let levels = Registry::ARGUMENTS_DEPTH;
    let nested = |leaf: &str| format!("{}{leaf}{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    assert!(registry.check(&call("tree", &nested("1"))).is_ok());
    assert!(registry.check(&call("tree", &nested("\"1\""))).is_err());
}
