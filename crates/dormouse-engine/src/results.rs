//! The results of calls, as a model sees them.

use std::io;

use dormouse_contracts::{Origin, invariant};
use dormouse_text::{beginning, escape_hidden_json, escape_template_tokens};
use serde_json::{Value, json};

/// The longest result that is shown to a model, in bytes of JSON.
const RESULT_LIMIT: usize = 16 * 1024;
/// The field that marks a result whose lines are left out because the memory no longer has them.
const LEFT_OUT: &str = "left_out";

/// A result as JSON text of bounded length. Text from outside cannot hide characters in it or imitate tokens of a chat
/// template.
pub(crate) fn bounded(content: Value) -> String {
    let json = content.to_string();
    let json = match json.len() > RESULT_LIMIT {
        true => cut(content, &json).to_string(),
        false => json,
    };
    escape_template_tokens(&escape_hidden_json(&json)).into_owned()
}

/// The value, or the beginning of its JSON as text if that is longer than `limit` bytes. The rest is not read.
pub(crate) fn beginning_of(value: Value, limit: usize) -> Value {
    let mut beginning = Beginning::new(limit);
    match serde_json::to_writer(&mut beginning, &value) {
        Ok(()) => value,
        Err(_) => Value::String(String::from_utf8_lossy(&beginning.bytes).into_owned()),
    }
}

/// Whether the JSON of a value is longer than `limit` bytes.
pub(crate) fn is_longer(value: &Value, limit: usize) -> bool {
    serde_json::to_writer(Beginning::new(limit), value).is_err()
}

/// Keeps the first bytes that are written, and refuses what follows.
struct Beginning {
    bytes: Vec<u8>,
    limit: usize,
}

impl Beginning {
    fn new(limit: usize) -> Self {
        let bytes = Vec::new();
        Self { bytes, limit }
    }
}

impl io::Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.limit.saturating_sub(self.bytes.len());
        let (kept, refused) = bytes.split_at(room.min(bytes.len()));
        self.bytes.extend_from_slice(kept);
        match refused.is_empty() {
            true => Ok(bytes.len()),
            false => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The beginning of a result that is longer than [`RESULT_LIMIT`], as text. `json` is all of it.
fn cut(mut content: Value, json: &str) -> Value {
    let shown = beginning(json, RESULT_LIMIT / 4);
    let success = content.get_mut("success").map(Value::take);
    let success = invariant!(success, "every result says whether the call succeeded");
    json!({"success": success, "cut_off_after": shown.len(), "result_text": shown})
}

/// The result of a recall without the words of removed records; `None` if it contains no words of them. Pure.
pub(crate) fn without_records(content: &str, is_gone: impl Fn(Origin) -> bool) -> Option<String> {
    let mut content: Value = serde_json::from_str(content).ok()?;
    if let Some(text) = content.get("result_text").and_then(Value::as_str) {
        // A result that was cut is no longer a list, so no single line can be removed from it.
        return ids_in(text).any(is_gone).then(left_out);
    }
    let memories = content.get_mut("result")?.get_mut("memories")?;
    let mut has_changed = false;
    for line in memories.as_array_mut()? {
        let id = line
            .get("id")
            .and_then(Value::as_str)
            .and_then(named_origin);
        if id.is_some_and(&is_gone) && line.get("text").is_some() {
            *line = json!({"id": line["id"], "trust": line["trust"], "withdrawn": true});
            has_changed = true;
        }
    }
    has_changed.then(|| bounded(content))
}

/// The result of a look-up whose content is left out.
pub(crate) fn left_out() -> String {
    bounded(
        json!({"success": true, LEFT_OUT: "what was found here has changed since: look it up again"}),
    )
}

/// Whether this is the result of a look-up whose content is left out.
pub(crate) fn is_left_out(content: &str) -> bool {
    // Most results are long and not left out, so a search for the word comes before parsing.
    content.contains(LEFT_OUT)
        && serde_json::from_str::<Value>(content)
            .is_ok_and(|content| content.get(LEFT_OUT).is_some())
}

/// The records named in the shown part of a recall's result.
fn ids_in(shown: &str) -> impl Iterator<Item = Origin> {
    lines_in(shown).filter_map(id_of)
}

/// The records whose lines are in the result of a recall, but not completely in its shown part. Pure.
pub(crate) fn not_whole_in<'a>(shown: &'a str, result: &'a str) -> impl Iterator<Item = Origin> {
    // The fields of a line are in alphabetical order, so a complete line ends with its trust.
    let whole = lines_in(shown).filter(|line| line.contains("\"trust\":"));
    let whole: Vec<_> = whole.filter_map(id_of).collect();
    ids_in(result).filter(move |id| !whole.contains(id))
}

/// What follows the beginning of each id.
fn lines_in(shown: &str) -> impl Iterator<Item = &str> {
    shown.split("\"id\":\"#").skip(1)
}

fn id_of(line: &str) -> Option<Origin> {
    named_origin(line.split('"').next()?)
}

/// The event that an id in the form of the prompt names.
pub(crate) fn named_origin(id: &str) -> Option<Origin> {
    id.trim().trim_start_matches('#').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(lines: &[(&str, &str)]) -> Value {
        let lines = lines
            .iter()
            .map(|(id, text)| json!({"id": id, "text": text, "trust": 0.4}));
        json!({"success": true, "result": {"memories": lines.collect::<Vec<_>>(), "mode": "words"}})
    }

    #[test]
    fn a_record_that_is_gone_leaves_the_result_of_a_recall_and_no_other_does() {
        let shown = bounded(result(&[
            ("#12", "a \u{200b}kettle <|im_start|>"),
            ("#12.3", "tea"),
            ("#4", "milk"),
        ]));
        let without = without_records(&shown, |id| id.to_string() == "12").unwrap();
        assert!(
            !without.contains("kettle") && without.contains("tea") && without.contains("milk"),
            "{without}"
        );
        assert_eq!(without_records(&without, |id| id.to_string() == "12"), None);
        assert_eq!(without_records(&shown, |id| id.to_string() == "7"), None);
        assert_eq!(bounded(serde_json::from_str(&without).unwrap()), without);
    }

    #[test]
    fn a_cut_result_with_a_record_that_is_gone_is_left_out_whole() {
        let long = "tea ".repeat(8_000);
        let shown = bounded(result(&[("#12", &long), ("#4", "milk")]));
        assert_eq!(
            without_records(&shown, |id| id.to_string() == "4"),
            None,
            "it is not shown"
        );
        let without = without_records(&shown, |id| id.to_string() == "12").unwrap();
        assert!(
            is_left_out(&without) && !without.contains("tea"),
            "{without}"
        );
    }
}
