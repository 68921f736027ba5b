//! Reading JSON objects from the reply of a model, with any text around them.

use dormouse_contracts::invariant;
use serde_json::{Deserializer, Map, Value};

/// How much of a reply is read, in bytes.
const LONGEST: usize = 256 * 1024;
/// At how many braces an object is looked for. Each attempt may read the rest of the reply, so without this bound a reply of
/// braces would take quadratic time.
const MOST_STARTS: usize = 512;

/// The objects of a list in `reply`; `None` if there is neither an object nor an empty list.
///
/// Fences and prose around the list are ignored. The list may be the value of a field. Of a list that is cut off or partly
/// damaged, the complete objects count.
pub(super) fn objects(reply: &str) -> Option<Vec<Map<String, Value>>> {
    let reply = dormouse_text::beginning_bytes(reply, LONGEST);
    let mut found = Vec::new();
    let mut from = 0;
    for _ in 0..MOST_STARTS {
        let Some(start) = reply.get(from..).and_then(|rest| rest.find('{')) else {
            break;
        };
        let start = from + start;
        let rest = invariant!(reply.get(start..), "a brace is one byte");
        let mut values = Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        match values.next() {
            Some(Ok(object)) => {
                from = start + values.byte_offset();
                unwrap_into(object, &mut found);
            }
            Some(Err(_)) | None => from = start + 1,
        }
    }
    (!found.is_empty() || is_empty_list(reply)).then_some(found)
}

/// Adds the object, or if it only wraps lists of objects, the members of these lists.
fn unwrap_into(object: Map<String, Value>, found: &mut Vec<Map<String, Value>>) {
    let is_list = |value: &Value| match value {
        Value::Array(members) => members.iter().all(Value::is_object),
        _ => false,
    };
    let envelope = !object.is_empty()
        && !object.contains_key("text")
        && !object.contains_key("fact")
        && object.values().any(is_list);
    if !envelope {
        found.push(object);
        return;
    }
    for value in object.into_iter().map(|(_, value)| value).filter(is_list) {
        if let Value::Array(members) = value {
            found.extend(members.into_iter().filter_map(|member| match member {
                Value::Object(member) => Some(member),
                _ => None,
            }));
        }
    }
}

/// Whether the reply is an empty list.
fn is_empty_list(reply: &str) -> bool {
    let mut brackets = reply.match_indices('[');
    brackets.any(|(at, _)| {
        let rest = invariant!(reply.get(at + 1..), "a bracket is one byte");
        rest.trim_start().starts_with(']')
    }) || reply.trim() == "{}"
}

/// The text of a field, in one line and cut to `limit` bytes; `None` if it is not a text or is blank.
pub(super) fn text(object: &Map<String, Value>, field: &str, limit: usize) -> Option<String> {
    let text = super::source::one_line(object.get(field)?.as_str()?, limit);
    (!text.is_empty()).then_some(text)
}

/// The words of a field that is a list, a text with commas, or a number; at most `most`, each cut to `limit` bytes.
pub(super) fn list(
    object: &Map<String, Value>,
    field: &str,
    most: usize,
    limit: usize,
) -> Vec<String> {
    let word = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let words: Vec<String> = match object.get(field) {
        Some(Value::Array(values)) => values.iter().filter_map(word).collect(),
        Some(Value::String(text)) => text.split(',').map(str::to_owned).collect(),
        Some(value) => word(value).into_iter().collect(),
        None => Vec::new(),
    };
    let words = words
        .iter()
        .map(|word| super::source::one_line(word, limit));
    words.filter(|word| !word.is_empty()).take(most).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(reply: &str) -> Option<Vec<String>> {
        let objects = objects(reply)?;
        Some(
            objects
                .iter()
                .filter_map(|object| text(object, "text", 20))
                .collect(),
        )
    }

    #[test]
    fn complete_objects_are_read_from_any_text_around_them() {
        let both = Some(vec!["a".to_owned(), "b".to_owned()]);
        let one = Some(vec!["a".to_owned()]);
        let none = Some(Vec::new());
        let cases = [
            (r#"[{"text":"a"},{"text":"b"}]"#, &both),
            (
                "Sure! Here:\n```json\n[{\"text\":\"a\"},\n {\"text\":\"b\"}]\n```\nAnything else?",
                &both,
            ),
            (r#"{"memories":[{"text":"a"},{"text":"b"}]}"#, &both),
            (r#"[{"text":"a"},{"text":"b"},{"text":"c"#, &both),
            (r#"{"facts":[{"text":"a"},{"text":"b"},{"te"#, &both),
            (r#"[{"text":"a"},{"text":NaN},{"text":"b"}]"#, &both),
            ("{\"text\":\"a\"}\n{\"text\":\"b\"}", &both),
            (r#"{"text":"a","from":[]}"#, &one),
            (
                "<think>[{is this JSON?}]</think>[{\"text\":\" a\\n\"}]",
                &one,
            ),
            ("[]", &none),
            ("```json\n[ ]\n```", &none),
            ("{}", &none),
            (r#"{"facts": []}"#, &none),
            ("I cannot help with that.", &None),
            ("", &None),
            ("[{\"text\":", &None),
        ];
        for (reply, expected) in cases {
            assert_eq!(&texts(reply), expected, "{reply}");
        }
    }

    #[test]
    fn hostile_replies_are_read_in_bounded_time() {
        for piece in ["{", "[", "{\"a\":", "[{", "\"{"] {
            let reply = piece.repeat(200_000 / piece.len());
            assert_eq!(objects(&reply), None);
        }
    }

    proptest! {
        #[test]
        fn no_reply_makes_it_panic(reply in "[\\[\\]{}\":,a-z0-9é ]{0,80}") {
            let _read = objects(&reply);
        }

        #[test]
        fn complete_objects_of_a_reply_cut_off_anywhere_are_always_read(cut in 0..60_usize) {
            let reply = r#"[{"text":"a","from":["m1"]},{"text":"b","from":["m2"]}]"#;
            let cut = cut.min(reply.len());
            let whole = usize::from(cut >= 27) + usize::from(cut >= 54);
            prop_assert_eq!(objects(&reply[..cut]).unwrap_or_default().len(), whole);
        }
    }
}
