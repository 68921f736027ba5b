//! Keeping secrets out of the log: keys, passwords and card numbers are masked where they come in from outside, before
//! anything is decided or written. So neither the log nor a replay of it contains them.

use std::{borrow::Cow, collections::BTreeMap};

use dormouse_contracts::{ChatReply, Outcome, Perception, StoredEvent, Words};
use dormouse_entities::{EntityChange, ObservationText};
use dormouse_redact::{RedactionProfile, SensitiveKind, is_named_secret, mask, scan};
use dormouse_text::{beginning, beginning_bytes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    builtin::MemoryAnswer,
    event::{EffectSettled, Event, Replied, ToolAnswered},
    forgetting::IDS,
    work::{Done, Seen},
};

/// Whether the log keeps secrets that somebody says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretsInLog {
    /// They are replaced by what they are, as in `[secret: password]`.
    #[default]
    Masked,
    /// The log keeps what people say and tools return as it is. The memory and the prompts still mask secrets. What a
    /// model writes is always masked, so the assistant never says a secret.
    Kept,
}

impl SecretsInLog {
    /// A message in the form in which the log stores it.
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
            Self::Kept => unspoken(done),
            Self::Masked => masked_result(unspoken(done)),
        }
    }
}

/// What a model writes is said or shown to it again, so it is masked under every setting.
fn unspoken(done: Done) -> Done {
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
        Done::Summarized {
            ask,
            outcome,
            duration_ms,
        } => Done::Summarized {
            ask,
            outcome: outcome.map(|(model, reply)| (model, masked_reply(reply))),
            duration_ms,
        },
        other => other,
    }
}

fn masked_result(done: Done) -> Done {
    match done {
        Done::Settled { key, outcome } => Done::Settled {
            key,
            outcome: masked_outcome(outcome),
        },
        Done::Observed { call, seen } => Done::Observed {
            call,
            seen: match seen {
                Seen::Shown(seen) => Seen::Shown(masked_values(seen)),
                Seen::Refused(mut rejection) => {
                    rejection.reason = prose(&rejection.reason);
                    Seen::Refused(rejection)
                }
                Seen::NoAnswer(why) => Seen::NoAnswer(prose(&why)),
            },
        },
        Done::MemoryAnswered { call, answer } => Done::MemoryAnswered {
            call,
            answer: match answer {
                MemoryAnswer::Found { result, trust } => MemoryAnswer::Found {
                    result: masked_values(result),
                    trust,
                },
                MemoryAnswer::Refused(reason) => MemoryAnswer::Refused(prose(&reason)),
                // These come from a call that is already masked, or only name records.
                other @ (MemoryAnswer::Stored { .. }
                | MemoryAnswer::Fits { .. }
                | MemoryAnswer::Similar(_)) => other,
            },
        },
        // The memory masks its records, and errors are masked where they come in.
        other @ (Done::Replied { .. }
        // Only a number is kept of the reply.
        | Done::Assessed(_)
        | Done::Summarized { .. }
        | Done::FactsExtracted(_)
        | Done::Recollected(_)
        | Done::Failed { .. }
        | Done::WorldFailed(_)) => other,
    }
}

/// An event in the form in which the state folds it in. A log may keep secrets. Prompts are built from the state, so
/// they never contain one.
pub(crate) fn without_secrets(event: &Event) -> Cow<'_, Event> {
    let masked = match event {
        Event::Perceived(perceived) => {
            let said = words(perceived.perception.words.clone());
            let is_masked = said != perceived.perception.words;
            is_masked.then(|| {
                let mut perceived = perceived.clone();
                perceived.perception.words = said;
                Event::Perceived(perceived)
            })
        }
        Event::Replied(replied) => {
            let reply = masked_reply(replied.reply.clone());
            let is_masked = reply != replied.reply;
            is_masked.then(|| {
                Event::Replied(Replied {
                    reply,
                    ..replied.clone()
                })
            })
        }
        Event::ToolAnswered(answered) => {
            masked_at(Place::EVENT, &answered.content).map(|content| {
                Event::ToolAnswered(ToolAnswered {
                    content,
                    ..answered.clone()
                })
            })
        }
        Event::EffectSettled(settled) => masked_at(Place::EVENT, &settled.content).map(|content| {
            Event::EffectSettled(EffectSettled {
                content,
                ..settled.clone()
            })
        }),
        _ => None,
    };
    masked.map_or(Cow::Borrowed(event), Cow::Owned)
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
            // Arguments without secrets stay exactly as the model wrote them.
            Ok(mut arguments) => match mask_values(&mut arguments) {
                true => arguments.to_string(),
                false => written,
            },
            // Arguments that are not JSON are treated as text here; the tools check them later.
            Err(_) => prose(&written),
        };
    }
    reply
}

fn masked_outcome(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Done(mut receipt) => {
            mask_values(&mut receipt.detail);
            Outcome::Done(receipt)
        }
        Outcome::Rejected(mut rejection) => {
            rejection.reason = prose(&rejection.reason);
            Outcome::Rejected(rejection)
        }
        Outcome::Unknown => Outcome::Unknown,
    }
}

/// Where a text is in a JSON value.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// The name of its field, or of the field of its list.
    field: &'a str,
    /// Whether a tool named the field. An event names its own fields, and each has a known meaning.
    is_of_tool: bool,
}

