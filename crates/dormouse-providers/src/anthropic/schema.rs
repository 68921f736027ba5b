//! A schema for replies, as narrow as this API wants it.

use serde_json::{Map, Value};

/// Where a schema has schemas by names of somebody's own.
const NAMED: [&str; 4] = ["properties", "$defs", "definitions", "patternProperties"];

/// Where it has one, or a list of them.
const DIRECT: [&str; 5] = ["items", "prefixItems", "anyOf", "allOf", "oneOf"];

/// The schema, in which no object has properties that are not named: this API takes no others, and what follows the narrower
/// schema follows the wider one. `None` where an object's properties have free names, which cannot be asked for.
pub(super) fn closed(schema: &Value) -> Option<Value> {
    let mut schema = schema.clone();
    close(&mut schema).then_some(schema)
}

fn close(schema: &mut Value) -> bool {
    match schema {
        Value::Object(schema) => close_object(schema),
        Value::Array(schemas) => schemas.iter_mut().all(close),
        _ => true,
    }
}

fn close_object(schema: &mut Map<String, Value>) -> bool {
    if schema
        .get("additionalProperties")
        .is_some_and(Value::is_object)
    {
        return false;
    }
    if schema.get("type").and_then(Value::as_str) == Some("object") {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    let all = NAMED.iter().all(|name| match schema.get_mut(*name) {
        Some(Value::Object(named)) => named.values_mut().all(close),
        _ => true,
    });
    all && DIRECT
        .iter()
        .all(|name| schema.get_mut(*name).is_none_or(close))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_object_is_closed_and_nothing_else_is_changed() {
        let schema = json!({
            "type": "object", "description": "A {\"type\": \"object\"}", "required": ["type"],
            "properties": {
                "type": {"enum": [{"type": "object"}]},
                "list": {"type": "array", "items": {"type": "object", "additionalProperties": true}},
                "either": {"anyOf": [{"type": "object", "properties": {}}, {"type": "null"}]},
            },
            "$defs": {"one": {"type": "object", "additionalProperties": false}},
        });
        assert_eq!(
            closed(&schema).unwrap(),
            json!({
                "type": "object", "description": "A {\"type\": \"object\"}", "required": ["type"],
                "additionalProperties": false,
                "properties": {
                    "type": {"enum": [{"type": "object"}]},
                    "list": {"type": "array", "items": {"type": "object", "additionalProperties": false}},
                    "either": {"anyOf": [
                        {"type": "object", "properties": {}, "additionalProperties": false}, {"type": "null"},
                    ]},
                },
                "$defs": {"one": {"type": "object", "additionalProperties": false}},
            })
        );
    }

    #[test]
    fn properties_of_free_names_cannot_be_asked_for() {
        let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
        assert_eq!(closed(&map), None);
        assert_eq!(closed(&json!({"properties": {"map": map}})), None);
        assert_eq!(closed(&json!(true)), Some(json!(true)));
    }
}
