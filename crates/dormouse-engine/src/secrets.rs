//! Keeping secrets out of the log: keys, passwords and card numbers are masked where they come in from outside, before
//! anything is decided or written. So the log, and what is decided again from it, never holds them.

use std::collections::BTreeMap;

use dormouse_contracts::{ChatReply, Outcome, Perception, StoredEvent, Words};
use dormouse_entities::{EntityChange, ObservationText};
use dormouse_redact::{RedactionProfile, SensitiveKind, is_named_secret, mask, scan};
use dormouse_text::{beginning, beginning_bytes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{builtin::MemoryAnswer, forgetting::IDS, work::Done};

/// Whether the log keeps secrets that somebody says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretsInLog {
    /// They are replaced by what they are, as in `[secret: password]`.
    #[default]
    Masked,
    /// They are kept as they are. The memory masks them nevertheless.
    Kept,
}

impl SecretsInLog {
    /// A message as the log takes it.
    pub(crate) fn perception(self, perception: Perception) -> Perception {
        match self {
            Self::Kept => perception,
            Self::Masked => Perception {
                words: words(perception.words),
                ..perception
            },
        }
    }

    /// How a call to the outside ended, as decisions take it: what a model writes and what a tool returns.
    pub(crate) fn done(self, done: Done) -> Done {
        match self {
            Self::Kept => done,
            Self::Masked => masked_result(done),
        }
    }
}

fn masked_result(done: Done) -> Done {
    match done {
        Done::Replied {
            reply,
            model,
            asked,
            duration_ms,
        } => Done::Replied {
            reply: masked_reply(reply),
            model,
            asked,
            duration_ms,
        },
        Done::Settled { key, outcome } => Done::Settled {
            key,
            outcome: masked_outcome(outcome),
        },
        Done::Observed { call, seen } => Done::Observed {
            call,
            seen: match seen {
                Ok(seen) => Ok(masked_value(seen)),
                Err(mut rejection) => {
                    rejection.reason = prose(&rejection.reason);
                    Err(rejection)
                }
            },
        },
        Done::MemoryAnswered { call, answer } => Done::MemoryAnswered {
            call,
            answer: match answer {
                MemoryAnswer::Found { result, trust } => MemoryAnswer::Found {
                    result: masked_value(result),
                    trust,
                },
                MemoryAnswer::Refused(reason) => MemoryAnswer::Refused(prose(&reason)),
                // These are made of a call that is masked already.
                other @ (MemoryAnswer::Stored { .. } | MemoryAnswer::Fits { .. }) => other,
            },
        },
        // The memory masks its records, and errors are masked where they come in.
        other @ (Done::Recollected(_) | Done::Failed { .. } | Done::WorldFailed(_)) => other,
    }
}

/// A model's reply without the secrets in its text, its thoughts and its calls.
pub(crate) fn masked_reply(reply: ChatReply) -> ChatReply {
    let mut reply = ChatReply {
        content: prose(&reply.content),
        reasoning: prose(&reply.reasoning),
        ..reply
    };
    for call in &mut reply.tool_calls {
        let written = std::mem::take(&mut call.arguments);
        call.arguments = match serde_json::from_str::<Value>(&written) {
            Ok(arguments) => {
                let masked = masked_value(arguments.clone());
                // Otherwise the model's own way of writing stays.
                if masked == arguments {
                    written
                } else {
                    masked.to_string()
                }
            }
            // The tools check what is not JSON; it is text until then.
            Err(_) => prose(&written),
        };
    }
    reply
}

fn masked_outcome(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Done(mut receipt) => {
            receipt.detail = masked_value(receipt.detail);
            Outcome::Done(receipt)
        }
        Outcome::Rejected(mut rejection) => {
            rejection.reason = prose(&rejection.reason);
            Outcome::Rejected(rejection)
        }
        Outcome::Unknown => Outcome::Unknown,
    }
}

/// A value with the secrets in its texts masked, and with every text whose name is that of a secret: `"password"`.
fn masked_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(mask(&text, RedactionProfile::Values).into_owned()),
        Value::Array(items) => Value::Array(items.into_iter().map(masked_value).collect()),
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| {
                let value = match value {
                    Value::String(text) if is_secret(&name, &text) => {
                        SensitiveKind::Password.mask().into()
                    }
                    other => masked_value(other),
                };
                (name, value)
            });
            Value::Object(fields.collect())
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// Whether a text is the value of a secret by its name, and not masked yet.
fn is_secret(name: &str, text: &str) -> bool {
    is_named_secret(name.as_bytes(), text.as_bytes())
        && !SensitiveKind::ALL.iter().any(|kind| kind.mask() == text)
}

fn prose(text: &str) -> String {
    mask(text, RedactionProfile::Memory).into_owned()
}

/// The words without secrets. A mask can be longer than the secret, so the end may be cut at the limit.
fn words(words: Words) -> Words {
    let masked = mask(words.as_claimed(), RedactionProfile::Memory);
    if masked == words.as_claimed() {
        return words;
    }
    Words::try_new(beginning_bytes(&masked, Words::LIMIT)).unwrap_or(words)
}

/// A change of what is known of somebody, with the secrets in what was noticed masked.
pub(crate) fn masked_observation(change: EntityChange) -> EntityChange {
    let EntityChange::Observed {
        entity,
        mut observation,
    } = change
    else {
        return change;
    };
    let text = observation.content.as_str();
    let masked = mask(text, RedactionProfile::Memory);
    if masked != text {
        // A mask can be longer than the secret.
        let fitting = beginning(&masked, ObservationText::LIMIT);
        if let Ok(masked) = ObservationText::try_new(fitting) {
            observation.content = masked;
        }
    }
    EntityChange::Observed {
        entity,
        observation,
    }
}