impl Place<'_> {
    const EVENT: Self = Place {
        field: "",
        is_of_tool: false,
    };
    const TOOL: Self = Place {
        field: "",
        is_of_tool: true,
    };

    /// Which rules search the text at this place; `None` for an id, which is never masked.
    fn profile(self) -> Option<RedactionProfile> {
        match self.field {
            _ if self.is_of_tool => Some(RedactionProfile::Values),
            field if IDS.contains(&field) => None,
            field if PROSE.contains(&field) => Some(RedactionProfile::Memory),
            _ => Some(RedactionProfile::Values),
        }
    }
}

/// Replaces every text of a value for which `replaced` returns a replacement. Returns whether any text changed.
fn replace_texts(
    value: &mut Value,
    place: Place<'_>,
    replaced: &mut impl FnMut(Place<'_>, &str) -> Option<String>,
) -> bool {
    let mut is_changed = false;
    match value {
        Value::String(text) => {
            if let Some(new) = replaced(place, text).filter(|new| new != text) {
                *text = new;
                is_changed = true;
            }
        }
        Value::Array(items) => {
            let place = match place.is_of_tool {
                true => Place::TOOL,
                false => place,
            };
            for item in items {
                is_changed |= replace_texts(item, place, replaced);
            }
        }
        Value::Object(fields) => {
            let is_of_tool = place.is_of_tool || matches!(place.field, "arguments" | "outcome");
            for (field, value) in fields {
                let place = Place { field, is_of_tool };
                is_changed |= replace_texts(value, place, replaced);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    is_changed
}

/// Masks the secrets in the texts of a value, and every text whose field is named like a secret, such as `"password"`.
/// Returns whether there were any.
fn mask_values(value: &mut Value) -> bool {
    replace_texts(value, Place::TOOL, &mut masked_at)
}

fn masked_values(mut value: Value) -> Value {
    mask_values(&mut value);
    value
}

/// The text with its secrets masked; `None` if it contains none.
fn masked_at(place: Place<'_>, text: &str) -> Option<String> {
    if place.is_of_tool && is_secret(place.field, text) {
        return Some(SensitiveKind::Password.mask().to_owned());
    }
    // A text that is itself JSON stays JSON.
    if !place.is_of_tool
        && place.profile().is_some()
        && text.starts_with(['{', '['])
        && let Ok(mut inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
    {
        return mask_values(&mut inner).then(|| inner.to_string());
    }
    let masked = mask(text, place.profile()?);
    (masked != text).then(|| masked.into_owned())
}

/// Whether the name of a field says that its text is a secret, and the text is not masked yet.
fn is_secret(name: &str, text: &str) -> bool {
    is_named_secret(name.as_bytes(), text.as_bytes())
        && !SensitiveKind::ALL.iter().any(|kind| kind.mask() == text)
}

/// The text with its secrets masked.
pub(crate) fn prose(text: &str) -> String {
    mask(text, RedactionProfile::Memory).into_owned()
}

/// The words with their secrets masked. A mask can be longer than the secret, so the end may be cut at the limit.
fn words(words: Words) -> Words {
    let masked = mask(words.as_claimed(), RedactionProfile::Memory);
    if masked == words.as_claimed() {
        return words;
    }
    Words::try_new(beginning_bytes(&masked, Words::LIMIT)).unwrap_or(words)
}

/// A change to what is known about somebody, with the secrets in its observation masked.
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

/// Fields of events and of worlds' files that contain prose.
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

/// Masks the secrets in a stored payload. With `is_cut` no text gets longer, for fields that have a limit.
/// Ids stay. Returns whether there were any.
pub(crate) fn mask_payload(value: &mut Value, is_cut: bool) -> bool {
    replace_texts(value, Place::EVENT, &mut |place, text| {
        let masked = masked_at(place, text)?;
        let limit = match place.field {
            _ if place.is_of_tool => masked.len(),
            _ if is_cut => text.len(),
            // The words of a message are limited in every file.
            "words" => Words::LIMIT,
            _ => masked.len(),
        };
        Some(beginning_bytes(&masked, limit).to_owned())
    })
}

/// A text of another file with its secrets masked; `None` if it contains none.
pub(crate) fn masked_text(text: &str) -> Option<String> {
    let field = "text";
    masked_at(
        Place {
            field,
            ..Place::EVENT
        },
        text,
    )
}

/// How many secrets of each kind the texts of an event contain: 0 for a masked event.
#[must_use]
pub fn secrets_of(event: &StoredEvent) -> BTreeMap<SensitiveKind, u64> {
    let mut found = BTreeMap::new();
    let mut payload = serde_json::from_slice(&event.payload).unwrap_or_default();
    replace_texts(&mut payload, Place::EVENT, &mut |place, text| {
        let is_named = place.is_of_tool && is_secret(place.field, text);
        // Text that only looks random is not counted: in a log it may be an id.
        let kinds = match place.profile() {
            _ if is_named => vec![SensitiveKind::Password],
            Some(_) => {
                let found = scan(text.as_bytes(), RedactionProfile::Values);
                found.into_iter().map(|one| one.kind).collect()
            }
            None => Vec::new(),
        };
        for kind in kinds {
            *found.entry(kind).or_default() += 1;
        }
        None
    });
    found
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
        assert_eq!(masked_values(ids.clone()), ids);
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
            let once = masked_values(json!({ name: text.clone() }));
            prop_assert_eq!(masked_values(once.clone()), once);
            let spoken = prose(&text);
            prop_assert_eq!(prose(&spoken), spoken);
        }
    }
}
