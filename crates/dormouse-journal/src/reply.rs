//! Reading JSON from the reply of a model, with any text around it.

use dormouse_text::beginning_bytes;
use serde_json::{Deserializer, Map, Value};

/// How much of a reply is read, in bytes.
const LONGEST: usize = 64 * 1024;
/// The number of brackets at which a value may begin. Each attempt may read the rest of the reply, so without this
/// bound a reply of brackets would take quadratic time.
const MOST_STARTS: usize = 128;

/// The part of a reply that is read.
pub(crate) fn beginning(reply: &str) -> &str {
    beginning_bytes(reply, LONGEST)
}

/// The objects in a reply, in order. An object that only wraps lists is replaced by the objects in these lists. If a
/// list is cut off, its complete objects count.
pub(crate) fn objects(reply: &str) -> Vec<Map<String, Value>> {
    let mut found = Vec::new();
    each_value(reply, '{', |value| {
        if let Value::Object(object) = value {
            let lists = object.values().filter_map(Value::as_array).flatten();
            let inner: Vec<_> = lists.filter_map(Value::as_object).cloned().collect();
            match inner.is_empty() {
                true => found.push(object),
                false => found.extend(inner),
            }
        }
    });
    found
}

/// The numbers of a reply that is only a list of numbers.
pub(crate) fn numbers(reply: &str) -> Option<Vec<f64>> {
    let reply = reply.trim().trim_matches('`');
    let reply = reply.strip_prefix("json").unwrap_or(reply).trim();
    serde_json::from_str(reply).ok()
}

/// The first list in a reply that contains only texts.
pub(crate) fn texts(reply: &str) -> Option<Vec<String>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut found = None;
    each_value(reply, '[', |value| {
        let members = value.as_array().into_iter().flatten();
        let read: Option<Vec<String>> = members.map(text).collect();
        if found.is_none() {
            found = read.filter(|read| !read.is_empty());
        }
    });
    found
}

/// Calls `each` with every complete value that begins with this bracket and is not inside of another such value.
fn each_value(reply: &str, bracket: char, mut each: impl FnMut(Value)) {
    let mut from = 0;
    for _ in 0..MOST_STARTS {
        let Some(rest) = reply.get(from..) else {
            return;
        };
        let Some(rest) = rest.find(bracket).and_then(|at| {
            from += at;
            reply.get(from..)
        }) else {
            return;
        };
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                from += values.byte_offset();
                each(value);
            }
            Some(Err(_)) | None => from += 1,
        }
    }
}
