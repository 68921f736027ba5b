//! The body of a request, in its most readable form.

use serde_json::Value;

/// The body of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// No body.
    Empty,
    /// JSON; compared by value, not by spelling.
    Json(Value),
    /// Other text.
    Text(String),
    /// Not UTF-8; base64 in the file.
    Bytes(Vec<u8>),
}

/// The maximum depth of JSON that is kept as JSON. serde_json writes any depth, but refuses to read more than 128
/// levels, and the file adds some levels around the body.
const DEEPEST: usize = 64;

impl Body {
    /// Returns the body of these bytes: JSON if they are a document of moderate depth, otherwise text if they are
    /// UTF-8.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Self {
        if bytes.is_empty() {
            return Self::Empty;
        }
        match serde_json::from_slice::<Value>(&bytes) {
            // A single number or word is more readable as text.
            Ok(value) if (value.is_object() || value.is_array()) && is_flat(&value, DEEPEST) => {
                Self::Json(value)
            }
            Ok(_) | Err(_) => match String::from_utf8(bytes) {
                Ok(text) => Self::Text(text),
                Err(other) => Self::Bytes(other.into_bytes()),
            },
        }
    }

    /// Returns the bytes of the body; JSON on one line, with sorted members.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Empty => Vec::new(),
            Self::Json(value) => value.to_string().into_bytes(),
            Self::Text(text) => text.clone().into_bytes(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }
}

fn is_flat(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return false;
    };
    match value {
        Value::Array(items) => items.iter().all(|item| is_flat(item, below)),
        Value::Object(members) => members.values().all(|member| is_flat(member, below)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_stored_in_the_most_readable_form() {
        assert_eq!(Body::of(Vec::new()), Body::Empty);
        let json = Body::of(br#"{"b":1,"a":[]}"#.to_vec());
        assert_eq!(json.to_bytes(), br#"{"a":[],"b":1}"#);
        assert_eq!(Body::of(b"7".to_vec()), Body::Text("7".to_owned()));
        assert_eq!(
            Body::of(b"{\"a\":".to_vec()),
            Body::Text("{\"a\":".to_owned())
        );
        assert_eq!(Body::of(vec![0xff, 0]), Body::Bytes(vec![0xff, 0]));
    }

    #[test]
    fn deeply_nested_json_is_kept_as_text() {
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(Body::of(deep.clone().into_bytes()), Body::Text(deep));
    }
}
