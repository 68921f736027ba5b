//! How much work a schema can make of arguments, found without doing it.
//!
//! The validator tries every branch of `anyOf` and its like, follows each `$ref` every time, and keeps each error. With a
//! schema of two kilobytes whose definitions refer to each other twice, one check would take years. It would block a
//! decision, again after every start.

use std::{collections::HashMap, ptr};

use serde_json::Value;

/// The most steps that checking a call may take. A step may leave an error of some hundred bytes.
pub(crate) const STEPS_LIMIT: u64 = 1_000_000;

/// How many steps a reference to one of the published drafts counts as.
const DRAFT_STEPS: u64 = 100;

/// The steps that one value may take, by how deep it nests.
#[derive(Clone, Debug)]
pub(crate) struct Effort {
    by_depth: Vec<u64>,
}

impl Effort {
    /// The effort of this schema for values that nest at most `depth` levels deep. Only references make it grow with the
    /// depth.
    pub(crate) fn of(schema: &Value, depth: usize) -> Self {
        let mut counting = Counting {
            root: schema,
            has_inner_ids: has_inner_ids(schema),
            known: HashMap::new(),
        };
        let depths = if has_references(schema) { depth } else { 0 };
        let by_depth = match depths {
            0 => vec![counting.steps(schema, depth)],
            _ => (0..=depths)
                .map(|levels| counting.steps(schema, levels))
                .collect(),
        };
        Self { by_depth }
    }

    /// Whether checking this value may take more than [`STEPS_LIMIT`] steps.
    pub(crate) fn is_too_much(&self, value: &Value) -> bool {
        let (values, depth) = extent(value);
        let steps = self.by_depth.get(depth).or(self.by_depth.last());
        steps.is_some_and(|steps| steps.saturating_mul(values) > STEPS_LIMIT)
    }
}

/// How many values there are in all, and how deep they nest.
fn extent(value: &Value) -> (u64, usize) {
    let parts: Box<dyn Iterator<Item = &Value> + '_> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        _ => return (1, 0),
    };
    let parts = parts.map(extent);
    let (values, depth) = parts.fold((1, 0), |(values, depth), (more, deeper)| {
        (values + more, depth.max(deeper))
    });
    (values, depth + 1)
}

fn is_reference(key: &str) -> bool {
    matches!(key, "$ref" | "$dynamicRef" | "$recursiveRef")
}

fn has_references(schema: &Value) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(has_references),
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| is_reference(key) || has_references(value)),
        _ => false,
    }
}

/// Whether a part has an address of its own. References in it begin there, so they are not followed here.
fn has_inner_ids(schema: &Value) -> bool {
    let is_address = |(key, value): (&String, &Value)| {
        matches!(key.as_str(), "$id" | "id" | "$anchor" | "$dynamicAnchor") && value.is_string()
    };
    let within = |value: &Value| match value {
        Value::Object(fields) => fields.iter().any(is_address) || has_inner_ids(value),
        _ => has_inner_ids(value),
    };
    match schema {
        Value::Array(items) => items.iter().any(within),
        Value::Object(fields) => fields.values().any(within),
        _ => false,
    }
}

struct Counting<'a> {
    root: &'a Value,
    has_inner_ids: bool,
    /// By the place of a part in memory, and the depth.
    known: HashMap<(*const Value, usize), u64>,
}

impl<'a> Counting<'a> {
    /// The most validations against this schema that one value can take, its parts included, if it nests `depth` levels
    /// deep.
    fn steps(&mut self, schema: &'a Value, depth: usize) -> u64 {
        let Value::Object(fields) = schema else {
            return 1;
        };
        let place = (ptr::from_ref(schema), depth);
        if let Some(steps) = self.known.get(&place) {
            return *steps;
        }
        // The validator refuses a reference to what is being checked already.
        self.known.insert(place, 1);
        let mut steps: u64 = 1;
        for (key, value) in fields {
            steps = steps.saturating_add(self.steps_of(key, value, depth));
        }
        self.known.insert(place, steps);
        steps
    }

