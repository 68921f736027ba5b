//! What was done so far, and what became of it.

use dormouse_contracts::Message;
use serde_json::Value;

/// A tool that was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deed<'a> {
    /// The tool.
    pub(super) tool: String,
    /// The text of its result; none if it never came.
    result: Option<&'a str>,
}

impl Deed<'_> {
    /// What became of it.
    pub(super) fn outcome(&self) -> Outcome {
        // A call whose result never came may have happened or not.
        self.result.map_or(Outcome::Unknown, read_result)
    }
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// It was done, and this came of it.
    Success(Value),
    /// It was not done, for this reason.
    Failure(String),
    /// It may have been done.
    Unknown,
}

/// The calls in these messages, in order, in either form.
pub(super) fn deeds(messages: &[Message]) -> Vec<Deed<'_>> {
    let mut deeds = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let Message::Assistant {
            content,
            tool_calls,
        } = message
        else {
            continue;
        };
        deeds.extend(tool_calls.iter().map(|call| Deed {
            tool: call.name.clone(),
            result: messages.iter().find_map(|message| match message {
                Message::Tool { call_id, content } if *call_id == call.id => Some(content.as_str()),
                _ => None,
            }),
        }));
        if tool_calls.is_empty()
            && let Some(tool) = called_in_text(content)
        {
            let next = messages.get(at + 1);
            let result = next.and_then(|next| result_in_text(next, &tool));
            deeds.push(Deed { tool, result });
        }
    }
    deeds
}

/// The tool that a text calls, if it is a call: `{"tool": "say", "parameters": {…}}`.
pub(super) fn called_in_text(content: &str) -> Option<String> {
    let call: Value = serde_json::from_str(content).ok()?;
    Some(call.get("tool")?.as_str()?.to_owned())
}

/// Is this the result of a call that was made in text, whatever else stands behind it?
pub(super) fn is_result(message: &Message) -> bool {
    matches!(message, Message::User { content } if content.starts_with(RESULT))
}

const RESULT: &str = "[TOOL RESULT: ";

/// The result behind the line `[TOOL RESULT: say]`, up to an empty line.
fn result_in_text<'a>(message: &'a Message, tool: &str) -> Option<&'a str> {
    let Message::User { content } = message else {
        return None;
    };
    let rest = content.strip_prefix(RESULT)?.strip_prefix(tool)?;
    rest.strip_prefix("]\n")?.split("\n\n").next()
}

fn read_result(content: &str) -> Outcome {
    let Ok(mut told) = serde_json::from_str::<Value>(content) else {
        return Outcome::Failure("its result could not be read".to_owned());
    };
    let result = told.get_mut("result").map(Value::take);
    // A result that was too long to be shown says so beside where it would be.
    let result = result.unwrap_or_else(|| told.clone());
    let is_unknown = |value: &Value| {
        value
            .get("outcome")
            .is_some_and(|outcome| outcome == "unknown")
    };
    if is_unknown(&told) || is_unknown(&result) {
        Outcome::Unknown
    } else if told.get("success").and_then(Value::as_bool) == Some(true) {
        Outcome::Success(result)
    } else {
        let reason = told.get("error").and_then(Value::as_str);
        Outcome::Failure(reason.unwrap_or("no reason was given").to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(content: &str) -> Message {
        Message::Assistant {
            content: content.to_owned(),
            tool_calls: Vec::new(),
        }
    }

    fn user(content: &str) -> Message {
        Message::User {
            content: content.to_owned(),
        }
    }

    #[test]
    fn a_call_in_text_is_tied_to_the_result_right_behind_it() {
        let call = said(r#"{"tool": "move", "parameters": {}}"#);
        for (behind, outcome) in [
            (
                "[TOOL RESULT: move]\n{\"success\":true,\"result\":7}\n\n[a note]",
                Outcome::Success(json!(7)),
            ),
            (
                "[TOOL RESULT: move]\n{\"success\":false,\"error\":\"shut\"}",
                Outcome::Failure("shut".to_owned()),
            ),
            (
                "[TOOL RESULT: move]\nnonsense",
                Outcome::Failure("its result could not be read".to_owned()),
            ),
            ("[TOOL RESULT: say]\n{\"success\":true}", Outcome::Unknown),
            ("{\"success\":true}", Outcome::Unknown),
        ] {
            let messages = [said("I go."), call.clone(), user(behind)];
            let outcomes: Vec<_> = deeds(&messages)
                .iter()
                .map(|deed| (deed.tool.clone(), deed.outcome()))
                .collect();
            assert_eq!(outcomes, [("move".to_owned(), outcome)], "{behind}");
        }
        assert_eq!(deeds(&[call])[0].outcome(), Outcome::Unknown);
    }

    #[test]
    fn what_is_no_call_is_no_deed() {
        let messages = ["Hello.", "", "{}", r#"{"tool": 7}"#, "[1]"].map(said);
        assert_eq!(deeds(&messages), []);
    }
}
