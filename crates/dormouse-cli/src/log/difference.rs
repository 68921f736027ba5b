//! The first difference of two JSON values.

use dormouse_text::shortened;
use serde_json::{Map, Value};

/// How much of a value is printed, in characters.
const EXCERPT: usize = 80;

/// The first field in which two values differ, and its two values.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) field: String,
    pub(super) left: String,
    pub(super) right: String,
}

/// The first difference of two values, found in the order of their fields.
pub(super) fn difference(left: &Value, right: &Value) -> Option<Difference> {
    if left == right {
        return None;
    }
    let found = match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let names = left.keys().chain(right.keys());
            let of = |object: &Map<String, Value>, name| object.get(name).cloned();
            let pairs = names.map(|name| (name.clone(), of(left, name), of(right, name)));
            first_inside(pairs)
        }
        (Value::Array(left), Value::Array(right)) => {
            let places = 0..left.len().max(right.len());
            let of = |array: &Vec<Value>, place: usize| array.get(place).cloned();
            let pairs = places.map(|place| (place.to_string(), of(left, place), of(right, place)));
            first_inside(pairs)
        }
        _ => None,
    };
    Some(found.unwrap_or_else(|| Difference {
        field: String::new(),
        left: shortened(&left.to_string(), EXCERPT).into_owned(),
        right: shortened(&right.to_string(), EXCERPT).into_owned(),
    }))
}

/// The first difference among the parts of two values, prefixed with the name of the part.
fn first_inside(
    mut parts: impl Iterator<Item = (String, Option<Value>, Option<Value>)>,
) -> Option<Difference> {
    parts.find_map(|(name, left, right)| {
        let (left, right) = (left.unwrap_or_default(), right.unwrap_or_default());
        let inside = difference(&left, &right)?;
        let field = match inside.field.as_str() {
            "" => name,
            field => format!("{name}.{field}"),
        };
        Some(Difference { field, ..inside })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_difference_is_named_by_its_field_with_both_values() {
        let left = json!({"a": [1, {"b": 2}], "c": 3});
        let right = json!({"a": [1, {"b": 4}], "c": 5});
        let expected = Difference {
            field: "a.1.b".to_owned(),
            left: "2".to_owned(),
            right: "4".to_owned(),
        };
        assert_eq!(difference(&left, &right), Some(expected));
        assert_eq!(difference(&left, &left), None);
        let found = difference(&json!({"a": 1}), &json!({"a": 1, "b": [2]})).unwrap();
        assert_eq!((found.field.as_str(), found.left.as_str()), ("b", "null"));
    }
}