    fn steps_of(&mut self, key: &str, value: &'a Value, depth: usize) -> u64 {
        match key {
            key if is_reference(key) => match self.target(value) {
                Some(Some(target)) => self.steps(target, depth),
                Some(None) => DRAFT_STEPS,
                None => u64::MAX,
            },
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" => self.all(value, depth),
            "dependentSchemas" | "dependencies" => self.fields(value, depth),
            "properties" | "patternProperties" => match depth.checked_sub(1) {
                Some(depth) => self.fields(value, depth),
                None => 0,
            },
            "items"
            | "prefixItems"
            | "additionalItems"
            | "contains"
            | "additionalProperties"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties" => match depth.checked_sub(1) {
                Some(depth) => self.all(value, depth),
                None => 0,
            },
            _ => 0,
        }
    }

    fn all(&mut self, value: &'a Value, depth: usize) -> u64 {
        match value {
            Value::Array(schemas) => (schemas.iter()).fold(0, |steps: u64, schema| {
                steps.saturating_add(self.steps(schema, depth))
            }),
            schema => self.steps(schema, depth),
        }
    }

    fn fields(&mut self, value: &'a Value, depth: usize) -> u64 {
        let Value::Object(fields) = value else {
            return 0;
        };
        fields.values().fold(0, |steps: u64, schema| {
            steps.saturating_add(self.steps(schema, depth))
        })
    }

    /// What a reference refers to; `Some(None)` for a published draft, `None` if that is not known here.
    fn target(&self, reference: &Value) -> Option<Option<&'a Value>> {
        let reference = reference.as_str()?;
        if let Some((_, path)) = reference.split_once("://") {
            return path.starts_with("json-schema.org/").then_some(None);
        }
        let pointer = reference.strip_prefix('#')?;
        if self.has_inner_ids || pointer.contains('%') {
            return None;
        }
        self.root.pointer(pointer).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn doubling(levels: usize) -> Value {
        let mut definitions = serde_json::Map::new();
        definitions.insert("a0".to_owned(), json!({ "type": "number" }));
        for level in 1..=levels {
            let below = json!({ "$ref": format!("#/$defs/a{}", level - 1) });
            definitions.insert(
                format!("a{level}"),
                json!({ "anyOf": [below.clone(), below] }),
            );
        }
        json!({ "properties": { "text": { "$ref": format!("#/$defs/a{levels}") } }, "$defs": definitions })
    }

    fn is_too_much(schema: &Value, value: &Value) -> bool {
        Effort::of(schema, 64).is_too_much(value)
    }

    #[test]
    fn references_that_double_are_counted_and_not_followed() {
        let value = json!({ "text": "five" });
        assert!(!is_too_much(&doubling(8), &value));
        assert!(is_too_much(&doubling(30), &value));
    }

    #[test]
    fn a_tree_may_be_deep_unless_its_schema_branches_without_need() {
        let tree = json!({ "$ref": "#/$defs/node", "$defs": { "node": {
            "properties": { "name": { "type": "string" }, "parts": { "items": { "$ref": "#/$defs/node" } } } } } });
        let twice = json!({ "properties": { "parts": { "anyOf": [{ "items": { "$ref": "#" } }, { "items": { "$ref": "#" } }] } } });
        let mut value = json!({ "name": "leaf" });
        for _ in 0..25 {
            value = json!({ "name": "node", "parts": [value] });
        }
        assert!(!is_too_much(&tree, &value));
        assert!(is_too_much(&twice, &value));
        assert!(!is_too_much(&twice, &json!({ "parts": [{ "parts": [] }] })));
    }

    #[test]
    fn long_lists_times_many_branches_are_too_much() {
        let branches: Vec<_> = (0..1_000)
            .map(|number| json!({ "const": number }))
            .collect();
        let schema = json!({ "properties": { "list": { "items": { "anyOf": branches } } } });
        let list = |length: usize| json!({ "list": vec![json!("x"); length] });
        assert!(!is_too_much(&schema, &list(100)));
        assert!(is_too_much(&schema, &list(10_000)));
    }

    #[test]
    fn what_cannot_be_followed_counts_as_endless_and_what_leads_to_itself_as_nothing() {
        let value = json!({ "a": 1 });
        let hidden = json!({ "$ref": "#/$defs/%61", "$defs": { "a": {} } });
        assert!(is_too_much(&hidden, &value));
        let anchored = json!({ "$ref": "#x", "$defs": { "a": { "$anchor": "x" } } });
        assert!(is_too_much(&anchored, &value));
        let itself = json!({ "$ref": "#" });
        assert!(!is_too_much(&itself, &value));
        let draft = json!({ "$ref": "https://json-schema.org/draft/2020-12/schema" });
        assert!(!is_too_much(&draft, &value));
    }
}
