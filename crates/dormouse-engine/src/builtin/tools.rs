//! The engine's own tools, as they are offered to a model.

use dormouse_contracts::{IdError, ToolCategory, ToolName, ToolReach, ToolSpec};
use serde_json::{Value, json};

use super::MOST_SOURCES;
use crate::event::NOOP;

pub(super) const STORE_MEMORY: &str = "store_memory";
pub(crate) const RECALL_MEMORIES: &str = "recall_memories";
pub(crate) const GET_ENTITY_PROFILE: &str = "get_entity_profile";
pub(super) const ADD_ENTITY_OBSERVATION: &str = "add_entity_observation";
pub(super) const UPDATE_ENTITY_PROFILE: &str = "update_entity_profile";
pub(super) const UPDATE_RELATIONSHIP: &str = "update_relationship";
pub(super) const ADD_PENDING_ACTION: &str = "add_pending_action";
pub(super) const COMPLETE_PENDING_ACTION: &str = "complete_pending_action";

/// The longest line that is remembered, in characters.
const LINE_LIMIT: usize = 2_000;

/// Whether the results of this tool hold no text from outside, or record themselves where it comes from.
pub(crate) fn is_own(tool: &str) -> bool {
    [
        NOOP,
        STORE_MEMORY,
        RECALL_MEMORIES,
        GET_ENTITY_PROFILE,
        ADD_ENTITY_OBSERVATION,
        UPDATE_ENTITY_PROFILE,
        UPDATE_RELATIONSHIP,
        ADD_PENDING_ACTION,
        COMPLETE_PENDING_ACTION,
    ]
    .contains(&tool)
}

/// Whether a tool is called to look something up, so that an answer can only follow its result.
pub(crate) fn is_look_up(tool: &ToolSpec) -> bool {
    let is_own = [RECALL_MEMORIES, GET_ENTITY_PROFILE].contains(&tool.name.as_str());
    tool.reach == ToolReach::Query || (tool.reach == ToolReach::Builtin && is_own)
}

/// The tools every assistant has, whatever its world.
///
/// # Errors
///
/// Never, in practice: the names are constants.
pub fn builtin_tools() -> Result<Vec<ToolSpec>, IdError> {
    specs([memory_tools(), entity_tools(), vec![noop()]])
}

/// The tools that no assistant can do without: its memory, and doing nothing.
pub(crate) fn barest_tools() -> Result<Vec<ToolSpec>, IdError> {
    specs([memory_tools(), Vec::new(), vec![noop()]])
}

fn specs(offered: [Vec<Offered>; 3]) -> Result<Vec<ToolSpec>, IdError> {
    let offered = offered.into_iter().flatten();
    offered.map(Offered::spec).collect()
}

/// A tool before its name is checked.
struct Offered {
    name: &'static str,
    description: &'static str,
    parameters: Value,
}

impl Offered {
    fn spec(self) -> Result<ToolSpec, IdError> {
        Ok(ToolSpec {
            name: ToolName::try_new(self.name)?,
            description: self.description.to_owned(),
            parameters: self.parameters,
            category: ToolCategory::SafeChain,
            reach: ToolReach::Builtin,
            timeout: ToolSpec::DEFAULT_TIMEOUT,
            speech: None,
            required_trust: None,
            cache: None,
        })
    }
}

fn object(required: &[&str], properties: &Value) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties,
    })
}

fn text(longest: usize) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": longest})
}

/// The parameter by which a note names what it was made from.
fn sources() -> Value {
    json!({
        "type": "array",
        "maxItems": MOST_SOURCES,
        "items": {"type": "string", "maxLength": 24},
        "description": "The ids (#12) of what it comes from. Without it: what you are answering.",
    })
}

fn memory_tools() -> Vec<Offered> {
    vec![
        Offered {
            name: STORE_MEMORY,
            description: "Keep one line for good, as a sentence that makes sense on its own. Name its sources: it is \
                          believed like the least trusted of them, and less if it says what they do not.",
            parameters: object(
                &["text"],
                &json!({
                    "text": text(LINE_LIMIT),
                    "kind": {"enum": ["fact", "preference", "instruction", "event", "insight"]},
                    "about": {"type": "string", "maxLength": 64, "description": "Whom or what, by name."},
                    "sources": sources(),
                }),
            ),
        },
        Offered {
            name: RECALL_MEMORIES,
            description: "Look up what was said or stored before. Answers the lines that fit best, with when and from \
                          whom.",
            parameters: object(
                &["query"],
                &json!({
                    "query": text(LINE_LIMIT),
                    "limit": {"type": "integer", "minimum": 1, "maximum": 20},
                }),
            ),
        },
    ]
}

fn entity_tools() -> Vec<Offered> {
    let entity = json!({"type": "string", "minLength": 1, "maxLength": 128, "description": "A name or an id."});
    vec![
        Offered {
            name: GET_ENTITY_PROFILE,
            description: "What you know of somebody or something.",
            parameters: object(&["entity"], &json!({"entity": entity})),
        },
        Offered {
            name: ADD_ENTITY_OBSERVATION,
            description: "Note what you noticed about somebody.",
            parameters: object(
                &["entity", "content"],
                &json!({"entity": entity, "content": text(500), "sources": sources()}),
            ),
        },
        Offered {
            name: UPDATE_ENTITY_PROFILE,
            description: "Set what is so of somebody for good. Interests and preferences are added to those known.",
            parameters: object(
                &["entity"],
                &json!({
                    "entity": entity,
                    "communication_style": text(40),
                    "temperament": text(40),
                    "interests": {"type": "array", "maxItems": 8, "items": text(64)},
                    "preferences": {"type": "object", "maxProperties": 8, "additionalProperties": text(200)},
                    "sources": sources(),
                }),
            ),
        },
        Offered {
            name: UPDATE_RELATIONSHIP,
            description: "Change how much you like somebody, a little at a time and so much a day. How well you know \
                          and trust them follows from what you have to do with each other. What people say who are not \
                          trusted changes nothing.",
            parameters: object(
                &["entity", "metric", "change", "reason"],
                &json!({
                    "entity": entity,
                    "metric": {"enum": ["favorability"]},
                    "change": {"type": "number", "minimum": -0.2, "maximum": 0.2},
                    "reason": text(300),
                    "sources": sources(),
                }),
            ),
        },
        Offered {
            name: ADD_PENDING_ACTION,
            description: "Note what you mean to do for somebody. With due_at you are called at that moment, to do it then.",
            parameters: object(
                &["entity", "description"],
                &json!({
                    "entity": entity,
                    "description": text(200),
                    "priority": {"type": "integer", "minimum": 1, "maximum": 10},
                    "due_at": {"type": "string", "maxLength": 40, "description": "The moment, if it is for one: 2026-11-23T18:00:00Z."},
                    "sources": sources(),
                }),
            ),
        },
        Offered {
            name: COMPLETE_PENDING_ACTION,
            description: "It is done: take it off, by its id in the profile.",
            parameters: object(
                &["entity", "action"],
                &json!({"entity": entity, "action": {"type": "integer", "minimum": 1}}),
            ),
        },
    ]
}

fn noop() -> Offered {
    Offered {
        name: NOOP,
        description: "Do nothing: you are done, or there is nothing to do.",
        parameters: json!({"type": "object", "additionalProperties": true, "properties": {
            "reason": {"type": "string", "description": "Why."}}}),
    }
}
