//! The outcomes of the calls so far.

use dormouse_contracts::TurnCall;
use serde_json::Value;

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// It succeeded with this result.
    Success(Value),
    /// It failed for this reason.
    Failure(String),
    /// It may have succeeded.
    Unknown,
}

impl Outcome {
    /// Returns the outcome of a call. Without a result it is unknown.
    pub(crate) fn of(call: &TurnCall) -> Self {
        call.result.as_deref().map_or(Self::Unknown, read_result)
    }
}

fn read_result(content: &str) -> Outcome {
    let Ok(mut json) = serde_json::from_str::<Value>(content) else {
        return Outcome::Failure("its result could not be read".to_owned());
    };
    let result = json.get_mut("result").map(Value::take);
    // A result that was too long is missing. A note in the same object replaces it, so the whole object is used.
    let result = result.unwrap_or_else(|| json.clone());
    let is_unknown = |value: &Value| {
        value
            .get("outcome")
            .is_some_and(|outcome| outcome == "unknown")
    };
    if is_unknown(&json) || is_unknown(&result) {
        Outcome::Unknown
    } else if json.get("success").and_then(Value::as_bool) == Some(true) {
        Outcome::Success(result)
    } else {
        let reason = json.get("error").and_then(Value::as_str);
        Outcome::Failure(reason.unwrap_or("no reason was given").to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_outcome_of_an_effect_is_parsed_from_its_result() {
        for (result, outcome) in [
            (
                Some(r#"{"success":true,"result":7}"#),
                Outcome::Success(json!(7)),
            ),
            (
                Some(r#"{"success":false,"error":"shut"}"#),
                Outcome::Failure("shut".to_owned()),
            ),
            (
                Some("nonsense"),
                Outcome::Failure("its result could not be read".to_owned()),
            ),
            (
                Some(r#"{"success":false,"outcome":"unknown"}"#),
                Outcome::Unknown,
            ),
            (None, Outcome::Unknown),
        ] {
            let call = TurnCall {
                tool: "move".to_owned(),
                arguments: String::new(),
                result: result.map(str::to_owned),
            };
            assert_eq!(Outcome::of(&call), outcome, "{result:?}");
        }
    }
}
