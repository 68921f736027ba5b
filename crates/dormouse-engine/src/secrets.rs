//! Keeping secrets out of the log: keys, passwords and card numbers are masked where they come in from outside, before
//! anything is decided or written. So the log, and what is decided again from it, never holds them.

use std::collections::BTreeMap;

use dormouse_contracts::{ChatReply, Outcome, Perception, StoredEvent, Words};
use dormouse_entities::{EntityChange, ObservationText};
use dormouse_redact::{RedactionProfile, SensitiveKind, is_named_secret, mask, scan};
use dormouse_text::{beginning, beginning_bytes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{builtin::MemoryAnswer, work::Done};

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
                    rejection.reason = prose(rejection.reason);
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
                MemoryAnswer::Refused(reason) => MemoryAnswer::Refused(prose(reason)),
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
        content: prose(reply.content),
        reasoning: prose(reply.reasoning),
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
            Err(_) => prose(written),
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
            rejection.reason = prose(rejection.reason);
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

fn prose(text: String) -> String {
    mask(&text, RedactionProfile::Memory).into_owned()
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

/// How many secrets of each kind the texts of an event hold. An event that was masked holds none.
#[must_use]
pub fn secrets_of(event: &StoredEvent) -> BTreeMap<SensitiveKind, u64> {
    let mut found = BTreeMap::new();
    if let Ok(payload) = serde_json::from_slice(&event.payload) {
        count(&payload, &mut found);
    }
    found
}

fn count(value: &Value, found: &mut BTreeMap<SensitiveKind, u64>) {
    match value {
        Value::String(text) => {
            for one in scan(text.as_bytes(), RedactionProfile::Values) {
                *found.entry(one.kind).or_default() += 1;
            }
        }
        Value::Array(items) => items.iter().for_each(|item| count(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| count(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
