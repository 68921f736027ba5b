//! One event of a streamed reply, read with as few expectations as possible.
//!
//! Servers differ: content that is null or a list of parts, indices and ids left out, usage in an event without choices,
//! arguments as an object, fields nobody has heard of. Whatever has another type than expected counts as absent.

use serde::Deserialize;
use serde_json::Value;

use crate::stream::or_default;

/// One event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    #[serde(deserialize_with = "or_default")]
    pub(super) choices: Vec<Choice>,
    #[serde(deserialize_with = "or_default")]
    pub(super) usage: Option<Value>,
    /// Groq's place for the usage.
    #[serde(deserialize_with = "or_default")]
    pub(super) x_groq: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) model: Option<String>,
    /// Whom OpenRouter has asked.
    #[serde(deserialize_with = "or_default")]
    pub(super) provider: Option<String>,
    pub(super) error: Option<Value>,
}

impl Chunk {
    /// What was counted, wherever it stands.
    pub(super) fn usage(&self) -> Option<&Value> {
        let of_groq = self.x_groq.as_ref().and_then(|groq| groq.get("usage"));
        self.usage.as_ref().or(of_groq)
    }
}

/// One of the replies that are streamed; only the first is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    #[serde(deserialize_with = "or_default")]
    pub(super) index: u64,
    #[serde(deserialize_with = "or_default")]
    pub(super) delta: Delta,
    #[serde(deserialize_with = "or_default")]
    pub(super) finish_reason: Option<String>,
    /// The finish reason in the words of whom OpenRouter has asked.
    #[serde(deserialize_with = "or_default")]
    pub(super) native_finish_reason: Option<String>,
    pub(super) error: Option<Value>,
}

/// What is new.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    pub(super) content: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    pub(super) refusal: Option<String>,
    /// llama-server's and others' name for thoughts.
    #[serde(deserialize_with = "or_default")]
    pub(super) reasoning_content: Option<String>,
    /// OpenRouter's.
    #[serde(deserialize_with = "or_default")]
    pub(super) reasoning: Option<String>,
    /// OpenRouter's other one, in parts.
    #[serde(deserialize_with = "or_default")]
    pub(super) reasoning_details: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    pub(super) tool_calls: Vec<CallPiece>,
    /// The call of older servers, of which a reply has one at most.
    #[serde(deserialize_with = "or_default")]
    pub(super) function_call: Option<FunctionPiece>,
}

impl Delta {
    /// What the model thinks, under whichever name: servers that use several repeat themselves.
    pub(super) fn thoughts(&self) -> String {
        let named = [&self.reasoning_content, &self.reasoning];
        let mut named = named.into_iter().flatten().filter(|text| !text.is_empty());
        if let Some(text) = named.next() {
            return text.clone();
        }
        let in_details = texts(self.reasoning_details.as_ref(), &["text", "summary"]);
        let in_content = match &self.content {
            Some(Value::Array(parts)) => parts
                .iter()
                .map(|part| texts(part.get("thinking"), &["text"]))
                .collect(),
            _ => String::new(),
        };
        in_details + &in_content
    }

    /// What it says: a text, or the texts of a list of parts.
    pub(super) fn text(&self) -> String {
        match &self.content {
            Some(Value::String(text)) => text.clone(),
            Some(parts @ Value::Array(_)) => texts(Some(parts), &["text"]),
            _ => String::new(),
        }
    }
}

/// The texts of the parts, each under the first of these names that it has.
fn texts(parts: Option<&Value>, names: &[&str]) -> String {
    let text_of = |part: &Value| {
        let mut texts = names
            .iter()
            .filter_map(|name| part.get(name)?.as_str().map(str::to_owned));
        texts.next()
    };
    match parts {
        Some(Value::Array(parts)) => parts.iter().filter_map(text_of).collect(),
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    }
}

/// What is new about a tool call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallPiece {
    #[serde(deserialize_with = "or_default")]
    pub(super) index: Option<u64>,
    #[serde(deserialize_with = "or_default")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) function: FunctionPiece,
}

/// Its name, or more of its arguments.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionPiece {
    #[serde(deserialize_with = "or_default")]
    pub(super) name: Option<String>,
    pub(super) arguments: Option<Value>,
}
