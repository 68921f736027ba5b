//! The values of settings whose types belong to other crates. A test compares them with what the types read.

use schemars::{Schema, SchemaGenerator, json_schema};

/// A function that describes a setting whose value is one of these words.
macro_rules! words {
    ($($name:ident: $($word:literal)|+;)+) => {$(
        pub(super) fn $name(_: &mut SchemaGenerator) -> Schema {
            json_schema!({"type": "string", "enum": [$($word),+]})
        }
    )+};
}

words! {
    mode: "react_loop" | "single_action";
    rooms: "context" | "ignore" | "trigger";
    kind: "openai" | "anthropic" | "openrouter" | "ollama" | "local" | "offline";
    tool_calling: "native" | "fallback";
    reasoning_effort: "minimal" | "low" | "medium" | "high";
    heartbeats: "first" | "any";
    privacy: "kept" | "shared";
    secrets_in_log: "masked" | "kept";
}

pub(super) fn trust(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "number", "minimum": 0, "maximum": 1})
}

pub(super) fn trusts(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
    })
}

pub(super) fn channels(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": ["trigger", "context", "ignore"]},
                "trust": {"type": "number", "minimum": 0, "maximum": 1},
            },
            "required": ["action"],
            "additionalProperties": false,
        },
    })
}

pub(super) fn uses(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": {"enum": ["answer", "heartbeat", "compaction", "scoring", "assessment", "consolidation"]},
        "additionalProperties": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    })
}

pub(super) fn accounts(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": 0, "maximum": 100, "not": {"const": 1}})
}

pub(super) fn vectors(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["string", "object"]})
}
