//! The engine's own tools, whose calls stay within the assistant: noop, remember and recall.

mod lineage;

use dormouse_contracts::{Arguments, IdError, ToolCategory, ToolName, ToolReach, ToolSpec, Trust};
use serde_json::{Value, json};

use crate::{
    event::{Event, NOOP, Remembered},
    recollection::recollect,
    state::{State, Turn},
};
use lineage::{Lineage, lineage};

const REMEMBER: &str = "remember";
const RECALL: &str = "recall";
/// The longest line that is remembered, in characters.
const LINE_LIMIT: usize = 2_000;
/// How many lines a recall answers where the model does not say.
const RECALL_DEFAULT: u64 = 5;

/// The tools every assistant has, whatever its world.
///
/// # Errors
///
/// Never, in practice: the names are constants.
pub fn inward_tools() -> Result<Vec<ToolSpec>, IdError> {
    let tool = |name, description: &str, parameters| {
        Ok(ToolSpec {
            name: ToolName::try_new(name)?,
            description: description.to_owned(),
            parameters,
            category: ToolCategory::SafeChain,
            reach: ToolReach::Inward,
            timeout: ToolSpec::DEFAULT_TIMEOUT,
        })
    };
    Ok(vec![
        tool(
            REMEMBER,
            "Keep one fact for good, as a sentence that makes sense on its own. Use the words of whoever told you where you \
             can: what you put in your own is believed less.",
            json!({"type": "object", "additionalProperties": false, "required": ["text"], "properties": {
                "text": {"type": "string", "minLength": 1, "maxLength": LINE_LIMIT, "description": "The fact."}}}),
        )?,
        tool(
            RECALL,
            "Look up what was remembered. Answers the lines that fit best, with when and from whom.",
            json!({"type": "object", "additionalProperties": false, "required": ["query"], "properties": {
                "query": {"type": "string", "minLength": 1, "maxLength": LINE_LIMIT, "description": "What to look for."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20, "description": "The most lines."}}}),
        )?,
        tool(
            NOOP,
            "Do nothing: you are done, or there is nothing to do.",
            json!({"type": "object", "additionalProperties": true, "properties": {
                "reason": {"type": "string", "description": "Why."}}}),
        )?,
    ])
}

/// What an inward call leads to: the events besides its result, and the result.
pub(crate) struct Inward {
    pub(crate) events: Vec<Event>,
    pub(crate) result: Value,
}

/// Decides an inward call. `arguments` fit the tool's schema.
pub(crate) fn decide(name: &str, arguments: &Arguments, state: &State, turn: &Turn) -> Inward {
    let text = |key: &str| {
        arguments
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    match name {
        REMEMBER => remember(text("text"), state, turn),
        RECALL => {
            let limit = arguments
                .get("limit")
                .and_then(Value::as_u64)
                .unwrap_or(RECALL_DEFAULT);
            let found = recollect(
                &state.memories,
                text("query"),
                usize::try_from(limit).unwrap_or(usize::MAX),
            );
            let memories: Vec<_> = found
                .iter()
                .map(|memory| {
                    json!({"text": memory.text, "at": memory.at.to_string(), "from": memory.from, "trust": two_digits(memory.trust)})
                })
                .collect();
            Inward {
                events: Vec::new(),
                result: json!({"memories": memories}),
            }
        }
        _ => Inward {
            events: Vec::new(),
            result: json!({}),
        },
    }
}

/// A trust score as it is written elsewhere in the prompt.
fn two_digits(trust: Trust) -> f64 {
    f64::from((trust.score() * 100.0).round()) / 100.0
}

fn remember(text: &str, state: &State, turn: &Turn) -> Inward {
    let Lineage {
        trust,
        from,
        source,
    } = lineage(text, state, turn);
    let event = Event::Remembered(Remembered {
        text: text.to_owned(),
        from,
        trust,
        source,
    });
    Inward {
        events: vec![event],
        result: json!({"remembered": text}),
    }
}
