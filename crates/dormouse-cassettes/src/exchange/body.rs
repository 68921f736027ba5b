//! The body of a request, in the form that is easiest to read.

use serde_json::Value;

/// The body of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// There was none.
    Empty,
    /// JSON, compared by what it says and not by how it is written.
    Json(Value),
    /// Other text.
    Text(String),
    /// What is no UTF-8; base64 in the file.
    Bytes(Vec<u8>),
}

/// How deep JSON may be nested to be kept as JSON. Deeper than this by a few it could be written but not read.
const DEEPEST: usize = 64;

impl Body {
    /// The body that these bytes are: JSON if they are a document of moderate depth, else text if they are UTF-8.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Self {
        if bytes.is_empty() {
            return Self::Empty;
        }
        match serde_json::from_slice::<Value>(&bytes) {
            // A number or word by itself reads better as the text it is.
            Ok(value) if (value.is_object() || value.is_array()) && is_flat(&value, DEEPEST) => {
                Self::Json(value)
            }
            Ok(_) | Err(_) => match String::from_utf8(bytes) {
                Ok(text) => Self::Text(text),
                Err(other) => Self::Bytes(other.into_bytes()),
            },
        }
    }

    /// The bytes of the body; JSON on one line, with its members in order of their names.
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
    fn a_body_is_kept_in_the_form_that_reads_best() {
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
    fn json_too_deep_for_the_file_is_kept_as_text() {
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(Body::of(deep.clone().into_bytes()), Body::Text(deep));
    }
}