/// Fields of events, and of what a world keeps, in which somebody wrote prose.
const PROSE: [&str; 8] = [
    "words",
    "text",
    "content",
    "reasoning",
    "reason",
    "note",
    "description",
    "topic",
];

/// Masks the secrets in a payload that was written with them. With `is_cut` no text gets longer, for fields that have a limit.
/// Ids stay.
pub(crate) fn mask_payload(value: &mut Value, is_cut: bool) {
    mask_field("", value, is_cut);
}

fn mask_field(field: &str, value: &mut Value, is_cut: bool) {
    match value {
        Value::String(text) => {
            if let Some(masked) = masked_text(field, text) {
                let limit = match (is_cut, field) {
                    (true, _) => text.len(),
                    // The words of a message have a limit in every file.
                    (false, "words") => Words::LIMIT,
                    (false, _) => masked.len(),
                };
                *text = beginning_bytes(&masked, limit).to_owned();
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| mask_field(field, item, is_cut)),
        // Tools name their own fields, so a name there may say that the value is a secret.
        Value::Object(_) if matches!(field, "arguments" | "outcome") => {
            *value = masked_value(value.take());
        }
        Value::Object(fields) => {
            for (field, value) in fields {
                mask_field(field, value, is_cut);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A text of a field without secrets; `None` if it holds none. A text that is JSON itself stays JSON.
pub(crate) fn masked_text(field: &str, text: &str) -> Option<String> {
    if IDS.contains(&field) {
        return None;
    }
    if text.starts_with(['{', '['])
        && let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
    {
        let masked = masked_value(inner.clone());
        return (masked != inner).then(|| masked.to_string());
    }
    let profile = match PROSE.contains(&field) {
        true => RedactionProfile::Memory,
        false => RedactionProfile::Values,
    };
    let masked = mask(text, profile);
    (masked != text).then(|| masked.into_owned())
}

/// How many secrets of each kind the texts of an event hold. An event that was masked holds none.
#[must_use]
pub fn secrets_of(event: &StoredEvent) -> BTreeMap<SensitiveKind, u64> {
    let mut found = BTreeMap::new();
    if let Ok(payload) = serde_json::from_slice(&event.payload) {
        count("", &payload, &mut found);
    }
    found
}

fn count(field: &str, value: &Value, found: &mut BTreeMap<SensitiveKind, u64>) {
    match value {
        Value::String(text) if !IDS.contains(&field) => {
            for one in scan(text.as_bytes(), RedactionProfile::Values) {
                *found.entry(one.kind).or_default() += 1;
            }
        }
        Value::Array(items) => items.iter().for_each(|item| count(field, item, found)),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields.for_each(|(field, value)| count(field, value, found));
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{CallId, FinishReason, ToolCall};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const KEY: &str = "sk-proj-4fT9xQzLm28KpWvR7nYc3HdB6sJg1Ue0";

    fn reply(content: &str, arguments: &str) -> ChatReply {
        ChatReply {
            content: content.to_owned(),
            reasoning: content.to_owned(),
            tool_calls: vec![ToolCall {
                id: CallId::try_new("1").unwrap(),
                name: "say".to_owned(),
                arguments: arguments.to_owned(),
            }],
            finish: FinishReason::ToolCalls,
            usage: None,
            info: None,
        }
    }

    #[test]
    fn a_reply_loses_its_secrets_and_nothing_else() {
        let arguments =
            format!("{{\"message\": \"it is {KEY}\", \"password\": \"tea\", \"to\": \"#12\"}}");
        let masked = masked_reply(reply(&format!("The key is {KEY}."), &arguments));
        assert_eq!(masked.content, "The key is [secret: api key].");
        assert_eq!(masked.reasoning, masked.content);
        let written: Value = serde_json::from_str(&masked.tool_calls[0].arguments).unwrap();
        let expected = json!({"message": "it is [secret: api key]", "password": "[secret: password]", "to": "#12"});
        assert_eq!(written, expected);

        let harmless = reply("Tea at five.", "{ \"message\" : \"tea\" }");
        assert_eq!(masked_reply(harmless.clone()), harmless);
        let broken = masked_reply(reply("", &format!("message: {KEY}")));
        assert!(!broken.tool_calls[0].arguments.contains(KEY));
    }

    #[test]
    fn an_id_that_looks_random_is_kept_in_a_value() {
        let ids = json!({"target": "0f4c9b1e7a2d48d6b3c58e90a1f2d3c4b5a69788c0ffee11", "n": [1, null, true]});
        assert_eq!(masked_value(ids.clone()), ids);
    }

    #[test]
    fn words_at_the_limit_stay_words() {
        let secret = " my password: hunter2-Blue";
        let text = format!("{}{secret}", "x".repeat(Words::LIMIT - secret.len()));
        let masked = words(Words::try_new(text).unwrap());
        assert!(!masked.as_claimed().contains("hunter2-Blue"));
        assert_eq!(masked.as_claimed().len(), Words::LIMIT);
    }

    proptest! {
        #[test]
        fn what_is_masked_is_not_masked_again(
            text in "[a-z ]{0,20}(password: |token=|key )?[A-Za-z0-9-]{0,40}[a-z .]{0,10}",
            name in "(password|api_key|message|to)",
        ) {
            let once = masked_value(json!({ name: text.clone() }));
            prop_assert_eq!(masked_value(once.clone()), once);
            let spoken = prose(&text);
            prop_assert_eq!(prose(&spoken), spoken);
        }
    }
}
