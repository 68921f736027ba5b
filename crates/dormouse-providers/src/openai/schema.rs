//! Which JSON Schemas OpenAI can hold a model to strictly.

use serde_json::Value;

/// What may stand in a schema that is held to strictly, besides what is looked at below.
const KNOWN: [&str; 14] = [
    "type",
    "title",
    "description",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "$ref",
    "$defs",
    "definitions",
    "$schema",
];

/// How deep a schema may go.
const DEPTH: usize = 5;

/// Can a model be held to the schema strictly? Every object must name all of its properties as required and allow no
/// others, and nothing may stand in it that servers refuse in strict schemas. Where this is in doubt it says no: then the
/// schema guides the model, and no request fails for it.
pub(super) fn may_be_strict(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object") && is_strict(schema, DEPTH)
}

fn is_strict(schema: &Value, depth: usize) -> bool {
    let (Some(fields), Some(depth)) = (schema.as_object(), depth.checked_sub(1)) else {
        return false;
    };
    let all = |name: &str| match fields.get(name) {
        None => true,
        Some(Value::Object(parts)) => parts.values().all(|part| is_strict(part, depth)),
        Some(Value::Array(parts)) => parts.iter().all(|part| is_strict(part, depth)),
        Some(_) => false,
    };
    fields.keys().all(|name| KNOWN.contains(&name.as_str()))
        && ["properties", "anyOf", "$defs", "definitions"]
            .into_iter()
            .all(all)
        && fields
            .get("items")
            .is_none_or(|items| is_strict(items, depth))
        && (!is_object(schema) || is_closed(schema))
}

fn is_object(schema: &Value) -> bool {
    let is = |kind: &Value| kind == "object";
    let kind = schema.get("type");
    kind.is_some_and(|kind| is(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is)))
        || schema.get("properties").is_some()
}

fn is_closed(schema: &Value) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &String| required.is_some_and(|names| names.iter().any(|one| one == name));
    schema.get("additionalProperties") == Some(&Value::Bool(false))
        && properties.is_none_or(|properties| properties.keys().all(is_required))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_strict_only_where_nothing_in_it_is_open() {
        let strict = json!({
            "type": "object", "additionalProperties": false, "required": ["mood", "words"],
            "properties": {
                "mood": {"type": ["string", "null"], "enum": ["calm", "cross", null]},
                "words": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/pair"}]}},
            },
            "$defs": {"pair": {"type": "object", "properties": {}, "additionalProperties": false}},
        });
        assert!(may_be_strict(&strict));
        for (path, value) in [
            ("/additionalProperties", json!(true)),
            ("/required", json!(["mood"])),
            (
                "/properties/mood",
                json!({"type": "string", "minLength": 1}),
            ),
            ("/properties/mood", json!({"type": "object"})),
            ("/properties/words/items", json!({"oneOf": []})),
            ("/$defs/pair", json!(true)),
        ] {
            let mut open = strict.clone();
            *open.pointer_mut(path).unwrap() = value;
            assert!(!may_be_strict(&open), "{open}");
        }
        assert!(!may_be_strict(&json!({"type": "string"})));
        assert!(!may_be_strict(&json!(true)));
    }

    #[test]
    fn a_schema_without_end_is_not_strict() {
        let mut deep = json!({"type": "string"});
        for _ in 0..100 {
            deep = json!({"type": "object", "properties": {"x": deep}, "required": ["x"], "additionalProperties": false});
        }
        assert!(!may_be_strict(&deep));
    }
}
