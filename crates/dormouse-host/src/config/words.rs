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
    insulation: "none" | "orchestrator" | "delegate";
    privacy: "kept" | "shared";
    keyword_matching: "whole_words" | "substring";
    importance_scale: "formula" | "calibrated";
    secrets_in_log: "masked" | "kept";
    approval: "trust" | "required";
    unknown_price: "refused" | "allowed";
    world_kind: "sandbox" | "http" | "evennia";
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

pub(super) fn residents(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {
                "account": {"type": "string"},
                "password_from": {"type": "string"},
            },
            "required": ["account", "password_from"],
            "additionalProperties": false,
        },
    })
}

pub(super) fn order(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            {"type": "string", "enum": ["stable", "documented"]},
            {"type": "array", "items": {"type": "string"}},
        ],
        "type": ["string", "array"],
        "x-expects": "stable, documented, or a list of keys",
    })
}

pub(super) fn components(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {
                "enabled": {"type": "boolean"},
                "budget": {"type": "integer", "minimum": 0},
                "id": {"type": "integer", "minimum": 1, "maximum": 5_999},
                "text": {"type": "string"},
            },
            "additionalProperties": false,
        },
    })
}

pub(super) fn tool_retries(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {
                "attempts": {"type": "integer", "minimum": 1, "maximum": 20},
                "first_pause": {"type": "integer", "minimum": 1, "maximum": 3_600},
                "longest_pause": {"type": "integer", "minimum": 1, "maximum": 3_600},
            },
            "additionalProperties": false,
        },
    })
}

pub(super) fn mcp_servers(_: &mut SchemaGenerator) -> Schema {
    let policy = serde_json::json!({
        "category": {"type": "string", "enum": ["safe_chain", "terminal", "dangerous", "async_required"]},
        "reach": {"type": "string", "enum": ["effect", "query"]},
        "required_trust": {"type": "number", "minimum": 0, "maximum": 1},
        "trust": {"type": "number", "minimum": 0, "maximum": 1},
        "timeout": {"type": "integer", "minimum": 1, "maximum": 3_600},
    });
    let texts = serde_json::json!({"type": "array", "items": {"type": "string"}});
    let mut fields = serde_json::json!({
        "command": {"type": "string"},
        "args": texts,
        "env": texts,
        "url": {"type": "string"},
        "token_from": {"type": "string"},
        "allow": texts,
        "believe_hints": {"type": "boolean"},
        "result_kib": {"type": "integer", "minimum": 1, "maximum": 1_024},
        "start": {"type": "integer", "minimum": 1, "maximum": 3_600},
        "idle": {"type": "integer", "minimum": 1, "maximum": 86_400},
        "model_requests": {"type": "integer", "minimum": 0, "maximum": 20},
        "model_tokens": {"type": "integer", "minimum": 1, "maximum": 8_192},
        "answers": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
        "tools": {
            "type": "object",
            "additionalProperties": {"type": "object", "properties": policy, "additionalProperties": false},
        },
    });
    if let (Some(fields), Some(policy)) = (fields.as_object_mut(), policy.as_object()) {
        fields.extend(policy.clone());
    }
    json_schema!({
        "type": "object",
        "additionalProperties": {"type": "object", "properties": fields, "additionalProperties": false},
    })
}

pub(super) fn templates(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "additionalProperties": {"type": "string"}})
}

pub(super) fn contexts(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<_> = dormouse_engine::CONTEXTS
        .iter()
        .map(|row| row.name)
        .collect();
    let parts: Vec<_> = dormouse_engine::COMPONENTS
        .iter()
        .map(|row| row.key)
        .collect();
    json_schema!({
        "type": "object",
        "propertyNames": {"enum": names},
        "additionalProperties": {
            "type": "object",
            "properties": {
                "components": {"type": "array", "items": {"type": "string", "enum": parts}},
                "tools": {"type": "array", "items": {"type": "string"}},
                "categories": {
                    "type": "array",
                    "items": {"type": "string", "enum": ["safe_chain", "terminal", "dangerous", "async_required"]},
                },
                "required_trust": {"type": "number", "minimum": 0, "maximum": 1},
                "mode": {"type": "string", "enum": ["react_loop", "single_action"]},
                "max_iterations": {"type": "integer", "minimum": 1, "maximum": 10},
                "token_budget": {"type": "integer", "minimum": 0},
                "dangerous_requires_confirm": {"type": "boolean"},
                "allows_sub_agents": {"type": "boolean"},
            },
            "additionalProperties": false,
        },
    })
}

pub(super) fn accounts(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": 0, "maximum": 100, "not": {"const": 1}})
}

pub(super) fn vectors(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["string", "object"]})
}
